import Reactor
import Relay
import TLS

/// A notification for a device that nobody has: it goes all the way to Google, and no phone rings.
enum RelayProbe {
    @EventLoop
    static func run(
        _ form: RelayForm, _ url: GatewayURL, _ peer: RelayPeer, by egress: Egress, _ trust: TLSTrust
    ) async throws(GatewaySetupError) -> GatewayProbe.Finding {
        let context = try RelayGateway.context(trust)
        let notification = GatewayProbe.notification(
            to: RelayService(form: form).nobody(on: .android), in: LaneID(app: "", host: .android))
        guard case .bisq(let content) = notification.content else { return .unclear(reason: "-") }
        let request = RelayRequest(
            notification, content, on: .android, form: form, below: url.path, peer: peer)
        let head = request.head(authority: url.authority)
        return
            switch await GatewayProbe.exchange(
                url, by: egress, context, form == .p2p ? .peer(peer.network) : .http1, head, request.body,
                limits: RelayGateway.limits)
        {
        case .success(let answer): .init(RelayAnswer(answer, form: form))
        case .failure(let failure): .init(failure)
        }
    }
}

extension GatewayProbe.Finding {
    init(_ answer: RelayAnswer) {
        self =
            switch answer {
            case .accepted: .taken("accepted")
            case .dead(let reason, _), .refused(let reason, _), .doubtful(let reason): .taken(reason)
            case .later(let reason, _, _), .unclear(let reason, _): .unclear(reason: reason)
            case .setup(let reason): .refused(reason: reason)
            }
    }
}
