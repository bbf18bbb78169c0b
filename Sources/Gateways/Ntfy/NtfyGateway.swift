import Logging
import Metrics
import Outbound
import Reactor
import Relay
import TLS

/// The way to one ntfy server.
@EventLoop
final class NtfyGateway: LinkedGateway {
    struct Settings {
        var url: GatewayURL
        var egress = Egress.direct
        /// `nil`: the server takes messages from everybody.
        var token: String?
        var trust = TLSTrust.systemRoots
        var show = NtfyApp.Show.bell
        var limits = NtfyGateway.limits
    }

    /// Few notifications come, so the connection is closed when it has been idle.
    nonisolated static let limits = ConnectionLife.Limits(rest: .seconds(60))
    nonisolated static let suspicious: [String] = []
    static var nobody: DeviceToken { NtfyRequest.nobody }

    let link: GatewayLink
    private let url: GatewayURL
    private let show: NtfyApp.Show
    private var token: String?
    private let later = Later()

    init(_ settings: Settings, log: Logger) throws(GatewaySetupError) {
        url = settings.url
        show = settings.show
        token = settings.token
        link = GatewayLink(
            GatewayLink.Settings(
                url: url, egress: settings.egress, version: .http1, limits: settings.limits, connections: 1,
                sequentialConnections: 2),
            context: url.isSecure ? try NtfyGateway.context(settings.trust) : nil, log: log)
    }

    static func context(_ trust: TLSTrust) throws(GatewaySetupError) -> TLSContext {
        do throws(TLSError) {
            return try TLSContext(trusting: trust, protocols: ["h2", "http/1.1"])
        } catch {
            throw .tls(error)
        }
    }

    /// Another token, and the certificate authorities as they are now.
    func use(_ settings: Settings) throws(GatewaySetupError) {
        link.use(url.isSecure ? try NtfyGateway.context(settings.trust) : nil)
        token = settings.token
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
        let head = NtfyRequest.head(notification.id, at: url, token: token)
        connection.send(head, body: NtfyRequest.body(to: topic, content, show: show)) {
            [self] end, connection in
            completion(outcome(of: end, over: connection, 0, notification))
        }
    }

    func verdict(
        _ answer: GatewayAnswer, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Verdict { NtfyAnswer.verdict(answer) }

    /// It comes from a file: the operator has to look.
    func renewCredential(_ generation: Int) -> Bool { false }
}
