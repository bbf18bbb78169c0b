import Encodings
import Relay

/// One device of one user of a self-hosted Bitwarden server.
///
/// Of what names users, organizations and devices only keyed digests are kept, made under the installation's id: one
/// installation's digests are never another's. A push token is kept as it is, since it is what is sent to.
package struct BitwardenDevice: Equatable, Sendable {
    /// The digest of the device's id: a later registration takes the place of the one with the same.
    package let id: Digest
    package let installation: String
    package let user: Digest
    /// The digest of the app installation's own id.
    package let identifier: Digest
    /// Bitwarden's device type: 0 Android, 1 iOS.
    package let type: Int
    package let pushToken: String
    package let organizations: [Digest]

    package init(
        id: Digest, installation: String, user: Digest, identifier: Digest, type: Int, pushToken: String,
        organizations: [Digest]
    ) {
        self.id = id
        self.installation = installation
        self.user = user
        self.identifier = identifier
        self.type = type
        self.pushToken = pushToken
        self.organizations = organizations
    }

    /// The phone to push to.
    package struct Phone: Equatable, Sendable {
        package let type: Int
        package let pushToken: String
        /// When it was last registered, by whichever of its users; milliseconds since 1970.
        package var registeredAt: Int64

        package init(type: Int, pushToken: String, registeredAt: Int64) {
            self.type = type
            self.pushToken = pushToken
            self.registeredAt = registeredAt
        }
    }

    /// Whom something is for.
    package enum Target: Equatable, Sendable {
        case installation(String)
        case user(Digest)
        case organization(Digest)
    }
}

/// The phones that self-hosted Bitwarden servers have registered, in the store. Each call is a transaction.
package protocol BitwardenDevices: Sendable {
    /// Puts a device in the place of the one with its id. Durable when it returns.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - limit: devices of one installation.
    /// - Returns: `false` when there is no room for a further one.
    func put(_ device: BitwardenDevice, at now: Int64, limit: Int) async throws(OutboxError) -> Bool

    func remove(_ device: Digest) async throws(OutboxError)

    /// Makes devices members of an organization, or ends that. Those that are not known are skipped.
    func change(_ organization: Digest, of devices: [Digest], isMember: Bool) async throws(OutboxError)

    /// The phones that something is for, each once, in the order of their registration.
    ///
    /// - Parameter acting: the app installation that is left out.
    func phones(
        of target: BitwardenDevice.Target, except acting: Digest?
    ) async throws(OutboxError) -> [BitwardenDevice.Phone]

    /// Forgets what was registered for a dead push token up to a time (milliseconds since 1970).
    func forget(_ phone: BitwardenDevice.Phone, registeredUntil time: Int64) async throws(OutboxError)
}
