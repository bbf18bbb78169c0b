import Clocks
import Persistence
import Relay

/// The registrations that the door for Status' clients keeps of phones.
package enum StatusIMRegistration {
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
        /// There is a registration of this version, or of a higher one.
        case stale
        /// There is no room for more phones.
        case full
        /// This client has as many registrations as it may.
        case ownerFull
    }

    /// A phone that can be pushed to.
    package struct Phone: Sendable {
        package let registration: [UInt8]
        package let registeredAt: UnixTime
        /// The time when a push was last delivered, at most a day too early; 0: never.
        package let usedAt: UnixTime

        package init(registration: [UInt8], registeredAt: UnixTime, usedAt: UnixTime) {
            self.registration = registration
            self.registeredAt = registeredAt
            self.usedAt = usedAt
        }
    }
}
