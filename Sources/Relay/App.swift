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
    package let isSandbox: Bool

    package init(app: String, isSandbox: Bool) {
        self.app = app
        self.isSandbox = isSandbox
    }
}

extension Notification {
    package var lane: LaneID { LaneID(app: app, isSandbox: isSandbox) }
}
