import Encodings
import Testing

/// Whatever compares, looks for, sorts or hashes texts in this house does so by their bytes: two spellings of one letter are
/// two texts, and a run of marks costs as much as it is long.
@Suite struct TextAsBytesTests {
    private let one = "\u{E9}"
    private let other = "e\u{301}"

    private struct Both: Hashable {
        var text: String
        var perhaps: String?
        var list: [String] = []
    }

    private enum Either: Hashable {
        case text(String), perhaps(String?), none
    }

    @Test func twoSpellingsAreTwoTexts() {
        let (perhaps, otherwise): (String?, String?) = (one, other)
        #expect(!(one == other) && one != other && one == "\u{E9}")
        #expect(!(perhaps == other) && perhaps != other && !(perhaps == otherwise) && perhaps != otherwise)
        #expect(
            perhaps == one && one == perhaps && perhaps != nil && String?.none == nil && String?.none != one)
        #expect(!([one] == [other]) && [one] != [other] && ![one].contains(other) && [one].contains(one))
        #expect([other, one].firstIndex(of: one) == 1)
        #expect(!(one[...] == other[...]) && one[...] != other && one[...] == one && one == one[...])
        #expect(!"\(one)a".hasPrefix(other) && "\(one)a".hasPrefix(one) && !"a\(one)".hasSuffix(other))
        #expect("a\(one)".hasSuffix(one) && !"a".hasSuffix("ba") && !"a".hasPrefix("ab") && "a".hasPrefix(""))
        switch one {
        case other: Issue.record("a switch takes one for the other")
        case "\u{E9}": break
        case _: Issue.record("a switch finds nothing")
        }
    }

    @Test func whatTheCompilerWritesGoesByBytesToo() {
        #expect(
            Both(text: one) != Both(text: other)
                && Both(text: "", perhaps: one) != Both(text: "", perhaps: other))
        #expect(Both(text: "", list: [one]) != Both(text: "", list: [other]))
        #expect(Either.text(one) != .text(other) && Either.perhaps(one) != .perhaps(other))
        #expect(Set([Both(text: one), Both(text: other), Both(text: one)]).count == 2)
        #expect(
            Set([Either.text(one), .text(other), .perhaps(nil), .perhaps(one), .perhaps(other), .none]).count
                == 6)
    }

    @Test func textsAreSortedByTheirBytes() {
        #expect(["b", "a", "", "é", "ab", "Z"].sorted() == ["", "Z", "a", "ab", "b", "é"])
        #expect(
            "a" < "b" && !("b" < "a") && !("a" < "a") && "a" <= "a" && "b" > "a" && "a" >= "a" && "a" < "ab")
    }

    @Test(arguments: [
        ("", []), ("a", ["a"]), ("a,b", ["a", "b"]), (",a,,b,", ["a", "b"]), (",", []),
        ("a,\u{301}b", ["a", "\u{301}b"]),
    ])
    func aTextIsSplitWhereTheByteIs(text: String, parts: [String]) {
        #expect(text.split(separator: ",").map(String.init) == parts)
        #expect(text.contains("," as Character) == text.utf8.contains(0x2C))
        let all = text.utf8.split(separator: 0x2C, omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        #expect(text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) == all)
        let two = text.utf8.split(separator: 0x2C, maxSplits: 1).map { String(Substring($0)) }
        #expect(text.split(separator: ",", maxSplits: 1).map(String.init) == two)
    }

    @Test func theLettersOfASCIIAreLowered() {
        #expect("AbÉ".lowercased() == "abÉ" && "AbÉ".dropFirst().lowercased() == "bÉ")
    }

    /// Half a megabyte of marks: by its normal form each of these took a minute.
    @Test func aRunOfMarksCostsWhatItsBytesCost() {
        let marks =
            String(repeating: "\u{300}", count: 130_000) + String(repeating: "\u{316}", count: 130_000)
        let others =
            String(repeating: "\u{316}", count: 130_000) + String(repeating: "\u{300}", count: 130_000)
        #expect(marks != others && marks < others && ![marks].contains(others) && marks != "a")
        #expect(
            Both(text: marks) != Both(text: others)
                && Set([Both(text: marks), Both(text: others)]).count == 2)
        #expect(
            !marks.hasPrefix("a") && !marks.hasSuffix(others) && !marks.contains("a")
                && marks.split(separator: ",").count == 1)
        switch marks {
        case "a", "b": Issue.record("found")
        case _: break
        }
    }

    @Test(arguments: [0, 1, 31, 32, 33, 63, 64, 65, 200])
    func oneByteAnywhereMakesADifference(count: Int) {
        let bytes = [UInt8](repeating: 0x61, count: count)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasSameBytes(as: String(decoding: bytes, as: UTF8.self)))
        for index in bytes.indices {
            var others = bytes
            others[index] = 0x62
            #expect(!text.hasSameBytes(as: String(decoding: others, as: UTF8.self)))
        }
    }
}
