import ArgumentParser
import Node
import Programs
import Reactor
import SQLiteStorage

/// `onionbell outbox check`: whether the file is sound, and what is in it.
struct OutboxCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check the outbox file, and count what waits in it.",
        discussion: "Exit status: 0 sound, 1 damaged, 69 it cannot be opened.")

    @OptionGroup var outbox: OutboxOption

    func run() throws {
        let isSound = try outbox.read { file, settings, isRunning in
            let faults = try file.faults()
            guard faults.isEmpty else {
                for fault in faults { printLine("  \(fault)") }
                printLine(
                    "damaged. \(SQLiteError.advice(path: StateDirectory.outbox(in: settings.stateDirectory)))"
                )
                return false
            }
            let summary = try file.summary()
            let now = EventLoop.unixMilliseconds
            let oldest = summary.oldest.map { ", the oldest for \(Age.text(now - $0))" } ?? ""
            printLine("\(summary.waiting) waiting, \(summary.bytes) bytes\(oldest)")
            for (app, waiting) in try file.apps() {
                let known = settings.apps.first { $0.name == app }
                let trouble =
                    known == nil
                    ? " (not configured: they wait until they expire)"
                    : known?.hasCredentials == false ? " (no credentials: they wait until they expire)" : ""
                printLine("  \(SettingsFault.shown(app)): \(waiting)\(trouble)")
            }
            printLine("\(summary.identities) remembered for repetitions, \(summary.deadTokens) dead devices")
            printLine("sound" + (isRunning ? " (the node runs)" : ""))
            return true
        }
        guard isSound else { throw ExitCode(1) }
    }
}

/// Lengths of time for a reader.
enum Age {
    /// `45 s`, `12 min`, `7 h`, `3 d`.
    static func text(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1000
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        case _: "\(seconds / 86_400) d"
        }
    }
}
