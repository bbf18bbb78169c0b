import Foundation
import Testing

/// Doc comments begin with the thing that they are about (`StyleGuide.md`), so that each can be read alone.
@Suite struct CommentTests {
    private struct Paragraph: CustomStringConvertible {
        let file: String
        let line: Substring
        /// Whether it is the first one of its comment.
        let isSummary: Bool
        /// Whether the comment is a function's.
        var isOfFunction = false

        var firstWord: Substring { line.prefix { $0 != " " } }
        var description: String { "\(file): \(line)" }
    }

    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources").standardized

    /// The first lines of all paragraphs of doc comments.
    private static let paragraphs: [Paragraph] = {
        let all = FileManager.default.enumerator(atPath: sources.path)?.allObjects ?? []
        var paragraphs: [Paragraph] = []
        for file in all.compactMap({ $0 as? String }).sorted() where file.hasSuffix(".swift") {
            let text = (try? String(contentsOf: sources.appending(path: file), encoding: .utf8)) ?? ""
            var summary: Int?
            var isInside = false
            for line in text.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
                if line.hasPrefix("/// "), !isInside {
                    paragraphs.append(
                        Paragraph(file: file, line: line.dropFirst(4), isSummary: summary == nil))
                    summary = summary ?? paragraphs.count - 1
                }
                isInside = line.hasPrefix("/// ")
                guard !line.hasPrefix("///"), let first = summary else { continue }
                // Attributes may stand on lines of their own.
                if line.hasPrefix("@"), !line.contains("func ") { continue }
                paragraphs[first].isOfFunction = line.prefix { $0 != "(" }.contains("func ")
                summary = nil
            }
        }
        return paragraphs
    }()

    private func expectNone(_ isWrong: (Paragraph) -> Bool) {
        let found = Self.paragraphs.filter(isWrong)
        #expect(found.isEmpty, "\(found.prefix(20))")
    }

    @Test func theCommentsOfAllSourcesAreRead() {
        #expect(Self.paragraphs.count > 5000)
        #expect(Self.paragraphs.count { $0.isSummary && $0.isOfFunction } > 1500)
    }

    /// They finish the sentence that the identifier begins.
    @Test func noParagraphFinishesTheSentenceOfItsIdentifier() {
        expectNone { paragraph in
            ["Of ", "What ", "Where ", "The same"].contains { paragraph.line.hasPrefix($0) }
        }
    }

    /// A summary that begins with one of these says something about its subject, and not what that is.
    private static let fragments: Set<Substring> = [
        "As", "Those", "It", "Its", "By", "For", "In", "With", "When", "From", "Who", "Without", "So", "Not",
        "To", "At", "Since", "They", "Their", "Only", "That", "Until", "If", "On", "Also", "And", "Before",
        "After", "Beyond", "While", "Or", "But", "Over", "Off", "Behind", "-", "`nil`", "`nil`:",
    ]

    @Test func eachSummaryNamesItsSubject() {
        expectNone { $0.isSummary && Self.fragments.contains($0.firstWord) }
    }

    /// "Whether it is open." does not say what is.
    @Test func noSummaryBeginsWithAThingThatIsNotNamed() {
        expectNone { paragraph in
            let words = paragraph.line.split(separator: " ").prefix(2)
            return paragraph.isSummary && words.count == 2 && ["it", "its"].contains(words[1])
                && (words[0] == "Whether" || words[0].hasSuffix("s"))
        }
    }

    /// In the third person; a Boolean's begins with Whether, that of what others call with Called.
    @Test func theSummaryOfAFunctionBeginsWithAVerb() {
        expectNone { paragraph in
            paragraph.isSummary && paragraph.isOfFunction
                && !["Whether", "Called", "True"].contains(paragraph.firstWord)
                && !paragraph.firstWord.prefix { $0.isLetter }.hasSuffix("s")
        }
    }
}
