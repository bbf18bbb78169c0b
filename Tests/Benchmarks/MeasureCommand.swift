import ArgumentParser
import Foundation
import Reactor

/// `onionbell-bench measure`: every row, several times in turn, and one table.
struct MeasureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "measure", abstract: "Measure all rows and print the table.",
        discussion: """
            Start it on core 1; what is measured runs on core 0. A row starves when other programs, or the host of a virtual \
            machine, have more than a twentieth of both cores: then its times are not judged, unless another round was quiet.
            """)

    @Option(help: "The onionbelld that is measured.") var node: String
    @Flag(help: "Fewer requests and rounds: minutes instead of half an hour.") var quick = false
    @Option(help: "Rounds at most.") var rounds: Int?
    @Option(help: "Earlier results to compare with.") var compare: String?
    @Option(help: "Where the results go, in JSON.") var output: String
    @Option(help: "Limits in JSON, by the figures' names; status 1 when one is passed in every round.")
    var limits: String?
    @Option(help: "Goals in JSON, by the figures' names.") var goals: String?
    @Option(help: "CPU seconds that the clean release build took.") var buildSeconds: Double?
    @Flag(
        help:
            "With rows of two nodes also the statements that PostgreSQL spends most time on, to standard error."
    )
    var statements = false
    @Option(
        help:
            "Seconds from a console's last page until its memory is looked at; by default 600, with --quick 60."
    )
    var consoleRest: Int?
    @Option(help: "Only these rows, by the beginning of their names.") var only: [String] = []

    func run() async throws {
        ThisProcess.raiseFileLimit()
        var earlier: Results?
        if let compare {
            earlier = try JSONDecoder().decode(
                Results.self, from: try Data(contentsOf: URL(fileURLWithPath: compare)))
        }
        let limits = try limits.map {
            try JSONDecoder().decode(
                [String: Double].self, from: try Data(contentsOf: URL(fileURLWithPath: $0)))
        }
        let goals = try self.goals.map { try Goals(file: $0) } ?? .none
        var results = try await measure()
        if let buildSeconds { results.add("clean release build", "CPU s", buildSeconds) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(results).write(to: URL(fileURLWithPath: output))
        print(results.table(goals, comparedWith: earlier))
        print("\n\(results.verdicts(goals, isWhole: only.isEmpty))")
        print("\nWritten to \(output)")
        let faults = results.faults(over: limits ?? [:])
        for fault in faults { say(fault) }
        if !faults.isEmpty { throw ExitCode(1) }
    }

    @EventLoop
    private func measure() async throws -> Results {
        let bench = try await Bench(node: node)
        var rows = Rows(
            bench, isQuick: quick, listsStatements: statements,
            consoleRest: .seconds(consoleRest ?? (quick ? 60 : 600)))
        let chosen = Rows.all.filter { row in
            only.isEmpty || only.contains { row.name.hasPrefix($0) }
        }
        do {
            for round in 1...max(1, rounds ?? (quick ? 3 : 5)) {
                for row in chosen where round <= row.rounds {
                    say("round \(round): \(row.name)")
                    try await rows.run(row)
                }
            }
        } catch {
            await bench.close()
            throw error
        }
        await bench.close()
        rows.addRatios()
        return rows.results
    }
}

/// Progress goes to standard error, so that the table stands alone.
func say(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
}
