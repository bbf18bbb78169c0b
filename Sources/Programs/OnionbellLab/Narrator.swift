import Clocks
import Processes
import Reactor

/// Tells a story line by line, each with the time since its beginning.
@EventLoop
final class Narrator {
    private let start = EventLoop.now

    private var elapsed: String {
        let tenths = (EventLoop.now - start).nanoseconds / 100_000_000
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
