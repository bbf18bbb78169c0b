import Clocks
import Encodings
import HTTP2
import Reactor
import Relay
import TLS

/// One request to a push service that no phone receives, to learn whether it would take ours.
package struct GatewayProbe {
    package enum Finding: Equatable, Sendable {
        /// The service judged the device token, so it has taken all that comes before. With its word for that.
        case taken(String)
        /// Credentials, topic, project or clock: the operator has to mend something.
        case refused(reason: String)
        /// Neither: the service is overloaded, or something between us answered.
        case unclear(reason: String)
        /// No TLS connection to the host that it must be, or not with our certificate.
        case untrusted(reason: String)
        case unreachable(reason: String)
    }

    package let host: LaneHost
    package let url: GatewayURL
    /// Seconds since 1970 until which the app's certificate is valid; `nil`: it has none.
    package let certificateEnd: Int64?
    /// Whether the probe is made only if the node has called this host. The service has many hosts, and a host that is never
    /// called need not learn that the node exists.
    package var isForUsedHost = false
    /// Asks the service.
    package let run: @EventLoop () async throws(GatewaySetupError) -> Finding

    init(
        of host: LaneHost, at url: GatewayURL, certificateEnd: Int64? = nil,
        run: @escaping @EventLoop () async throws(GatewaySetupError) -> Finding
    ) {
        self.host = host
        self.url = url
        self.certificateEnd = certificateEnd
        self.run = run
    }

    @EventLoop
    static func exchange(
        _ url: GatewayURL, by egress: Egress, _ context: TLSContext,
        _ version: GatewayConnection.HTTPVersion,
        _ head: HTTP2Headers, _ body: [UInt8], limits: ConnectionLife.Limits = ConnectionLife.Limits(),
        lookUp: @escaping Dial.Lookup = Dial.systemLookup
    ) async -> Result<GatewayAnswer, SingleExchange.Failure> {
        var exchange: SingleExchange?
        let result = await withUnsafeContinuation { continuation in
            exchange = SingleExchange(
                to: url, by: egress, url.isSecure ? context : nil, version: version, head: head, body: body,
                limits: limits, lookUp: lookUp
            ) { continuation.resume(returning: $0) }
        }
        return withExtendedLifetime(exchange) { result }
    }

    static func notification(
        to token: DeviceToken, in lane: LaneID = LaneID(app: "", host: .production)
    ) -> Notification {
        let now = EventLoop.unixTime
        return Notification(
            id: NotificationID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)),
            lane: lane, deviceToken: token, message: "onionbell",
            isUrgent: false, hasSound: false, isMutableContent: false, isContentAvailable: true,
            expiresAt: now + .seconds(60), acceptedAt: now)
    }
}

extension GatewayProbe.Finding {
    init(_ failure: SingleExchange.Failure) {
        self =
            failure.isUntrusted
            ? .untrusted(reason: failure.reason) : .unreachable(reason: failure.reason)
    }

    init(_ verdict: Verdict) {
        self =
            switch (verdict.outcome, verdict.consequence) {
            case (.accepted, _), (.kept, _): .taken("accepted")
            case (.refused(let reason, _, _), .ownFault): .unclear(reason: reason)
            case (.refused(let reason, _, _), _), (.tokenDead(let reason, _, _), _): .taken(reason)
            case (.blocked(let reason), _): .refused(reason: reason)
            // It was made a moment ago.
            case (.deferred(let deferral), .renewCredential): .refused(reason: deferral.reason)
            case (.deferred(let deferral), _): .unclear(reason: deferral.reason)
            }
    }
}
