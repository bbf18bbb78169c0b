import Logging
import Reactor

/// The lines of tor's log that go into ours: one that repeats is logged once, then counted, and logged again after an hour.
///
/// Lines are the same when they differ in digits only, as in "for the 17th time". At most ``most`` are remembered, of the
/// last hour.
struct RepeatedLines {
    static let most = 64
    /// Seconds.
    static let window: Int64 = 3600
    /// Bytes of a line that are compared.
    private static let compared = 300

    private struct Line {
        let since: Int64
        /// The line's place in the order of all lines: many are of one second.
        let number: Int
        var heldBack = 0
    }

    private var known: [[UInt8]: Line] = [:]
    private var count = 0

    /// Takes a line of tor's log.
    ///
    /// - Parameter now: Seconds of a clock that never goes back.
    /// - Returns: How often the line was held back since it was logged last; `nil`: it is held back now.
    mutating func pass(_ line: String, at now: Int64) -> Int? {
        let key = line.utf8.prefix(Self.compared).filter {
            !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        if var same = known[key], now - same.since < Self.window {
            same.heldBack += 1
            known[key] = same
            return nil
        }
        let heldBack = known.removeValue(forKey: key)?.heldBack ?? 0
        if known.count >= Self.most, let oldest = known.min(by: { $0.value.number < $1.value.number }) {
            known[oldest.key] = nil
        }
        known[key] = Line(since: now, number: count)
        count += 1
        return heldBack
    }
}

extension OnionPresence {
    /// Writes a line of tor's to the log; one that comes each second is written once.
    func tell(_ line: TorLogLine) {
        var metadata: Logger.Metadata = ["line": "\(line.words)"]
        if line.level >= .warning {
            guard let repeated = repeated.pass(line.words, at: EventLoop.now.nanoseconds / 1_000_000_000)
            else { return }
            if repeated > 0 { metadata["repeated"] = "\(repeated)" }
        }
        log.log(level: line.level, "tor.log", metadata: metadata)
    }
}
