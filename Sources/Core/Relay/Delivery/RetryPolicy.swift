import Clocks

/// How long to wait before the next attempt: exponential, with full jitter.
package struct RetryPolicy: Sendable {
    /// The longest wait after the first attempt; doubled with each further one.
    package var base: Duration = .seconds(1)
    package var longest: Duration = .seconds(15 * 60)

    package init() {}

    /// Returns a delay, chosen evenly between nothing and the
    /// exponential bound, and no shorter than the gateway asked.
    ///
    /// - Parameter attempts: How many have ended, 1 or more.
    func delay(
        afterAttempts attempts: Int, atLeast asked: Duration?, using random: inout some RandomNumberGenerator
    ) -> Duration {
        let bound = Backoff(first: base, longest: longest).bound(doubled: attempts - 1)
        let jittered = Duration.nanoseconds(Int64.random(in: 0...bound.nanoseconds, using: &random))
        return max(jittered, obeyed(asked))
    }

    /// Returns the part of a gateway's wish that is granted: more than our longest wait, but not for ever.
    func obeyed(_ asked: Duration?) -> Duration { max(.zero, min(asked ?? .zero, .seconds(86400))) }
}
