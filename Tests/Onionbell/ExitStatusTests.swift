import ArgumentParser
import Foundation
import Testing

@testable import Onionbell

/// What the exit statuses of the commands mean: the table in the man page says it once.
@Suite struct ExitStatusTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized

    /// The statuses of the man page, in its order.
    private static func statuses() throws -> [Int] {
        let text = try String(contentsOf: root.appending(path: "Deploy/tools/man/render"), encoding: .utf8)
        let table = try #require(
            text.components(separatedBy: "\nEXIT_STATUSES = [\n").last?.components(separatedBy: "\n]").first)
        return table.matches(of: #/ +\((\d+), "/#).compactMap { Int($0.1) }
    }

    /// All commands by their words, as `outbox drop`.
    private static func commands(
        below command: any ParsableCommand.Type = Onionbell.self, _ words: String = ""
    ) -> [(words: String, command: any ParsableCommand.Type)] {
        command.configuration.subcommands.flatMap {
            sub -> [(words: String, command: any ParsableCommand.Type)] in
            let name = words + (words.isEmpty ? "" : " ") + (sub.configuration.commandName ?? "")
            return [(name, sub)] + commands(below: sub, name)
        }
    }

    @Test func thePageHasEachStatusOnce() throws {
        let statuses = try Self.statuses()
        #expect(statuses == Array(Set(statuses)).sorted())
        #expect(statuses.starts(with: [0, 1, 3, 64]))
    }

    @Test func aCommandNamesOnlyStatusesOfThePage() throws {
        let known = try Self.statuses()
        var named = 0
        for (words, command) in Self.commands() {
            for paragraph in command.configuration.discussion.components(separatedBy: "\n\n") {
                guard let text = paragraph.components(separatedBy: "xit status: ").dropFirst().first else {
                    continue
                }
                for match in text.matches(of: #/(?:^|[;,] )(\d+) /#) {
                    named += 1
                    #expect(known.contains(Int(match.1) ?? -1), "\(words): \(match.1)")
                }
            }
        }
        #expect(named > 100)
    }

    /// Also what no help names, as the statuses of refusals.
    @Test func noCommandEndsWithAnotherStatus() throws {
        let known = try Self.statuses()
        let folders = try ["Sources/Programs", "Sources/Features"].map {
            try #require(
                FileManager.default.enumerator(
                    at: Self.root.appending(path: $0), includingPropertiesForKeys: nil))
        }
        let isOfCommands = #/Sources\/(Programs\/(Onionbell|Terminal)|Features\/\w+\/Commands)\//#
        var found = 0
        for case let file as URL in folders.joined()
        where file.pathExtension == "swift" && file.path.contains(isOfCommands) {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: #/(?:[( ]status: |refusal: |ExitCode\()(\d+)[,)]/#) {
                found += 1
                #expect(known.contains(Int(match.1) ?? -1), "\(file.lastPathComponent): \(match.0)")
            }
        }
        #expect(found > 50)
    }

    /// Whoever does again what was handed over does it twice: a script that goes by 75 must not.
    @Test(arguments: ["send", "phones test", "receive"]) func whatMayStillHappenHasAStatusOfItsOwn(
        name: String
    ) {
        let text = Self.commands().first { $0.words == name }?.command.configuration.discussion ?? ""
        #expect(text.contains(" 3 "), "\(name)")
        #expect(!text.contains("75 stored") && !text.contains("75 nobody"), "\(name)")
    }
}
