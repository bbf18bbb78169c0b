import ArgumentParser
import CallsCommands
import JSONCoding
import Node
import Processes
import Relay
import Terminal

/// `onionbell rings`: what became of the last rings.
package struct RingsCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "rings", abstract: "Show what became of the last rings.",
        discussion: """
            The last 200 that a push service has judged, that a mailbox keeps, or that have expired, the last first. \
            Phones of the book and mailboxes have their names, any other phone a short keyed digest. Tokens and texts are \
            never shown. Below stands what was not taken, by endpoint and reason code, and what helps.

            The list is in the node's memory. A restart in place keeps it; after any other start it begins anew. With \
            management.keep_rings in the settings it is on disk for up to seven days, and --all shows more than 200.

            With --json an object: rings and last with at, phone, name, mailbox, device, app, host, endpoint, outcome, \
            reason, help, milliseconds; refused with at, endpoint, reason, help, count. outcome is delivered, kept (in the \
            mailbox, and not fetched), placed (a test in a mailbox, which is not followed), dead, refused or expired.

            Exit status: 0 shown, 69 no node runs.

            Example: onionbell rings
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption
    @Flag(help: "All that the list has, not only the last 200.") var all = false

    package func run() async throws {
        guard var answer = try await config.call("GET", "rings") else { return }
        var rings = answer["rings"]?.array ?? []
        while all, rings.count < answer["count"]?.integer ?? 0,
            let more = try await config.call("GET", "rings?skip=\(rings.count)")?["rings"]?.array,
            !more.isEmpty
        {
            rings += more
        }
        guard !format.json else {
            if case .object(var members) = answer {
                members["rings"] = .array(rings)
                answer = .object(members)
            }
            return printLine(answer.text)
        }
        if rings.isEmpty {
            printLine(
                answer["kept_seconds"]?.integer == 0
                    ? "no phone was rung since the start" : "no phone was rung in the time that is kept")
        }
        for ring in rings { printLine(Self.line(of: ring)) }
        for refused in answer["refused"]?.array ?? [] {
            printLine(
                "not taken: \(refused["count"]?.integer ?? 0) × \(Self.text("reason", of: refused)) at \(Self.text("endpoint", of: refused)), the last at \(Self.time(of: refused)): \(Self.text("help", of: refused))"
            )
        }
    }

    private static func line(of ring: JSON) -> String {
        let mailbox = ring["mailbox"]?.string.map { "mailbox \(SettingsFault.shown($0))" }
        let name =
            ring["name"]?.string.map(SettingsFault.shown) ?? mailbox ?? "device \(text("device", of: ring))"
        let number = ring["phone"]?.integer.map { " (\($0))" } ?? ""
        let endpoint = ring["endpoint"]?.string.map { ", by \($0)" } ?? ""
        return
            "\(time(of: ring))  \(name)\(number), \(text("app", of: ring))\(endpoint): \(outcome(of: ring))"
    }

    private static func outcome(of ring: JSON) -> String {
        let milliseconds = ring["milliseconds"]?.integer ?? 0
        let word = text("outcome", of: ring)
        guard word != "placed" else { return "a test was put into it" }
        let taken = milliseconds < 10_000 ? "\(milliseconds) ms" : Age.text(milliseconds)
        guard let reason = ring["reason"]?.string else { return "\(word) after \(taken)" }
        return
            "\(word) after \(taken) (\(SettingsFault.shown(reason))). \(text("help", of: ring))"
    }

    private static func time(of row: JSON) -> String {
        UTCTime.text((row["at"]?.integer ?? 0) * 1000) ?? ""
    }

    private static func text(_ member: String, of row: JSON) -> String { row[member]?.string ?? "" }

    package init() {}
}
