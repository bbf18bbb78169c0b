import Glibc
import JSON
import Logging
import Synchronization

/// Writes each event as one line, as text or as a JSON object. What repeats is held back: see ``RepeatGate``.
///
/// The message is the event's name, the metadata are its facts. Times are whole seconds. What must never be logged
/// (tokens, keys, uids, messages, peers' addresses) is kept out by those who log.
struct LineLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    private let format: Settings.Log.Format
    private let sink: LineSink
    /// Shared by the copies of this value, and by all threads.
    private let gate = LogGate()

    init(level: Logger.Level, format: Settings.Log.Format, to sink: LineSink) {
        logLevel = level
        self.format = format
        self.sink = sink
    }

    /// Standard error, for lines of this format.
    static func standardError(_ format: Settings.Log.Format) -> LineSink {
        LineSink(STDERR_FILENO, named: "log") { count in
            line(
                .warning, "log.lines_lost", [("lines", "\(count)")], at: Glibc.time(nil), format)
        }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var facts = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
            .map { ($0.key, "\($0.value)") }
        let now = Glibc.time(nil)
        let whole = "\(event.level) \(event.message) \(facts)"
        guard let heldBack = gate.pass(whole, at: Int64(now)) else { return }
        if heldBack > 0 { facts.append(("held_back", "\(heldBack)")) }
        sink.write(
            LineLogHandler.line(event.level, event.message.description, facts, at: now, format))
    }

    private static func line(
        _ level: Logger.Level, _ event: String, _ facts: [(String, String)], at now: time_t,
        _ format: Settings.Log.Format
    ) -> String {
        let time = timestamp(of: now)
        switch format {
        case .text:
            let words = [time, level.rawValue, event] + facts.map { "\($0.0)=\(quoted($0.1))" }
            return words.joined(separator: " ") + "\n"
        case .json:
            let fields = [("time", time), ("level", level.rawValue), ("event", event)] + facts
            return "{" + fields.map { "\(json($0.0)):\(json($0.1))" }.joined(separator: ",") + "}\n"
        }
    }

    /// RFC 3339, UTC.
    static func timestamp(of seconds: time_t) -> String {
        var seconds = seconds
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }

    private static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") }
        return isPlain ? text : json(text)
    }

    private static func json(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.append(jsonString: text)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// One gate for all threads. (The thread sanitizer reports races at its mutex that there are not: Swift's is not known
/// to it.)
private final class LogGate: Sendable {
    private let gate = Mutex(RepeatGate())

    func pass(_ line: String, at now: Int64) -> Int? {
        gate.withLock { $0.pass(line, at: now) }
    }
}
