import Encodings
import Testing

/// Texts that a person has pasted, as mails and terminals break them.
@Suite struct PastedTextTests {
    private func joined(_ text: String) -> String {
        String(decoding: PastedText.joinedSections(Array(text.utf8)), as: UTF8.self)
    }

    /// Wherever the text is broken, with blanks on either side, it is the same, unless it is broken in the second section,
    /// whose blanks are its own.
    @Test func whereverATokenIsBrokenItIsOne() {
        let token = "android|Pixel 8 Pro|0123456789abcdef0123456789abcdef|dk:APA91bxyz"
        for place in 0...token.utf8.count {
            let (start, end) = (token.prefix(place), token.dropFirst(place))
            guard start.count(where: { $0 == "|" }) != 1 else { continue }
            for mark in ["\n", "\r\n", "\n\n", "  ", "\t", " \r\n    "] {
                #expect(joined("\(start)\(mark)\(end)") == token, "\(place)")
            }
        }
        #expect(joined("  \n\(token) \n") == token)
        #expect(joined("") == "" && joined("|") == "|" && joined(" a b |c d") == "ab|c d")
    }
}
