import ArgumentParser
import JSONCoding
import Node
import Persistence
import Programs
import Reactor
import Relay

/// `onionbell outbox list`: each waiting notification, without token and message.
struct OutboxListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the waiting notifications, oldest first.",
        discussion: """
            With --json an array of objects: sequence, app, sandbox, urgent, age_ms, attempts, next_attempt_in_ms \
            (0: due), expires_in_ms, bytes, device.

            due: it goes as soon as its push service can be reached and takes it. An attempt counts when the service has \
            answered.

            Example: onionbell outbox list --app bisq-remote-ios
            """)

    @OptionGroup var outbox: OutboxOption

    @Option(help: "Only notifications for this app.")
    var app: String?

    @Flag(help: "As JSON.")
    var json = false

    func run() throws {
        try outbox.read { file, settings, isRunning in
            let now = EventLoop.unixMilliseconds
            var output = ListOutput(isJSON: json)
            try file.forEach(app: app) { output.add($0, now: now) }
            let isMistyped = app.map { name in !settings.apps.contains { $0.name == name } } ?? false
            output.finish(
                ifNothing: isMistyped
                    ? "nothing waits for \(SettingsFault.shown(app ?? "")), and no app has this name"
                    : "nothing waits")
            guard output.hasDue, !json else { return }
            printError(
                isRunning
                    ? "due: goes as soon as its push service takes it; onionbell status says which does not, and why"
                    : "due: goes when the node starts")
        }
    }
}

/// Written in large pieces: the list can have a hundred thousand lines.
private struct ListOutput {
    private let isJSON: Bool
    private var text: String
    private var count = 0
    private(set) var hasDue = false

    private static let widths = [10, 24, 7, 8, 9, 9, 7, 6, 8]

    init(isJSON: Bool) {
        self.isJSON = isJSON
        text = isJSON ? "[" : ""
    }

    mutating func add(_ row: OutboxFile.Row, now: Int64) {
        count += 1
        hasDue = hasDue || row.notBefore <= now
        if isJSON { addObject(row, now) } else { addLine(row, now) }
        if text.utf8.count > 60_000 { flush() }
    }

    mutating func finish(ifNothing words: String) {
        if isJSON {
            text += count == 0 ? "]\n" : "\n]\n"
        } else if count == 0 {
            text = words + "\n"
        }
        flush()
    }

    private mutating func addLine(_ row: OutboxFile.Row, _ now: Int64) {
        if count == 1 {
            text += line([
                "sequence", "app", "age", "attempts", "next", "expires", "bytes", "urgent", "device",
            ])
        }
        text += line([
            "\(row.sequence)",
            SettingsFault.shown(row.lane.app) + (row.lane.host == .production ? "" : " (\(row.lane.host))"),
            Age.text(now - row.acceptedAt), "\(row.attempts)",
            row.notBefore <= now ? "due" : "in \(Age.text(row.notBefore - now))",
            row.expiresAt <= now ? "over" : "in \(Age.text(row.expiresAt - now))", "\(row.size)",
            row.isUrgent ? "yes" : "no", row.device.shortHex,
        ])
    }

    private func line(_ cells: [String]) -> String {
        zip(cells, ListOutput.widths).enumerated().map { index, cell in
            let blanks = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return index == 1 || index == 8 ? cell.0 + blanks : blanks + cell.0
        }.joined(separator: "  ").trimmingTrailingBlanks + "\n"
    }

    private mutating func addObject(_ row: OutboxFile.Row, _ now: Int64) {
        var app: [UInt8] = []
        app.append(jsonString: row.lane.app)
        text += count == 1 ? "\n" : ",\n"
        text += """
            {"sequence":\(row.sequence),"app":\(String(decoding: app, as: UTF8.self)),\
            "sandbox":\(row.lane.host == .sandbox),"urgent":\(row.isUrgent),"age_ms":\(max(0, now - row.acceptedAt)),\
            "attempts":\(row.attempts),"next_attempt_in_ms":\(max(0, row.notBefore - now)),\
            "expires_in_ms":\(max(0, row.expiresAt - now)),"bytes":\(row.size),"device":"\(row.device.shortHex)"}
            """
    }

    private mutating func flush() {
        printText(text)
        text = ""
    }
}

extension String {
    fileprivate var trimmingTrailingBlanks: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
