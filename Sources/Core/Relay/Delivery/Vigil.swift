import Clocks

/// Decides whether somebody who is asked now and then still answers, and when the owner is to be rung. Answers and misses
/// come in, news come out.
package struct Vigil: Equatable, Sendable {
    package enum News: Equatable, Sendable {
        /// There was no answer since this time; `nil`: there was never one.
        case silent(since: UnixTime?)
        /// There is an answer again; `after` is the number of milliseconds without one.
        case back(after: Duration)
    }

    /// The number of misses in a row that counts as silence.
    private let misses: Int
    package private(set) var missed = 0
    package private(set) var lastAnswer: UnixTime?
    private var firstMiss: UnixTime = 0
    /// Whether the one who is watched has fallen silent, and the owner was rung.
    package private(set) var isSilent = false
    private var lastSilence: UnixTime?

    /// The shortest time in milliseconds between two rings for somebody who comes and goes.
    static let quiet = Duration.seconds(3600)
    /// The most intervals until somebody silent is asked again: it is asked more and more rarely.
    private static let longestPause = 6

    package init(misses: Int) { self.misses = misses }

    package mutating func answered(at now: UnixTime) -> News? {
        defer {
            lastAnswer = now
            missed = 0
            isSilent = false
        }
        return isSilent ? .back(after: max(.zero, now - (lastAnswer ?? firstMiss))) : nil
    }

    package mutating func missed(at now: UnixTime) -> News? {
        if missed == 0 { firstMiss = now }
        missed += 1
        guard missed >= misses, !isSilent else { return nil }
        // A clock that was set back keeps no owner from being rung.
        if let lastSilence, (.zero..<Vigil.quiet).contains(now - lastSilence) { return nil }
        isSilent = true
        lastSilence = now
        return .silent(since: lastAnswer)
    }

    /// The number of intervals until somebody is asked again.
    package var pause: Int { isSilent ? min(Vigil.longestPause, 1 + (missed - misses) / 2) : 1 }
}
