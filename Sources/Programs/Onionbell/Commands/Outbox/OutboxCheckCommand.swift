import ArgumentParser
import JSONCoding
import Node
import Persistence
import Programs
import Reactor

/// `onionbell outbox check`: whether the file is sound, and what is in it.
struct OutboxCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check the outbox file, and count what waits in it.",
        discussion: """
            With --json an object: sound, faults, running; of a sound file also waiting, bytes, oldest_ms, apps, \
            remembered, dead_devices.

            Nothing is changed, also in place of a stopped node.

            Exit status: 0 sound, 1 damaged, 69 it cannot be opened.

            Example: onionbell outbox check --json
            """)

    @OptionGroup var outbox: OutboxOption
    @OptionGroup var format: JSONOption

    func run() throws {
        let isSound = try outbox.read { file, settings, isRunning in
            let faults = try file.faults()
            guard faults.isEmpty else {
                if format.json {
                    printLine(report(faults: faults, isRunning: isRunning, [:]))
                    return false
                }
                for fault in faults { printLine("  \(fault)") }
                printLine(
                    "damaged. \(SQLiteError.advice(path: StateDirectory.outbox(in: settings.stateDirectory)))"
                )
                return false
            }
            let summary = try file.summary()
            let now = EventLoop.unixMilliseconds
            if format.json {
                let apps = try file.apps().map {
                    JSON.object(["app": .string($0), "waiting": .integer(Int64($1))])
                }
                printLine(
                    report(
                        faults: [], isRunning: isRunning,
                        [
                            "waiting": .integer(Int64(summary.waiting)),
                            "bytes": .integer(Int64(summary.bytes)),
                            "oldest_ms": summary.oldest.map { .integer(max(0, now - $0)) } ?? .null,
                            "apps": .array(apps), "remembered": .integer(Int64(summary.identities)),
                            "dead_devices": .integer(Int64(summary.deadTokens)),
                        ]))
                return true
            }
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
            let path = StateDirectory.outbox(in: settings.stateDirectory)
            if settings.storage.url.isEmpty, !isRunning, StoreFile.logBytes(beside: path) > 0 {
                printLine(SQLiteError.leftOver(path: path))
            }
            printLine("sound" + (isRunning ? " (the node runs)" : ""))
            return true
        }
        guard isSound else { throw ExitCode(1) }
    }

    private func report(faults: [String], isRunning: Bool, _ members: JSON.Object) -> String {
        let head: JSON.Object = [
            "sound": .bool(faults.isEmpty), "faults": .array(faults.map { .string($0) }),
            "running": .bool(isRunning),
        ]
        return JSON.object(head.merging(members)).text
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
