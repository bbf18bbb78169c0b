import Foundation
import SmallFoundation
import Testing

/// Man pages are made from what ArgumentParser writes through ``SmallFoundation``: it must not matter whose text it is.
struct JSONEncoderTests {
    private struct Everything: Encodable {
        enum Kind: String, Encodable { case long, short }
        var text = "quote \" backslash \\ slash / tab \t bell \u{7} newline \n é 🔔 \u{7f}"
        var kinds = [Kind.long, .short]
        var truth = true
        var number = -12
        var large = UInt64.max
        var missing: Int?
        var empty: [String] = []
        var nothing: [String: Int] = [:]
        var names = ["b": 1, "a": 2, "B": 3, "ä": 4]
        var nested = [["x"], [], ["y", "z"]]
        var holes: [Int?] = [1, nil]
    }

    @Test func itsTextIsFoundations() throws {
        #expect(try small(Everything()) == foundations(Everything()))
    }

    @Test(arguments: [[], ["a"], ["a", "b/c"]])
    func listsAreFoundations(list: [String]) throws {
        #expect(try small(list) == foundations(list))
    }

    @Test func aFractionIsRefused() {
        #expect(throws: EncodingError.self) { try small([1.5]) }
    }

    private func small(_ value: some Encodable) throws -> String? {
        let encoder = SmallFoundation.JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(data: try encoder.encode(value), encoding: .utf8)
    }

    private func foundations(_ value: some Encodable) throws -> String {
        let encoder = Foundation.JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
