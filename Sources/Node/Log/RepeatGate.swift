import Encodings

/// Holds back what a log says again and again: of the same line five pass within a minute, and the first one after that
/// minute tells how many were held back.
///
/// Lines are the same if level, event and facts are. At most 256 are remembered; while they are all of this minute, a
/// further one passes uncounted.
struct RepeatGate {
    static let most = 5
    static let window: Int64 = 60
    static let lines = 256

    private struct Line {
        let since: Int64
        var passed = 0
        var heldBack = 0
    }

    private var known: [ByteText: Line] = [:]

    /// Decides whether a line passes.
    ///
    /// - Parameter now: seconds of a clock.
    /// - Returns: How many equal lines were held back before this one; `nil`: this one is held back.
    mutating func pass(_ text: String, at now: Int64) -> Int? {
        let line = ByteText(text)
        if var same = known[line], isFresh(same, now) {
            guard same.passed < RepeatGate.most else {
                same.heldBack += 1
                known[line] = same
                return nil
            }
            same.passed += 1
            known[line] = same
            return 0
        }
        let heldBack = known.removeValue(forKey: line)?.heldBack ?? 0
        if known.count >= RepeatGate.lines {
            known = known.filter { isFresh($0.value, now) || $0.value.heldBack > 0 }
        }
        if known.count < RepeatGate.lines { known[line] = Line(since: now, passed: 1) }
        return heldBack
    }

    /// Whether a line's minute still runs. A clock that was set back must hold nothing back for longer.
    private func isFresh(_ line: Line, _ now: Int64) -> Bool {
        now - line.since < RepeatGate.window && now >= line.since
    }
}
