import Relay

/// The registrations that the door for Status' clients keeps of phones.
package enum StatusRegistration {
    /// One installation of one client.
    package struct Key: Hashable, Sendable {
        /// The digest of the client's key.
        package let owner: Digest
        /// The digest of the client's key and the installation's id.
        package let installation: Digest

        package init(owner: Digest, installation: Digest) {
            self.owner = owner
            self.installation = installation
        }
    }

    /// The most that is kept.
    package struct Limits: Equatable, Sendable {
        /// Registered installations of one client.
        package var perOwner = 50
        /// Installations in all, registered or not. Of a full table the one goes that is of the least use: who
        /// unregistered first, then who was never pushed to for ``unused``, then who was not for ``idle``.
        package var installations = 100_000
        package var unused: Duration = .seconds(86_400)
        package var idle: Duration = .seconds(30 * 86_400)
        /// Bytes of all registrations.
        package var bytes = 1 << 30
        /// Handled messages; the oldest are forgotten first.
        package var messages = 1_000_000

        package init() {}
    }

    package enum PutResult: Equatable, Sendable {
        case stored
        /// There is one of this version, or of a higher one.
        case stale
        /// There is no room for more phones.
        case full
        /// This client has as many as it may.
        case ownerFull
    }

    /// A phone that can be pushed to.
    package struct Kept: Sendable {
        package let registration: [UInt8]
        /// Milliseconds since 1970.
        package let registeredAt: Int64
        /// When a push was last delivered, at most a day ago more; 0: never.
        package let usedAt: Int64

        package init(registration: [UInt8], registeredAt: Int64, usedAt: Int64) {
            self.registration = registration
            self.registeredAt = registeredAt
            self.usedAt = usedAt
        }
    }
}

/// Who registered with the door for Status' clients, and which messages were handled, in the store. Each call is a
/// transaction.
///
/// Rows are found by keyed digests. Of a phone that has unregistered, or whose device token is dead, nothing is left
/// but those and the version.
package protocol StatusRegistrations: Sendable {
    /// Also of one that is not registered any more.
    func version(of key: StatusRegistration.Key) async throws(OutboxError) -> UInt64?

    /// Puts a registration in the place of an older one. Durable when it returns.
    ///
    /// - Parameters:
    ///   - registration: `nil`: unregistered; where nothing is known nothing is kept.
    ///   - now: milliseconds since 1970.
    func put(
        _ registration: [UInt8]?, of key: StatusRegistration.Key, version: UInt64, at now: Int64
    ) async throws(OutboxError) -> StatusRegistration.PutResult

    /// Remembers that a push was delivered.
    ///
    /// - Parameter now: milliseconds since 1970.
    func noteUse(of key: StatusRegistration.Key, at now: Int64) async throws(OutboxError)

    /// Lets go of a phone that nobody has pushed to.
    func removeUnused(_ key: StatusRegistration.Key) async throws(OutboxError)

    /// Unregisters what still has this version.
    func forget(_ key: StatusRegistration.Key, version: UInt64) async throws(OutboxError)

    /// Goes through the registrations of these clients.
    ///
    /// - Parameter body: takes the client's place in `owners` and the registration, on the store's thread; `false`
    ///   ends it.
    func reduce<Value: Sendable>(
        _ owners: [Digest], into initial: Value,
        _ body: @Sendable (inout Value, Int, [UInt8]) -> Bool
    ) async throws(OutboxError) -> Value

    /// Returns the answer that a handled message got; else what `body` makes of these installations' registrations.
    ///
    /// - Parameter body: on the store's thread, once for each installation; takes its places in `keys`, and `nil` for
    ///   what is not registered; returns as many values.
    func look<Value: Sendable>(
        for message: Digest, _ keys: [StatusRegistration.Key],
        _ body: @Sendable ([Int], StatusRegistration.Kept?) -> [Value]
    ) async throws(OutboxError) -> (told: [UInt8]?, found: [Value])

    /// Remembers the results of a message, and forgets those that were handled before a time. Durable when it returns.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970, as `forgotten`.
    func remember(
        _ message: Digest, _ results: [UInt8], at now: Int64, forgettingBefore forgotten: Int64
    ) async throws(OutboxError)
}
