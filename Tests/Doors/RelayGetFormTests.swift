import HTTP1
import Relay
import Testing

@testable import Doors

@Suite struct RelayGetFormTests {
    private func message(hex: String) throws -> String? {
        let query = try HTTPQuery("token=a&msg=\(hex.percentEncoded)")
        let submission = RelayGetForm.submission(query, bisq1: PhoneApps(), bisq2: PhoneApps())
        guard case .bisq(let content) = submission?.content else { return nil }
        return content.message
    }

    /// Digits are read many at a time: each counts wherever it stands.
    @Test(arguments: [1, 2, 31, 32, 33, 64, 97])
    func everyDigitOfAMessageCounts(length: Int) throws {
        let text = String(decoding: (0..<length).map { UInt8(0x21 + $0 % 0x5E) }, as: UTF8.self)
        let digits = text.utf8.flatMap { String($0, radix: 16, uppercase: $0.isMultiple(of: 2)).utf8 }
        #expect(try message(hex: String(decoding: digits, as: UTF8.self)) == text)
        #expect(try message(hex: String(decoding: digits.dropLast(), as: UTF8.self)) == nil)
        for place in digits.indices {
            var wrong = digits
            wrong[place] = UInt8(ascii: "g")
            #expect(try message(hex: String(decoding: wrong, as: UTF8.self)) == nil)
        }
    }

    @Test(arguments: UInt8.min..<0x80)
    func whatIsADigitAndWhatIsNot(byte: UInt8) throws {
        let character = Character(Unicode.Scalar(byte))
        let value = character.hexDigitValue.map { Unicode.Scalar(UInt8(0x40 + $0)) }
        #expect(try message(hex: "4\(character)") == value.map { String(Character($0)) })
    }
}
