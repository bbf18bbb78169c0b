import Encodings
import Reactor
import Relay
import TLS

extension RelayGateway {
    struct Settings {
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

    /// The limits for the way through Tor. Servers close what is idle after some seconds: we are first, so
    /// that no request meets a connection that is just being closed.
    nonisolated static let limits = ConnectionLife.Limits(
        setup: .seconds(60), unanswered: .seconds(90), request: .seconds(60), inFlight: 1, rest: .seconds(3))

    static func context(_ trust: TLSTrust) throws(GatewaySetupError) -> TLSContext {
        try trust.context(protocols: ["http/1.1"])
    }

    /// How a node says goodbye to a peer of another network.
    nonisolated static let wrongNetwork = "WRONG_NETWORK_ID"
    /// Words for refused device tokens that, in bulk, mean the wrong relay.
    nonisolated static let suspicious = [
        "BadDeviceToken", "DeviceTokenNotForTopic", "SENDER_ID_MISMATCH", "INVALID_ARGUMENT",
    ]

    /// Returns the outcome of a notification whose upstream has no connection, while others have: it waits for room there.
    ///
    /// - Parameter isBound: Whether that upstream may have it already. Otherwise the one before has not taken it, and this
    ///   one is being called.
    static func away(at index: Int, isBound: Bool) -> Outcome {
        .deferred(
            Deferral(
                reason: RelayAnswer.upstreamAway, scope: .device, retryAfter: .seconds(isBound ? 30 : 2),
                way: index))
    }
}
