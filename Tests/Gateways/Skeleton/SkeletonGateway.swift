import Figures
import Logging
import Outbound
import Reactor
import Relay
import TLS

@testable import Gateways

struct SkeletonSettings {
    var url: GatewayURL
    var egress: Egress
    var key: String
    var trust: TLSTrust
}

/// The way to the skeleton's service: one HTTP request for each notification.
///
/// ``LinkedGateway`` and its ``GatewayLink`` connect, spread requests over connections, and tell unharmed requests from
/// unclear ones. What is added here are requests, the credential, and the meaning of answers. Nothing is retried here: an
/// outcome goes to the core, which keeps the notification and decides.
@EventLoop
final class SkeletonGateway: LinkedGateway {
    /// Words for refused devices that speak against the settings when many come in a row; empty where the service has none.
    nonisolated static let suspicious = ["WrongProject"]
    static var nobody: DeviceToken { SkeletonRequest.nobody }

    let link: GatewayLink
    private let url: GatewayURL
    private var key: String
    private let later = Later()

    init(_ settings: SkeletonSettings, log: Logger) throws(GatewaySetupError) {
        url = settings.url
        key = settings.key
        link = GatewayLink(
            GatewayLinkSettings(
                url: url, egress: settings.egress, version: .http1, limits: ConnectionLife.Limits(),
                connections: 1, sequentialConnections: 2),
            context: url.isSecure ? try SkeletonGateway.context(settings.trust) : nil, log: log)
    }

    /// HTTP/1.1 only. A service with HTTP/2 takes many requests over one connection (`version: .http2`, as `FCMGateway`).
    static func context(_ trust: TLSTrust) throws(GatewaySetupError) -> TLSContext {
        do throws(TLSError) {
            return try TLSContext(trusting: trust, protocols: ["http/1.1"])
        } catch {
            throw .tls(error)
        }
    }

    /// Takes over what is in the files now. Requests on their way keep the key that they were sent with.
    func use(_ settings: SkeletonSettings) throws(GatewaySetupError) {
        link.use(url.isSecure ? try SkeletonGateway.context(settings.trust) : nil)
        key = settings.key
    }

    func start() { link.start() }
    func stop() { link.stop() }

    var capacity: Int { link.room }
    var fault: String? { link.fault }
    var figures: GatewayFigures { link.figures }

    /// Calls `completion` once, and never before it has returned: ``Later`` is for what is known at once.
    func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        guard let request = SkeletonRequest(notification, at: url, key: key) else {
            return later { completion(.refused(reason: Reason.badMessage.code)) }
        }
        guard let connection = link.roomiest else {
            return later { [link] in completion(link.outcomeWithoutRoom) }
        }
        connection.send(request.head, body: request.body) { [self] end, connection in
            completion(outcome(of: end, over: connection, 0, notification))
        }
    }

    func verdict(
        _ answer: GatewayAnswer, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Verdict {
        SkeletonAnswer.verdict(answer)
    }
}
