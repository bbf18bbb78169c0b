import ArgumentParser
import CallsCommands
import Client
import JSONCoding
import Node
import Processes
import Terminal

/// `onionbell outbox check`: whether the file is sound, and what is in it.
struct OutboxCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check the outbox file, and count what waits in it.",
        discussion: """
            With --json an object: sound, faults, running, advice; of a sound file also waiting, bytes, oldest_ms, apps, \
            remembered, dead_devices.

            Nothing is changed, also in place of a stopped node.

            Exit status: 0 sound, 1 damaged, 69 it cannot be opened, 75 the node is at two other copies or checks.

            Example: onionbell outbox check --json
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption

    func run() async throws {
        guard let found = try await config.call("GET", "waiting/check") else { return }
        let isSound = found["sound"]?.bool == true
        if format.json { printLine(found.text) } else { tell(found, isSound: isSound) }
        guard isSound else { throw ExitCode(1) }
    }

    private func tell(_ found: JSON, isSound: Bool) {
        for fault in found["faults"]?.array ?? [] { printLine("  \(plainText(fault.string ?? ""))") }
        let advice = found["advice"]?.string
        guard isSound else { return printLine("damaged. \(advice ?? "")") }
        func number(_ name: String) -> Int64 { found[name]?.integer ?? 0 }
        let oldest = found["oldest_ms"]?.integer.map { ", the oldest for \(Age.text($0))" } ?? ""
        printLine("\(number("waiting")) waiting, \(number("bytes")) bytes\(oldest)")
        for app in found["apps"]?.array ?? [] {
            let trouble = app["trouble"]?.string.map { " (\($0): they wait until they expire)" } ?? ""
            printLine(
                "  \(SettingsFault.shown(app["app"]?.string ?? "")): \(app["waiting"]?.integer ?? 0)\(trouble)"
            )
        }
        printLine(
            "\(number("remembered")) remembered for repetitions, \(number("dead_devices")) dead devices")
        if let advice { printLine(advice) }
        printLine("sound" + (found["running"]?.bool == true ? " (the node runs)" : ""))
    }
}
