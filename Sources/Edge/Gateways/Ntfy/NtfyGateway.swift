import Crypto
import Encodings
import Figures
import Logging
import Outbound
import Reactor
import Relay
import TLS

/// The address of an ntfy server, with its login.
struct NtfySettings {
    var url: GatewayURL
    var egress = Egress.direct
    /// The login; `nil`: the server takes messages from everybody.
    var login: NtfyGateway.Login?
    var trust = TLSTrust.systemRoots
    var show = NtfyApp.Show.bell
    var limits = NtfyGateway.limits
    var lookUp = Dial.systemLookup
}

/// The way to one ntfy server.
@EventLoop
final class NtfyGateway: LinkedGateway {
    /// The node's account at the server.
    enum Login: Equatable, Sendable {
        case token(Secret)
        case password(user: String, Secret)

        /// The value of `authorization`.
        var authorization: Secret {
            switch self {
            case .token(let token): Secret(Array("Bearer ".utf8) + token.bytes)
            case .password(let user, let password):
                Secret("Basic " + Base64.encode(Array("\(user):".utf8) + password.bytes))
            }
        }
    }

    /// The limits of the connection. Few notifications come, so it is closed when it has been idle.
    nonisolated static let limits = ConnectionLife.Limits(rest: .seconds(60))
    nonisolated static let suspicious: [String] = []
    static var nobody: DeviceToken { NtfyRequest.nobody }

    let link: GatewayLink
    private let url: GatewayURL
    private let show: NtfyApp.Show
    private var login: Login?
    @exclusivity(unchecked) private var refusals = LoneRefusals()
    @exclusivity(unchecked) private var refusedPhones = RefusedPhones()
    private let later = Later()
    private let log: Logger

    init(_ settings: NtfySettings, log: Logger) throws(GatewaySetupError) {
        self.log = log
        url = settings.url
        show = settings.show
        login = settings.login
        var limits = settings.limits
        // With an account its servers mix up what is asked for at once.
        if login != nil { limits.inFlight = 1 }
        link = GatewayLink(
            GatewayLinkSettings(
                url: url, egress: settings.egress, version: .http1, limits: limits, connections: 1,
                sequentialConnections: login == nil ? 2 : 1, lookUp: settings.lookUp),
            context: url.isSecure ? try settings.trust.context() : nil, log: log)
    }

    /// Takes another login, and the certificate authorities as they are now.
    func use(_ settings: NtfySettings) throws(GatewaySetupError) {
        link.use(url.isSecure ? try settings.trust.context() : nil)
        login = settings.login
        refusals = LoneRefusals()
        refusedPhones = RefusedPhones()
    }

    func start() { link.start() }
    func stop() { link.stop() }

    var capacity: Int { link.room }
    var fault: String? { link.fault }
    var figures: GatewayFigures { link.figures }

    func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        guard case .bisq(let content) = notification.content,
            let topic = NtfyService.topic(of: notification.deviceToken.text)
        else { return later { completion(.refused(reason: Reason.badMessage.code)) } }
        guard let connection = link.roomiest else {
            return later { [link] in completion(link.outcomeWithoutRoom) }
        }
        let head = NtfyRequest.head(notification.id, at: url, login)
        connection.send(head, body: NtfyRequest.body(to: topic, content, show: show)) {
            [self] end, connection in
            completion(outcome(of: end, over: connection, 0, notification))
        }
    }

    func verdict(
        _ answer: GatewayAnswer, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Verdict {
        let verdict = NtfyAnswer.verdict(answer)
        if verdict.outcome == .accepted {
            refusals.accepted()
            refusedPhones.accepted()
        }
        // About a topic, where 401 is about the login (ntfy, `server/errors.go`).
        guard answer.status == 403, case .blocked = verdict.outcome, !connection.isOutdated else {
            return verdict
        }
        if login != nil, refusals.noteRefusal(at: EventLoop.now) {
            return .deferred(answer.statusWord, .device, after: LoneRefusals.pause)
        }
        guard !refusedPhones.refused(notification.deviceToken) else { return verdict }
        log.warning(
            "gateway.topic_forbidden",
            metadata: ["host": "\(link.name)", "advice": "\(NtfyApp.advice(for: answer.statusWord) ?? "")"])
        return .deferred(answer.statusWord, .device, after: RefusedPhones.pause)
    }
}
