import Clocks
import Encodings
import JSONCoding
import Relay

/// The life of an OAuth access token: fetched early, by one at a time, and used until it really ends.
struct AccessTokenLife: Equatable, Sendable {
    /// A new one is fetched this long before the end, and up to ``jitter`` earlier, so that nodes don't come together.
    static let margin: Duration = .seconds(5 * 60)
    static let jitter: Duration = .seconds(60)
    static let firstPause: Duration = .seconds(1)
    static let longestPause: Duration = .seconds(5 * 60)
    static let hopelessPause: Duration = .seconds(60)

    /// The number of tokens got; a request remembers under which it was sent.
    private(set) var generation = 0
    private(set) var isFetching = false
    /// The time at which the next token is to be fetched.
    private(set) var nextFetch = MonotonicTime.longAgo
    /// The end of the present token; `nil`: there is none.
    private var tokenEnd: MonotonicTime?
    /// Whether a request was accepted under the present token.
    private var isProven = false
    /// Whether the present token was got because the one before was refused.
    private var isReplacement = false
    private var backoff = Backoff(first: firstPause, longest: longestPause)

    /// Whether there is a token to send with.
    func hasToken(at time: MonotonicTime) -> Bool { tokenEnd.map { time < $0 } ?? false }

    /// Whether to fetch one now; if so, it is on its way until ``fetched(lifetime:at:using:)`` or
    /// ``failed(at:retryAfter:using:)``.
    mutating func beginFetching(at time: MonotonicTime) -> Bool {
        guard !isFetching, time >= nextFetch else { return false }
        isFetching = true
        return true
    }

    mutating func fetched(
        lifetime: Duration, at time: MonotonicTime, using random: inout some RandomNumberGenerator
    ) {
        isFetching = false
        backoff.reset()
        generation += 1
        isProven = false
        if tokenEnd != nil { isReplacement = false }
        tokenEnd = time + lifetime
        let early =
            AccessTokenLife.margin
            + .nanoseconds(Int64.random(in: 0...AccessTokenLife.jitter.nanoseconds, using: &random))
        // A short-lived one is renewed half-way.
        nextFetch = time + lifetime - min(early, lifetime / 2)
    }

    /// Notes that a fetch has failed. The pause is exponential, with full jitter on the upper half, and no
    /// shorter than asked.
    mutating func failed(
        at time: MonotonicTime, retryAfter: Duration?, using random: inout some RandomNumberGenerator
    ) {
        isFetching = false
        nextFetch = time + max(backoff.next(using: &random), retryAfter ?? .zero)
    }

    /// Lets the next fetch be made at once, however long the pause is that was asked for.
    mutating func retryNow(at time: MonotonicTime) { nextFetch = min(nextFetch, time) }

    /// Notes that a request under that token was accepted.
    mutating func proved(generation: Int) {
        if generation == self.generation { isProven = true }
    }

    /// Notes another service account or key: what was got by the old one goes on until the new one has
    /// brought its own. A fetch on its way is given up.
    mutating func accountChanged(at time: MonotonicTime) {
        isFetching = false
        backoff.reset()
        nextFetch = min(nextFetch, time)
        isReplacement = false
    }

    enum Refusal: Equatable {
        /// Another token has taken its place meanwhile: send again.
        case replaced
        /// Fetch another one, and send again.
        case due
        /// The token replaced a refused one, and nothing was ever accepted under it either: a third token does not help.
        case hopeless
    }

    /// Notes that the gateway didn't take the token of that generation.
    mutating func refused(generation: Int, at time: MonotonicTime) -> Refusal {
        guard generation == self.generation, tokenEnd != nil else { return .replaced }
        guard isProven || !isReplacement else {
            // What is wrong with the account may be mended: one that is got after that is taken.
            nextFetch = min(nextFetch, time + AccessTokenLife.hopelessPause)
            return .hopeless
        }
        tokenEnd = nil
        isReplacement = true
        nextFetch = min(nextFetch, time)
        return .due
    }
}
