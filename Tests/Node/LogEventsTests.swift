import Foundation
import Testing

/// The names of log events are promised: what the sources write is what the article lists, and nothing else.
@Suite struct LogEventsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized

    /// Level and name of every call of a logger.
    private func calls() throws -> Set<String> {
        let sources = Self.root.appending(path: "Sources")
        var calls: Set<String> = []
        for case let file as URL in FileManager.default.enumerator(
            at: sources, includingPropertiesForKeys: nil)!
        where file.pathExtension == "swift" && !file.path.contains("/Lab/") {
            let text = try String(contentsOf: file, encoding: .utf8)
            for call in text.matches(
                of:
                    /\blog\.(log\(\s*level:[^"]*|trace\(\s*|debug\(\s*|info\(\s*|notice\(\s*|warning\(\s*|error\(\s*|critical\(\s*)"([^"]*)"/
            ) {
                let word = call.output.1.prefix { $0 != "(" }
                calls.insert("\(word) \(call.output.2)")
            }
            // A message that is no literal would have no stable name.
            let all = text.matches(of: /\blog\.(log|trace|debug|info|notice|warning|error|critical)\(/)
            let named = text.matches(
                of: /\blog\.(log\(\s*level:[^"]*|(trace|debug|info|notice|warning|error|critical)\(\s*)"/)
            #expect(all.count == named.count, "\(file.lastPathComponent)")
        }
        return calls
    }

    @Test func theArticleListsEveryEventWithItsLevel() throws {
        let article = try String(
            contentsOf: Self.root.appending(path: "Sources/Programs/Onionbell/Onionbell.docc/LogEvents.md"),
            encoding: .utf8)
        var listed: [String: Set<String>] = [:]
        for row in article.split(separator: "\n") {
            guard let match = row.firstMatch(of: /^- `([a-z]+\.[a-z_]+)` ([a-z]+(?:, [a-z]+)*)/) else {
                continue
            }
            listed[String(match.output.1)] = Set(
                match.output.2.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
        }
        let calls = try calls()
        #expect(calls.count > 30)
        for call in calls {
            let parts = call.split(separator: " ", maxSplits: 1).map(String.init)
            let levels = try #require(listed[parts[1]], "\(parts[1]) is not in LogEvents.md")
            // Where the level is a value, it is one of several.
            #expect(parts[0] == "log" ? levels.count > 1 : levels.contains(parts[0]), "\(call): \(levels)")
        }
        // What the log says of itself is written by no logger.
        let written = Set(calls.map { $0.split(separator: " ")[1] }).union(["log.lines_lost"])
        #expect(Set(listed.keys.map { Substring($0) }).subtracting(written) == [])
    }
}
