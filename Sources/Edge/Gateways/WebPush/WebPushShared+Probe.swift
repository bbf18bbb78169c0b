import Reactor
import Relay

extension WebPushShared {
    /// Makes a probe with a message for a subscription that nobody has: the service says so, if it takes the
    /// node's key.
    nonisolated func probe(of host: LaneHost, at url: GatewayURL) -> GatewayProbe {
        GatewayProbe(of: host, at: url) { () async throws(GatewaySetupError) in await self.ask(url) }
    }

    private func ask(_ url: GatewayURL) async -> GatewayProbe.Finding {
        let origin = "\(url.isSecure ? "https" : "http")://\(url.authority)"
        guard let nobody = WebPushSubscription(WebPushSubscription.nobody.text),
            let endpoint = PushEndpoint(url, path: nobody.endpoint.path),
            let (authorization, _) = try? tokens.current(for: origin),
            let body = try? WebPushRequest.body("onionbell", for: nobody)
        else { return .refused(reason: OwnReason.signingFailed.code) }
        let head = WebPushRequest.head(
            of: GatewayProbe.notification(to: WebPushSubscription.nobody), to: endpoint,
            authorization: authorization, now: EventLoop.unixTime)
        return switch await GatewayProbe.exchange(url, by: egress, context, .http1, head, body) {
        case .success(let answer): .init(WebPushAnswer.verdict(answer))
        case .failure(let failure): .init(failure)
        }
    }
}
