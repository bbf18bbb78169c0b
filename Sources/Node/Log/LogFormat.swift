import Glibc
import JSONCoding
import Logging
import Processes

/// How an event becomes a line.
struct LogFormat: Equatable {
    let form: Settings.Log.Format
    /// systemd's journal reads the lines: each begins with its priority (`<3>`, sd-daemon(3)), which the journal takes
    /// off, and as text they have no time, for the journal has its own.
    let isForJournal: Bool

    init(_ form: Settings.Log.Format, isForJournal: Bool) {
        self.form = form
        self.isForJournal = isForJournal
    }

    /// Returns the format of standard error.
    ///
    /// systemd names the stream that it connected in `JOURNAL_STREAM`, as device and inode in decimal
    /// (systemd.exec(5)). A program may inherit the variable and have another standard error, so both are compared.
    static func standardError(_ form: Settings.Log.Format, environment: [String: String]) -> LogFormat {
        var status = stat()
        let stream = fstat(STDERR_FILENO, &status) == 0 ? "\(status.st_dev):\(status.st_ino)" : nil
        return LogFormat(form, isForJournal: stream != nil && environment["JOURNAL_STREAM"] == stream)
    }

    /// Returns one line, with its end.
    func line(_ level: Logger.Level, _ event: String, _ facts: [(String, String)], at now: time_t) -> String {
        let priority = isForJournal ? "<\(LogFormat.priority(of: level))>" : ""
        let time = LogFormat.timestamp(of: now)
        switch form {
        case .text:
            let words = (isForJournal ? [] : [time]) + [level.rawValue, event]
            return priority
                + (words + facts.map { "\($0.0)=\(LogFormat.quoted($0.1))" }).joined(separator: " ") + "\n"
        case .json:
            let fields = [("time", time), ("level", level.rawValue), ("event", event)] + facts
            return priority + "{"
                + fields.map { "\(LogFormat.json($0.0)):\(LogFormat.json($0.1))" }.joined(separator: ",")
                + "}\n"
        }
    }

    /// Prints to standard error why the node does not run, whatever the format is.
    func printFailure(_ sentence: String) {
        let priority = isForJournal ? "<\(LogFormat.priority(of: .error))>" : ""
        for line in "onionbell: \(sentence)".utf8.split(separator: UInt8(ascii: "\n")) {
            printError(priority + String(decoding: line, as: UTF8.self))
        }
    }

    /// Returns syslog's number of a level.
    private static func priority(of level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }

    /// Returns a time in the form of RFC 3339, in UTC.
    private static func timestamp(of seconds: time_t) -> String {
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
