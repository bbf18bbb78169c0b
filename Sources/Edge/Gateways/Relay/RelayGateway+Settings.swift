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

    /// The outcome of a notification that waits for the upstream that may have it already.
    static let elsewhere = Outcome.deferred(
        Deferral(reason: RelayAnswer.upstreamAway, scope: .device, retryAfter: .seconds(30)))

    /// The outcome of a notification that the first upstream has not taken, while the next one is being
    /// called.
    static let dialled = Outcome.deferred(
        Deferral(reason: RelayAnswer.upstreamAway, scope: .device, retryAfter: .seconds(2)))
}
