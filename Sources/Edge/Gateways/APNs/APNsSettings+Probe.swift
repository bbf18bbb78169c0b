import Crypto
import Encodings
import Reactor
import Relay

extension APNsSettings {
    func hasOtherKey(than other: APNsSettings) -> Bool {
        guard case .providerKey(let key) = credentials else { return false }
        if case .providerKey(let before) = other.credentials { return key != before }
        return true
    }

    /// Why both of Apple's hosts refuse the credentials; `nil`: one takes them, or does not answer that question.
    @EventLoop
    var refusal: String? {
        get async {
            var reason: String?
            for host in [LaneHost.production, .sandbox] {
                guard case .refused(let word)? = try? await probe(host) else { return nil }
                if reason == nil { reason = word }
            }
            return reason
        }
    }

    /// Sends a background push to a device token that no phone has: Apple can only refuse it once it has
    /// taken the credentials and the topic.
    @EventLoop
    func probe(_ host: LaneHost) async throws(GatewaySetupError) -> GatewayProbe.Finding {
        let url = url(of: host)
        let notification = GatewayProbe.notification(to: APNsService().nobody(on: .ios))
        var authorization: Secret?
        if case .providerKey(let key) = credentials {
            do {
                authorization = try key.authorization(now: EventLoop.unixMilliseconds / 1000)
            } catch {
                throw .credentials(error)
            }
        }
        var heads = APNsHeads(authority: url.authority, topic: topic)
        let head = heads.head(of: notification, authorization: authorization)
        let end = await GatewayProbe.exchange(
            url, by: egress, try context(), .http2, head, APNsRequest.body(notification))
        switch end {
        case .success(let answer): return .init(APNsAnswer.verdict(answer, isProven: false))
        case .failure(let failure):
            if let word = failure.goAwayWord, APNsAnswer.isBlocking(goAwayReason: word) {
                return .refused(reason: word)
            }
            return .init(failure)
        }
    }
}
