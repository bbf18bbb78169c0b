/// Which push service serves an app.
package enum GatewayKind: String, Sendable {
    case apns
    case fcm
}

/// An app on phones, as the operator configured it.
package struct App: Sendable {
    package let name: String
    package let gateway: GatewayKind
    /// False when the operator gave no credentials for it.
    package let isEnabled: Bool
    /// Bytes that the gateway counts against its limit for one of Bisq's messages.
    package let payloadSize: @Sendable (BisqContent) -> Int

    package init(
        name: String, gateway: GatewayKind, isEnabled: Bool,
        payloadSize: @escaping @Sendable (BisqContent) -> Int
    ) {
        self.name = name
        self.gateway = gateway
        self.isEnabled = isEnabled
        self.payloadSize = payloadSize
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
}

/// Which of a push service's hosts a lane leads to: a short text, its own name for it and no address.
///
/// Up to 15 bytes of it need no memory of their own.
package struct LaneHost: Hashable, Sendable, CustomStringConvertible {
    package let name: String

    package init(_ name: String) { self.name = name }

    /// The one host of a service that has one, and that of apps from Apple's store.
    package static let production = LaneHost("production")
    /// Apple's host for apps that their developers built.
    package static let sandbox = LaneHost("sandbox")

    package var description: String { name }
}
