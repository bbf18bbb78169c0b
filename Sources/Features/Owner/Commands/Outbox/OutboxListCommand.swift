import ArgumentParser
import CallsCommands
import HTTP1
import JSONCoding
import Node
import Processes
import Terminal

/// `onionbell outbox list`: each waiting notification, without token and message.
struct OutboxListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the waiting notifications, oldest first.",
        discussion: """
            With --json an array of objects: sequence, app, host, sandbox, urgent, age_ms, attempts, next_attempt_in_ms \
            (0: due), expires_in_ms, bytes, device.

            due: it goes as soon as its push service can be reached and takes it. An attempt counts when the service has \
            answered.

            Example: onionbell outbox list --app bisq-remote-ios
            """)

    @OptionGroup var config: ConfigOption

    @Option(help: "Only notifications for this app.")
    var app: String?

    @Flag(help: "As JSON.")
    var json = false

    func run() async throws {
        let ofApp = app.map { "app=\($0.percentEncoded)&" } ?? ""
        var last: Int64? = 0
        var (count, hasDue, isRunning) = (0, false, false)
        // Page by page: the list can have a hundred thousand lines.
        while let after = last {
            let page = try await config.call("GET", "waiting?\(ofApp)after=\(after)")
            let rows = page?["rows"]?.array ?? []
            var text = ""
            for row in rows {
                text +=
                    json
                    ? (count == 0 ? "[\n" : ",\n") + row.text
                    : (count == 0 ? Self.heading : "") + Self.line(of: row)
                count += 1
                hasDue = hasDue || row["next_attempt_in_ms"]?.integer == 0
            }
            printText(text)
            isRunning = page?["running"]?.bool == true
            last = page?["more"]?.bool == true ? rows.last?["sequence"]?.integer : nil
        }
        guard !json else {
            printText(count == 0 ? "[]\n" : "\n]\n")
            return
        }
        if count == 0 {
            let isMistyped = try app.map { name in try !config.settings().apps.contains { $0.name == name } }
            printLine(
                isMistyped == true
                    ? "nothing waits for \(SettingsFault.shown(app ?? "")), and no app has this name"
                    : "nothing waits")
        }
        guard hasDue else { return }
        printError(
            isRunning
                ? "due: goes as soon as its push service takes it; onionbell status says which does not, and why"
                : "due: goes when the node starts")
    }

    // MARK: Lines

    private static let widths = [10, 24, 7, 8, 9, 9, 7, 6, 8]

    private static let heading = line([
        "sequence", "app", "age", "attempts", "next", "expires", "bytes", "urgent", "device",
    ])

    private static func line(of row: JSON) -> String {
        func number(_ name: String) -> Int64 { row[name]?.integer ?? 0 }
        func text(_ name: String) -> String { SettingsFault.shown(row[name]?.string ?? "") }
        let (next, end) = (number("next_attempt_in_ms"), number("expires_in_ms"))
        return line([
            "\(number("sequence"))", text("app") + (text("host") == "production" ? "" : " (\(text("host")))"),
            Age.text(number("age_ms")), "\(number("attempts"))",
            next == 0 ? "due" : "in \(Age.text(next))", end == 0 ? "over" : "in \(Age.text(end))",
            "\(number("bytes"))", row["urgent"]?.bool == true ? "yes" : "no", text("device"),
        ])
    }

    private static func line(_ cells: [String]) -> String {
        zip(cells, widths).enumerated().map { index, cell in
            let blanks = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return index == 1 || index == 8 ? cell.0 + blanks : blanks + cell.0
        }.joined(separator: "  ").trimmingTrailingBlanks + "\n"
    }
}

extension String {
    fileprivate var trimmingTrailingBlanks: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
