import Foundation
import Testing

/// Doc comments begin with the thing that they are about (`StyleGuide.md`), so that each can be read alone.
@Suite struct CommentTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources").standardized

    /// The first lines of all paragraphs of doc comments, with their files.
    private static let paragraphs: [(file: String, line: Substring, isSummary: Bool)] = {
        let all = FileManager.default.enumerator(atPath: sources.path)?.allObjects ?? []
        var paragraphs: [(file: String, line: Substring, isSummary: Bool)] = []
        for file in all.compactMap({ $0 as? String }).sorted() where file.hasSuffix(".swift") {
            let text = (try? String(contentsOf: sources.appending(path: file), encoding: .utf8)) ?? ""
            var isInside = false
            var isComment = false
            for line in text.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
                if line.hasPrefix("/// "), !isInside {
                    paragraphs.append((file, line.dropFirst(4), isSummary: !isComment))
                }
                isInside = line.hasPrefix("/// ")
                isComment = line.hasPrefix("///")
            }
        }
        return paragraphs
    }()

    /// They finish the sentence that the identifier begins.
    private static let beginnings = ["Of ", "What ", "Where ", "The same"]

    @Test func noParagraphFinishesTheSentenceOfItsIdentifier() {
        let found = Self.paragraphs.filter { paragraph in
            Self.beginnings.contains { paragraph.line.hasPrefix($0) }
        }
        #expect(Self.paragraphs.count > 5000)
        #expect(found.isEmpty, "\(found.prefix(10).map { "\($0.file): \($0.line)" })")
    }

    /// A summary that begins with one of these says something about its subject, and not what that is.
    private static let fragments: Set<Substring> = [
        "As", "Those", "It", "Its", "By", "For", "In", "With", "When", "From", "Who", "Without", "So", "Not",
        "To", "At",
        "Since", "They", "Their", "Only", "That", "Until", "If", "On", "Also", "And",
    ]

    @Test func eachSummaryNamesItsSubject() {
        let found = Self.paragraphs.filter { paragraph in
            paragraph.isSummary && Self.fragments.contains(paragraph.line.prefix { $0 != " " })
        }
        #expect(found.isEmpty, "\(found.prefix(10).map { "\($0.file): \($0.line)" })")
    }
}
