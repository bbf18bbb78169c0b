import Foundation
import Testing

/// What the program advises to people in trouble. A guard may be wrong, so no advice destroys: the first step keeps all.
@Suite struct AdviceTests {
    /// A text in the sources that tells somebody to do away with something.
    private struct Advice: CustomStringConvertible {
        let file: String
        let text: String

        var description: String { "\(file): \(text)" }
    }

    /// Words that do away with a file, and with what only a file has.
    private static var destroying: Regex<(Substring, Substring, Substring?)> {
        /(?i)\b(delete|deleting|remove|unlink|erase|wipe|truncate|overwrite|throw away|rm|move (it|them|all three|both) away|begin empty)\b/
    }

    /// All literals of the sources in which such words stand beside the name of a file of the node's.
    private static let found: [Advice] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
            .standardized
        let all = FileManager.default.enumerator(atPath: root.path)?.allObjects ?? []
        return all.compactMap { $0 as? String }.sorted().filter { $0.hasSuffix(".swift") }.flatMap { file in
            let text = (try? String(contentsOf: root.appending(path: file), encoding: .utf8)) ?? ""
            return literals(of: text).filter { literal in
                literal.contains(destroying)
                    && literal.contains(
                        /(?i)\\\((path|file|[a-z]*path|saved)|-wal|-shm|outbox|sqlite|onion-key|digest-key|state_directory/
                    )
            }.map { Advice(file: file, text: $0) }
        }
    }()

    /// Texts of one line and of several, each with the ones that `+` joins to it.
    private static func literals(of source: String) -> [String] {
        let code = source.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
        return code.matches(
            of: /"""\n(?<many>[\s\S]*?)"""|"(?<one>(?:[^"\\\n]|\\.)*)"(?:\s*\+\s*"(?:[^"\\\n]|\\.)*")*/
        )
        .map { String($0.output.0) }
    }

    /// Failures of a system call that the program itself made, and what an owner asks for by name.
    private static let noAdvice = [
        "DELETE FROM", "remove \\(", "Delete one", "Delete a", "List and remove", "abstract:",
        "remove the address from the other program",
        "remove the app",
    ]

    @Test func noAdviceDeletesAFileOfTheNode() {
        let advice = Self.found.filter { advice in !Self.noAdvice.contains { advice.text.contains($0) } }
        let destroying = advice.filter { advice in
            // Whoever says how to begin empty says first that the files are kept.
            let words = advice.text.lowercased()
            return !(words.contains("into another folder") || words.contains("in another folder"))
                || words.contains("delete")
        }
        #expect(destroying.map(\.description) == [])
    }

    /// Whoever moves a file "away" is not told to keep it; and an article is advice, too.
    @Test func noTextMovesAFileAwayOrTellsToRemoveOneOfTheNodes() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
            .standardized
        let own =
            /`(moving-in|moving-back|console-owner|onion-key|digest-key|status-key|vapid-key|outbox\.sqlite[a-z.-]*|history)`|its file\b|HiddenServiceDir/
        var places: [String] = []
        let all = FileManager.default.enumerator(atPath: root.path)?.allObjects ?? []
        for file in all.compactMap({ $0 as? String }).sorted() {
            let isArticle = file.hasSuffix(".md")
            guard isArticle || file.hasSuffix(".swift") else { continue }
            let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
            let texts =
                isArticle ? text.split(separator: /[.:;]\s/).map(String.init) : Self.literals(of: text)
            places += texts.filter { text in
                text.contains(/(?i)\bmove [^.;:"]{1,40} away\b/)
                    || isArticle && text.contains(own) && text.contains(/(?i)\b(delete|remove|rm)\b/)
            }.map { "\(file): \($0)" }
        }
        #expect(places == [])
    }

    /// What was accepted last may stand in the log alone.
    @Test func theLogIsNeverPartedFromItsFileUnlessItIsKnownToBeAnothers() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
            .standardized
        let all = FileManager.default.enumerator(atPath: root.path)?.allObjects ?? []
        var places: [String] = []
        for file in all.compactMap({ $0 as? String }).sorted()
        where file.hasSuffix(".swift") || file.hasSuffix(".md") {
            let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
            for sentence in text.split(separator: /[.:;]\s/) where sentence.contains("-wal") {
                if sentence.contains(/(?i)\b(delete|remove)\b/) && !sentence.contains("is deleted or moved") {
                    places.append("\(file): \(sentence)")
                }
            }
        }
        #expect(places == [])
    }
}
