import Clocks
import Encodings
import Relay

/// One device of one user of a self-hosted Bitwarden server.
///
/// Only keyed digests are kept of what names users, organizations and devices, made under the installation's id: one
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
        /// The time when the phone was last registered, by whichever of its users.
        package var registeredAt: UnixTime

        package init(type: Int, pushToken: String, registeredAt: UnixTime) {
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
