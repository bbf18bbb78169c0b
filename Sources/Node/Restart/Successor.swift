import Clocks
import Logging
import Processes
import Reactor

/// The program that this process becomes at a restart in place: the one that lies where this one was started from, with the
/// same options and environment. It has the same process id, and is handed what must not break.
struct Successor: Sendable {
    /// The word of a node to its successor, in memory.
    struct Word: Sendable {
        /// The text of the settings with which it worked.
        let text: String
        /// The time at which it began to take nothing more, by the clock that stands while the machine sleeps.
        let since: MonotonicTime

        var bytes: [UInt8] { Array("\(since.nanoseconds)\n\(text)".utf8) }

        init(text: String, since: MonotonicTime) { (self.text, self.since) = (text, since) }

        init?(_ bytes: [UInt8]) {
            let parts = bytes.split(
                separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let since = Int64(String(decoding: parts[0], as: UTF8.self)), since >= 0
            else { return nil }
            self.init(
                text: String(decoding: parts[1], as: UTF8.self), since: MonotonicTime(nanoseconds: since))
        }
    }

    private static let wordName = "settings"
    private static let longestWord = 1 << 20

    let configuration: String
    /// The environment that this program was given: a service manager's variables are the successor's too.
    let environment: [String: String]

    /// Takes the word of the node before this one; `nil`: this is no restart in place.
    static func takeWord() -> Word? {
        Handover.shared.takeBytes(wordName, limit: longestWord).flatMap(Word.init)
    }

    /// Becomes the successor.
    ///
    /// - Returns: Only if that is impossible, with the reason.
    @EventLoop
    func become(after word: Word) -> SystemError {
        Handover.shared.keep(Successor.wordName, word.bytes)
        return Handover.shared.become(
            ProgramBeside("onionbelld").path, arguments: ["--config", configuration], environment: environment
        )
    }
}
