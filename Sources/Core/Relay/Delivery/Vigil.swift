/// Whether somebody who is asked now and then still answers, and when the owner is to be rung. Pure: answers and misses
/// come in, news come out.
package struct Vigil: Equatable, Sendable {
    package enum News: Equatable, Sendable {
        /// There was no answer since this time (ms since 1970); `nil`: there was never one.
        case silent(since: Int64?)
        /// There is an answer again; `after` is the number of milliseconds without one.
        case back(after: Int64)
    }

    /// The number of misses in a row that counts as silence.
    private let misses: Int
    package private(set) var missed = 0
    /// Milliseconds since 1970, as all times here.
    package private(set) var lastAnswer: Int64?
    private var firstMiss: Int64 = 0
    /// Whether the one who is watched has fallen silent, and the owner was rung.
    package private(set) var isSilent = false
    private var lastSilence: Int64?

    /// The shortest time in milliseconds between two rings for somebody who comes and goes.
    static let quiet: Int64 = 3_600_000
    /// The most intervals until somebody silent is asked again: it is asked more and more rarely.
    private static let longestPause = 6

    package init(misses: Int) { self.misses = misses }

    package mutating func answered(at now: Int64) -> News? {
        defer {
            lastAnswer = now
            missed = 0
            isSilent = false
        }
        return isSilent ? .back(after: max(0, now - (lastAnswer ?? firstMiss))) : nil
    }

    package mutating func missed(at now: Int64) -> News? {
        if missed == 0 { firstMiss = now }
        missed += 1
        guard missed >= misses, !isSilent else { return nil }
        // A clock that was set back keeps no owner from being rung.
        if let lastSilence, (0..<Vigil.quiet).contains(now - lastSilence) { return nil }
        isSilent = true
        lastSilence = now
        return .silent(since: lastAnswer)
    }

    /// The number of intervals until somebody is asked again.
    package var pause: Int { isSilent ? min(Vigil.longestPause, 1 + (missed - misses) / 2) : 1 }
}
