import Testing

@testable import Encodings

/// The difference of two texts.
@Suite struct TextDiffTests {
    private func shown(_ old: String, _ new: String) -> String {
        TextDiff.lines(from: old, to: new).map { line in
            switch line.kind {
            case .same: "  \(line.text)"
            case .removed: "- \(line.text)"
            case .added: "+ \(line.text)"
            }
        }.joined(separator: "\n")
    }

    @Test func whatIsTheSameHasNoDifference() {
        #expect(shown("a\nb\n", "a\nb\n") == "")
        #expect(shown("", "") == "")
    }

    @Test func aChangeIsShownWithTwoLinesAroundIt() {
        #expect(shown("1\n2\n3\n4\n5\n6\n7", "1\n2\n3\nx\n5\n6\n7") == "  2\n  3\n- 4\n+ x\n  5\n  6")
        #expect(shown("a\nb\nc", "b\nc\nd") == "- a\n  b\n  c\n+ d")
        #expect(shown("a", "") == "- a\n+ ")
        #expect(TextDiff.lines(from: "a\nb\n", to: "a\nc\n", around: 0).map(\.text) == ["b", "c"])
    }

    /// A text of lines that all differ is told in the time of its length.
    @Test func aHugeDifferenceIsBounded() {
        let old = (0..<30_000).map { "a\($0)" }.joined(separator: "\n")
        let new = (0..<30_000).map { "b\($0)" }.joined(separator: "\n")
        #expect(TextDiff.lines(from: old, to: new).count == 1200)
        #expect(TextDiff.lines(from: "", to: String(repeating: "\n", count: 250_000)).count == 1200)
    }
}
