import Glibc
import Reactor

/// Whether standard output is a terminal that shows colours (no-color.org).
var hasColours: Bool { isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil }

/// Tells a story line by line, each with the time since its beginning.
@EventLoop
final class Narrator {
    private let start = EventLoop.monotonicNanoseconds

    private var elapsed: String {
        let tenths = (EventLoop.monotonicNanoseconds - start) / 100_000_000
        let text = "\(tenths / 10).\(tenths % 10) s"
        return String(repeating: " ", count: max(0, 7 - text.count)) + text
    }

    func chapter(_ title: String) {
        printLine("")
        printLine(hasColours ? "\u{1b}[1m\(title)\u{1b}[0m" : title)
    }

    func tell(_ line: String) { printLine("\(elapsed)  \(line)") }

    func verified(_ line: String) {
        printLine("\(elapsed)  \(hasColours ? "\u{1b}[32mok\u{1b}[0m" : "ok") \(line)")
    }

    func failed(_ line: String) {
        printLine("\(elapsed)  \(hasColours ? "\u{1b}[31mFAILED\u{1b}[0m" : "FAILED") \(line)")
    }
}

extension Duration {
    /// `1.234 s` or `12.3 ms`.
    var inWords: String {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        if microseconds >= 1_000_000 { return fixed(microseconds / 1000, "s", digits: 3) }
        return fixed(microseconds / 100, "ms", digits: 1)
    }

    private func fixed(_ value: Int64, _ unit: String, digits: Int) -> String {
        var scale: Int64 = 1
        for _ in 0..<digits { scale *= 10 }
        let fraction = String(value % scale)
        return "\(value / scale).\(String(repeating: "0", count: digits - fraction.count))\(fraction) \(unit)"
    }
}
