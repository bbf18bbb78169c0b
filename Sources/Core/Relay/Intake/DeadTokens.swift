import Clocks

/// A gateway's statement that a device token is dead.
package struct DeadToken: Equatable, Sendable {
    /// The time since when the token is dead, as the gateway says.
    package let since: UnixTime
    /// The time at which the gateway last said so.
    package let buriedAt: UnixTime

    package init(since: UnixTime, buriedAt: UnixTime) {
        self.since = since
        self.buriedAt = buriedAt
    }
}

/// The device tokens that their gateways called dead, as keyed digests: what is sent to them is refused at once.
///
/// An app that was installed again may have registered the same token again, and is alive then (Apple, "Handling
/// notification responses from APNs"). A door that keeps registrations says when; no other protocol does, so one
/// notification is let through every few hours: if the gateway takes it, the token lives again.
struct DeadTokens: Sendable {
    private struct Grave: Sendable {
        var record: DeadToken
        /// The time from which on one notification is let through.
        var nextTry: MonotonicTime
    }

    static let retryAfter: Duration = .seconds(6 * 3600)
    /// The most tokens in the table. A sender of made-up tokens can fill it; the gateway is asked of further ones again.
    static let most = 1 << 18

    private var graves: [Digest: Grave] = [:]

    var count: Int { graves.count }

    /// Whether the token was called dead, and is not known to live.
    func holds(_ token: Digest) -> Bool { !graves.isEmpty && graves[token] != nil }

    mutating func restore(_ tokens: [Digest: DeadToken], at now: Instant) {
        let restored = tokens.mapValues { record in
            let nextTry = now.deadline(
                record.buriedAt + DeadTokens.retryAfter,
                within: DeadTokens.retryAfter.milliseconds)
            return Grave(record: record, nextTry: nextTry)
        }
        graves.merge(restored) { _, restored in restored }
    }

    /// Returns the time since when the token is dead; `nil` for one that isn't, and for one that is to be
    /// tried again.
    func since(_ token: Digest, at now: Instant) -> UnixTime? {
        guard let grave = graves[token], now.monotonic < grave.nextTry else { return nil }
        return grave.record.since
    }

    /// Returns the time since when a token is dead, for a notification that is stored by now. When the token is to be tried
    /// again, one of the waiting notifications gets `nil` and is sent; the others are told that the token is dead.
    mutating func sinceUnlessTried(_ token: Digest, at now: Instant) -> UnixTime? {
        guard !graves.isEmpty else { return nil }
        if let since = since(token, at: now) { return since }
        graves[token]?.nextTry = now.monotonic + DeadTokens.retryAfter
        return nil
    }

    /// Notes that a token is dead, and returns what to write down; `nil` when there is no room.
    mutating func bury(_ token: Digest, since: UnixTime, at now: Instant) -> DeadToken? {
        guard graves[token] != nil || graves.count < DeadTokens.most else { return nil }
        let record = DeadToken(since: since, buriedAt: now.unix)
        graves[token] = Grave(
            record: record, nextTry: now.monotonic + DeadTokens.retryAfter)
        return record
    }

    /// Forgets that a token was called dead: the gateway has taken a notification for it.
    ///
    /// - Returns: Whether it was called dead.
    mutating func revive(_ token: Digest) -> Bool {
        !graves.isEmpty && graves.removeValue(forKey: token) != nil
    }

    /// Forgets that a token was called dead before the app
    /// registered it at this time.
    ///
    /// - Returns: Whether it had been called dead since an earlier time.
    mutating func revive(_ token: Digest, registeredAt: UnixTime) -> Bool {
        guard let grave = graves[token], grave.record.since < registeredAt else { return false }
        return revive(token)
    }

    /// Forgets the tokens that another node knows better.
    mutating func forget(where isLost: (Digest) -> Bool) {
        if !graves.isEmpty { graves = graves.filter { !isLost($0.key) } }
    }

    mutating func forget(buriedBefore: UnixTime, latest: UnixTime = .max) {
        graves = graves.filter {
            $0.value.record.buriedAt >= buriedBefore && $0.value.record.buriedAt <= latest
        }
    }
}
