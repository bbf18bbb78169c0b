import ArgumentParser
import JSONCoding
import Node
import Processes
import Relay

/// `onionbell rings`: what became of the last rings.
struct RingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rings", abstract: "Show what became of the last rings.",
        discussion: """
            The last 200 that a push service has judged, that a mailbox keeps, or that have expired, the last first. A \
            phone of the book has its name, any other a short keyed digest. Tokens and texts are never shown. Below \
            stands what was not taken, by endpoint and reason code, and what helps.

            The list is in the node's memory. A restart in place keeps it; after any other start it begins anew.

            With --json an object: rings and last with at, phone, name, device, app, host, endpoint, outcome, reason, help, \
            milliseconds; refused with at, endpoint, reason, help, count. outcome is delivered, kept (in the mailbox, and \
            not fetched), dead, refused or expired.

            Exit status: 0 shown, 69 no node runs.

            Example: onionbell rings
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption

    func run() async throws {
        guard let answer = try await config.call("GET", "rings") else { return }
        guard !format.json else { return printLine(answer.text) }
        let rings = answer["rings"]?.array ?? []
        if rings.isEmpty { printLine("no phone was rung since the start") }
        for ring in rings { printLine(Self.line(of: ring)) }
        for refused in answer["refused"]?.array ?? [] {
            printLine(
                "not taken: \(refused["count"]?.integer ?? 0) × \(Self.text("reason", of: refused)) at \(Self.text("endpoint", of: refused)), the last at \(Self.time(of: refused)): \(Self.text("help", of: refused))"
            )
        }
    }

    private static func line(of ring: JSON) -> String {
        let name = ring["name"]?.string.map(SettingsFault.shown) ?? "device \(text("device", of: ring))"
        let number = ring["phone"]?.integer.map { " (\($0))" } ?? ""
        let endpoint = ring["endpoint"]?.string.map { ", by \($0)" } ?? ""
        return
            "\(time(of: ring))  \(name)\(number), \(text("app", of: ring))\(endpoint): \(outcome(of: ring))"
    }

    private static func outcome(of ring: JSON) -> String {
        let milliseconds = ring["milliseconds"]?.integer ?? 0
        let word = text("outcome", of: ring)
        let taken = milliseconds < 10_000 ? "\(milliseconds) ms" : Age.text(milliseconds)
        guard let reason = ring["reason"]?.string else { return "\(word) after \(taken)" }
        return
            "\(word) after \(taken) (\(SettingsFault.shown(reason))). \(text("help", of: ring))"
    }

    private static func time(of row: JSON) -> String {
        UTCTime.text((row["at"]?.integer ?? 0) * 1000) ?? ""
    }

    private static func text(_ member: String, of row: JSON) -> String { row[member]?.string ?? "" }
}
