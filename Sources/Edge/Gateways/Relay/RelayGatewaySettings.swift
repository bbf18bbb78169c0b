import Encodings
import Reactor
import Relay
import TLS

/// The addresses of Bisq's relays, and the limits of calls to them.
struct RelayGatewaySettings {
    var form: RelayForm
    /// The platform of the phones for which the gateway is.
    var platform: Platform
    /// The upstreams, in the order in which they are asked; at least one.
    var upstreams: [(url: GatewayURL, egress: Egress)]
    var peer = RelayPeer()
    var trust = TLSTrust.systemRoots
    var limits = RelayGateway.limits
    /// Connections at once to one upstream: each takes one request at a time.
    var connections = 4
    /// The time between two looks whether the relay is still there, while nothing is sent; `nil`: another
    /// lane of the app looks.
    var look: Duration? = .seconds(600)
    /// The first pause after which an upstream that takes nothing is called again; that happens less and
    /// less often.
    var away = UpstreamOrder<DeviceToken>.firstPause
}

extension RelayGateway {
    nonisolated static let limits = ConnectionLife.Limits.relay

    static func context(_ trust: TLSTrust) throws(GatewaySetupError) -> TLSContext {
        try trust.context(protocols: ["http/1.1"])
    }

    /// How a node says goodbye to a peer of another network.
    nonisolated static let wrongNetwork = "WRONG_NETWORK_ID"
    /// Words for refused device tokens that, in bulk, mean the wrong relay.
    nonisolated static let suspicious = [
        "BadDeviceToken", "DeviceTokenNotForTopic", "SENDER_ID_MISMATCH", "INVALID_ARGUMENT",
    ]
}
