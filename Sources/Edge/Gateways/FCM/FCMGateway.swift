import Crypto
import Encodings
import Figures
import HTTP2
import Logging
import Outbound
import Reactor
import Relay
import TLS

/// One app at Google.
@EventLoop
package final class FCMGateway: LinkedGateway {
    private let authority: String
    private let path: String
    private let isSecure: Bool
    private let withNotification: Bool
    let link: GatewayLink
    private let tokens: AccessTokens
    private let later = Later()
    static let suspicious = ["SENDER_ID_MISMATCH", "INVALID_ARGUMENT"]
    static var nobody: DeviceToken { .opaqueOfNobody }

    package convenience init(_ settings: FCMSettings, log: Logger) throws(GatewaySetupError) {
        try self.init(settings, limits: ConnectionLife.Limits(), log: log)
    }

    init(_ settings: FCMSettings, limits: ConnectionLife.Limits, log: Logger) throws(GatewaySetupError) {
        let context = try settings.trust.context()
        let url = settings.baseURL
        let tokenURL = try settings.whereTokensAre()
        authority = url.authority
        isSecure = url.isSecure
        path = FCMGateway.path(at: url, of: settings.account)
        withNotification = settings.withNotification
        link = GatewayLink(
            GatewayLinkSettings(url: url, egress: settings.egress, version: .http1, limits: limits),
            context: url.isSecure ? context : nil, log: log)
        tokens = AccessTokens(
            for: settings.account, from: tokenURL, by: settings.egress, context, log: log)
        tokens.onChange = { [unowned link] in link.onRoom?() }
    }

    static func path(at url: GatewayURL, of account: ServiceAccount) -> String {
        let base = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
        return "\(base)/v1/projects/\(account.projectID)/messages:send"
    }

    package func start() {
        tokens.start()
        link.start()
    }

    package func stop() {
        tokens.stop()
        link.stop()
    }

    /// Fetches an access token, and then sees whether the host can be reached.
    package func look(then end: @escaping @EventLoop () -> Void) {
        tokens.look { [link] in link.look(then: end) }
    }

    /// Takes over another key of the same project, and the CA file as it is now: present connections are drained, and a new
    /// one is tried. The access token got by the old key serves until the new one has brought its own.
    package func use(_ settings: FCMSettings) throws(GatewaySetupError) {
        let context = try settings.trust.context()
        tokens.use(settings.account, context)
        link.use(isSecure ? context : nil)
        look {}
    }

    package var figures: GatewayFigures {
        var figures = link.figures
        figures.fault = fault
        figures.lastError = tokens.lastError ?? figures.lastError
        figures.connectionFailures += tokens.failures
        if tokens.current == nil, tokens.lastError != nil { figures.isResting = false }
        return figures
    }

    // MARK: Sending

    package var capacity: Int { tokens.current == nil ? 0 : link.room }

    /// Makes a connection for what waits. Without an access token it helps nobody, unless one is about to come.
    package func noteBacklog() {
        tokens.noteBacklog()
        if tokens.current != nil || tokens.lastError == nil { link.noteBacklog() }
    }

    package func retryNow() {
        tokens.retryNow()
        link.retryNow()
    }

    package var fault: String? { link.fault ?? (tokens.current == nil ? tokens.fault : nil) }

    package func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        guard let (authorization, generation) = tokens.current else {
            let outcome: Outcome =
                fault.map { .blocked(reason: $0) }
                ?? .deferred(Deferral(.noToken, scope: .device, isUnharmed: true))
            return later { completion(outcome) }
        }
        guard let connection = link.roomiest else {
            return later { [link] in completion(link.outcomeWithoutRoom) }
        }
        var head = HTTP2Headers(method: "POST", authority: authority, path: path)
        head.add("content-type", "application/json")
        head.add("authorization", authorization.bytes.span, .verbatim)
        let body = FCMMessage.body(
            notification, withNotification: withNotification, now: EventLoop.unixTime)
        connection.send(head, body: body) { [self] end, connection in
            completion(outcome(of: end, over: connection, generation, notification))
        }
    }

    func verdict(
        _ answer: GatewayAnswer, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Verdict {
        let verdict = FCMAnswer.verdict(answer)
        if verdict.outcome == .accepted { tokens.proved(generation: generation) }
        return verdict
    }

    func renewCredential(_ generation: Int) -> Bool { tokens.refused(generation: generation) != .hopeless }
}
