import Clocks
import Relay

/// The life of APNs provider tokens: when to sign a new one, and what it means that one was refused.
///
/// Apple takes a token for one hour, and a new one no more often than every 20 minutes (Apple, "Establishing a
/// token-based connection to APNs"). The same token serves all connections.
struct ProviderTokenLife: Equatable, Sendable {
    static let renewalAge: Duration = .seconds(45 * 60)
    static let minimumAge: Duration = .seconds(20 * 60)
    /// The age of a token that is replaced in any case: half a minute before Apple takes it no more.
    static let longestAge: Duration = .seconds(60 * 60 - 30)
    /// The step of the wall clock after which the token's `iat` no longer fits what Apple's clock says, if
    /// this one is right now.
    static let clockStep: Duration = .seconds(5 * 60)

    /// The number of tokens signed; a request remembers under which it was sent.
    private(set) var generation = 0
    private var signedAt: Instant?
    private var mustRenew = false
    /// Whether the token was refused, and the wall clock was set since it was signed.
    private var isMisdated = false
    private var keptUntil = MonotonicTime.longAgo

    /// Whether a new token is to be signed before the next request.
    func isDue(at now: Instant) -> Bool {
        guard let signedAt else { return true }
        let age = now.monotonic - signedAt.monotonic
        guard now.monotonic >= keptUntil || age >= ProviderTokenLife.longestAge else { return false }
        if isMisdated { return true }
        guard age >= ProviderTokenLife.minimumAge else { return false }
        return mustRenew || age >= ProviderTokenLife.renewalAge
            || isClockSet(since: signedAt, at: now)
    }

    private func isClockSet(since signedAt: Instant, at now: Instant) -> Bool {
        let age = now.monotonic - signedAt.monotonic
        let wallAge = now.unix - signedAt.unix
        return max(wallAge - age, age - wallAge) >= ProviderTokenLife.clockStep
    }

    mutating func signed(at now: Instant) {
        generation += 1
        signedAt = now
        mustRenew = false
        isMisdated = false
    }

    /// Notes another key: its tokens don't count against the old one's.
    mutating func keyChanged() {
        signedAt = nil
        keptUntil = .longAgo
    }

    /// Whether that token is neither replaced nor of another key.
    func isPresent(_ generation: Int) -> Bool { signedAt != nil && generation == self.generation }

    enum Expiry: Equatable {
        /// Another token has taken its place meanwhile.
        case replaced
        /// Sign a new one.
        case due
        /// The token is too young to have expired, and the clock was not set since: this machine's clock is
        /// wrong.
        case clockFault
    }

    /// Notes that Apple has called the token of that generation expired.
    mutating func expired(generation: Int, at now: Instant) -> Expiry {
        guard generation == self.generation, let signedAt else { return .replaced }
        let age = now.monotonic - signedAt.monotonic
        isMisdated = isClockSet(since: signedAt, at: now)
        guard isMisdated || age >= ProviderTokenLife.minimumAge else { return .clockFault }
        mustRenew = true
        return .due
    }

    /// Notes that Apple has called the changes too frequent: none follows for 20 minutes, as far as the token lives so long.
    mutating func changedTooOften(at now: Instant) {
        keptUntil = now.monotonic + ProviderTokenLife.minimumAge
    }
}
