import Encodings

/// An app on phones, as the operator configured it.
///
/// An object, since it never changes and each submission looks at it.
package final class App: Sendable {
    package let name: String
    package let service: any PushService
    /// Whether the operator gave credentials for the app.
    package let isEnabled: Bool
    /// The phones that the app rings.
    package let targets: Targets

    package enum Targets: String, CaseIterable, Sendable {
        case any
        /// The phones of the ``PhoneBook``, and no others.
        case phoneBook = "phone_book"
    }

    package init(name: String, service: any PushService, isEnabled: Bool, targets: Targets = .any) {
        self.name = name
        self.service = service
        self.isEnabled = isEnabled
        self.targets = targets
    }
}

/// A lane of delivery: one app at one host. A lane that is down or slow holds up no other.
package struct LaneID: Hashable, Sendable {
    package let app: String
    package let host: LaneHost

    package init(app: String, host: LaneHost) {
        self.app = app
        self.host = host
    }

    /// The name that an operator reads, and by which its checks are named.
    package var name: String { host == .production ? app : "\(app).\(host)" }
}
