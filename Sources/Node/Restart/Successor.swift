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
        /// The reason why the successor takes that text, and not the settings' file: a start with the file came to no end.
        var fault: String?

        var bytes: [UInt8] {
            Array("\(since.nanoseconds)\(fault.map { " \($0)" } ?? "")\n\(text)".utf8)
        }

        init(text: String, since: MonotonicTime, fault: String? = nil) {
            (self.text, self.since, self.fault) = (text, since, fault)
        }

        init?(_ bytes: [UInt8]) {
            let parts = bytes.split(
                separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            let words = parts[0].split(separator: UInt8(ascii: " "), maxSplits: 1)
                .map { String(decoding: $0, as: UTF8.self) }
            guard let since = words.first.flatMap({ Int64($0) }), since >= 0 else { return nil }
            self.init(
                text: String(decoding: parts[1], as: UTF8.self), since: MonotonicTime(nanoseconds: since),
                fault: words.count > 1 ? words[1] : nil)
        }
    }

    private static let wordName = "settings"
    private static let longestWord = 1 << 20

    /// The time for a start by a restart in place. After as much again systemd's watchdog would end the process.
    private static let longestStart: Duration = .seconds(30)

    let configuration: String
    /// The environment that this program was given: a service manager's variables are the successor's too.
    let environment: [String: String]
    /// The features that the program was built with.
    let features: Features

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

    /// Sees to it that a start which comes to no end is begun anew, in this process, with the settings of the node before.
    func watchStart(after word: Word) -> Watchdog {
        // A copy of the lock would hold it when the start lets go of it, as where a backup moves in.
        let lock = Handover.shared.take(StateDirectory.lockName)
        Handover.shared.keepCopies()
        if let lock { Handover.shared.keep(StateDirectory.lockName, lock) }
        return Watchdog(after: Successor.longestStart) { [self] in
            var word = word
            word.fault =
                "a start with them was not over within \(Successor.longestStart.milliseconds / 1000) seconds"
            // Where that is impossible, the start goes on.
            _ = Handover.shared.becomeAgain(
                ProgramBeside("onionbelld").path, arguments: ["--config", configuration],
                environment: environment, keeping: Successor.wordName, word.bytes)
        }
    }
}
