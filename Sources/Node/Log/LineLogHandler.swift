import Glibc
import Logging
import Synchronization

/// Writes each event as one line, as text or as a JSON object. What repeats is held back: see ``RepeatGate``.
///
/// The message is the event's name, the metadata are its facts. Times are whole seconds. What must never be logged
/// (tokens, keys, uids, messages, peers' addresses) is kept out by those who log.
struct LineLogHandler: LogHandler {
    /// Shared by the copies of this value.
    var logLevel: Logger.Level {
        get { level.value }
        set { level.value = newValue }
    }
    private let level: LogLevel
    var metadata: Logger.Metadata = [:]
    private let format: LogFormat
    private let sink: LineSink
    /// Shared by the copies of this value, and by all threads.
    private let gate = LogGate()

    init(level: LogLevel, format: LogFormat, to sink: LineSink) {
        self.level = level
        self.format = format
        self.sink = sink
    }

    /// Makes a sink to standard error, for lines of this format.
    static func standardError(_ format: LogFormat) -> LineSink {
        LineSink(STDERR_FILENO, named: "log") { count in
            format.line(.warning, "log.lines_lost", [("lines", "\(count)")], at: Glibc.time(nil))
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
        sink.write(format.line(event.level, event.message.description, facts, at: now))
    }
}

/// The level from which on lines are written: one for all loggers, so that it can be changed while they are
/// used.
final class LogLevel: Sendable {
    private let shared: Mutex<Logger.Level>

    init(_ level: Logger.Level) { shared = Mutex(level) }

    var value: Logger.Level {
        get { shared.withLock(\.self) }
        set { shared.withLock { $0 = newValue } }
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
