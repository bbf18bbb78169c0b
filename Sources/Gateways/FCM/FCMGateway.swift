import Delivery
import HTTP2
import Logging
import Metrics
import Reactor
import Relay
import TLS

/// One app at Google.
@EventLoop
package final class FCMGateway: Gateway {
    package var onCapacity: (@EventLoop () -> Void)?

    private let authority: String
    private let path: String
    private let isSecure: Bool
    private let withNotification: Bool
    private let link: GatewayLink
    private let tokens: AccessTokens
    private let later = Later()
    /// Words for refused device tokens that, in bulk, mean a wrong configuration.
    private static let suspicious = ["SENDER_ID_MISMATCH", "INVALID_ARGUMENT"]

    package convenience init(_ settings: FCMSettings, log: Logger) throws(GatewaySetupError) {
        try self.init(settings, limits: ConnectionLife.Limits(), log: log)
    }

    init(_ settings: FCMSettings, limits: ConnectionLife.Limits, log: Logger) throws(GatewaySetupError) {
        let context = try settings.context()
        let url = settings.baseURL
        let tokenURL = try settings.whereTokensAre()
        authority = url.authority
        isSecure = url.isSecure
        path = FCMGateway.path(at: url, of: settings.account)
        withNotification = settings.withNotification
        link = GatewayLink(
            GatewayLink.Settings(url: url, egress: settings.egress, version: .http1, limits: limits),
            context: url.isSecure ? context : nil, log: log)
        tokens = AccessTokens(
            for: settings.account, from: tokenURL, by: settings.egress, context, log: log)
        link.onRoom = { [unowned self] in onCapacity?() }
        tokens.onChange = { [unowned self] in onCapacity?() }
    }

    static func path(at url: GatewayURL, of account: ServiceAccount) -> String {
        let base = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
        return "\(base)/v1/projects/\(account.projectID)/messages:send"
    }

    /// Connects, fetches an access token, and keeps both.
    package func start() {
        tokens.start()
        link.start()
    }

    package func stop() {
        tokens.stop()
        link.stop()
    }

    /// Takes over another key of the same project, and the CA file as it is now: present connections are drained and new
    /// ones opened. The access token got by the old key serves until the new one has brought its own.
    package func use(_ settings: FCMSettings) throws(GatewaySetupError) {
        let context = try settings.context()
        tokens.use(settings.account, context)
        link.use(isSecure ? context : nil)
    }

    package var figures: GatewayFigures {
        var figures = link.figures
        figures.fault = figures.fault ?? (tokens.current == nil ? tokens.fault : nil)
        figures.lastError = tokens.lastError ?? figures.lastError
        return figures
    }

    // MARK: Sending

    /// With a fault that only the operator can mend it is 1, so that the lane learns of it.
    package var capacity: Int {
        let room = link.room
        guard tokens.current != nil else { return tokens.fault == nil ? 0 : 1 }
        return room == 0 && link.fault != nil ? 1 : room
    }

    package func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        guard let (authorization, generation) = tokens.current else {
            let outcome: Outcome =
                tokens.fault.map { .blocked(reason: $0) }
                ?? .deferred(Deferral(reason: "NoToken", scope: .device, isUnharmed: true))
            return later { completion(outcome) }
        }
        guard let connection = link.roomiest else {
            return later { [link] in completion(link.outcomeWithoutRoom) }
        }
        var head = HTTP2Headers(method: "POST", authority: authority, path: path)
        head.add("authorization", authorization, .never)
        head.add("content-type", "application/json")
        let body = FCMMessage.body(
            notification, withNotification: withNotification, now: EventLoop.unixMilliseconds)
        connection.send(head, body: body) { [self] end, connection in
            completion(outcome(of: end, over: connection, generation, notification))
        }
    }

    private func outcome(
        of end: ExchangeEnd, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Outcome {
        switch end {
        case .unharmed(let reason):
            return .deferred(Deferral(reason: reason, scope: .device, isUnharmed: true))
        case .unclear(let reason): return link.unclear(reason)
        case .answered(let answer):
            let verdict = FCMAnswer.verdict(answer)
            link.judge(verdict, of: notification, suspicious: FCMGateway.suspicious)
            // That token can't die: it is to be refused each time anew.
            if case .tokenDead(let reason, _, _) = verdict.outcome, notification.isForNobody {
                return .refused(reason: reason)
            }
            switch verdict.consequence {
            case .none, .ownFault, .keepCredential: break
            case .reconnect: connection.drain()
            case .renewCredential:
                guard tokens.refused(generation: generation) == .hopeless else { break }
                if case .deferred(let deferral) = verdict.outcome {
                    link.note(fault: deferral.reason)
                    return .blocked(reason: deferral.reason)
                }
            }
            if verdict.outcome == .accepted { tokens.proved(generation: generation) }
            return verdict.outcome
        }
    }
}
