import Glibc
import Logging

/// Writes each event as one line to standard error, as text or as a JSON object. What repeats is held back: see
/// ``RepeatGate``.
///
/// The message is the event's name, the metadata are its facts. Times are whole seconds. What must never be logged
/// (tokens, keys, uids, messages, peers' addresses) is kept out by those who log.
struct LineLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    let format: Settings.Log.Format
    /// Shared by the copies of this value.
    private let gate = LogGate()

    init(level: Logger.Level, format: Settings.Log.Format) {
        logLevel = level
        self.format = format
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
        let time = LineLogHandler.timestamp(of: now)
        let line: String
        switch format {
        case .text:
            line =
                ([time, event.level.rawValue, event.message.description]
                + facts.map { "\($0.0)=\(quoted($0.1))" })
                .joined(separator: " ")
        case .json:
            let fields =
                [("time", time), ("level", event.level.rawValue), ("event", event.message.description)]
                + facts
            line = "{" + fields.map { "\(json($0.0)):\(json($0.1))" }.joined(separator: ",") + "}"
        }
        write(line + "\n")
    }

    /// One call, so that lines of different threads don't mix.
    private func write(_ line: String) {
        var line = line
        line.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
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

    private func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") }
        return isPlain ? text : json(text)
    }

    /// As a JSON string; nothing in it can end the line or reach the terminal.
    private func json(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value):
                let hex = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

/// One gate for all threads.
///
/// `@unchecked Sendable`: `gate` is guarded by `mutex`.
private final class LogGate: @unchecked Sendable {
    private var gate = RepeatGate()
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func pass(_ line: String, at now: Int64) -> Int? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return gate.pass(line, at: now)
    }
}
