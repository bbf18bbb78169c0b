import Foundation
import Testing

/// `Speed.md` has the goals and the commands of `Deploy/tools/bench`.
@Suite struct SpeedTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The cells of the table's rows behind a heading.
    private static func table(_ text: String, behind heading: String) throws -> [[String]] {
        let start = try #require(text.range(of: heading)).upperBound
        let rows = text[start...].split(separator: "\n").drop { !$0.hasPrefix("| ---") }.dropFirst()
        return rows.prefix { $0.hasPrefix("|") }.map { row in
            row.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private static func number(_ cell: String) -> Double? { Double(cell.replacing(",", with: "")) }

    @Test func itsGoalsAreThoseOfTheBenchmark() throws {
        let goals = try JSONDecoder().decode(
            [String: [Double]].self, from: Data(try Self.text("Deploy/tools/bench-goals.json").utf8))
        var written: [String: [Double]] = [:]
        for row in try Self.table(try Self.text("Speed.md"), behind: "## Goals") {
            let name = row[0].trimmingCharacters(in: ["`"])
            #expect(written.updateValue(row[1...2].compactMap(Self.number), forKey: name) == nil)
        }
        #expect(written == goals)
        #expect(goals.values.allSatisfy { $0.count == 1 || $0[0] < $0[1] })
    }

    @Test func itsCommandsTakeAsLongAsTheScriptSays() throws {
        func words(_ line: some StringProtocol) -> String {
            line.split(separator: " ").joined(separator: " ")
        }
        let script = Set(
            try Self.text("Deploy/tools/bench").split(separator: "\n").filter { $0.hasPrefix("#   ") }
                .map { words($0.dropFirst()) })
        let page = try Self.text("Speed.md").split(separator: "\n")
        for option in [" everything; ", " --quick ", " --check "] {
            let line = try #require(
                page.first { $0.hasPrefix("Deploy/tools/bench ") && $0.contains(option) })
            #expect(script.contains(words(line)), "\(line)")
        }
    }
}
