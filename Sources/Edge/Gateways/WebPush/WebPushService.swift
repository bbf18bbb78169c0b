import Crypto
import Encodings
import Relay

/// Web Push, as the core sees it: browsers and UnifiedPush, each phone at the push server that its subscription names.
package struct WebPushService: PushService {
    private let hosts: PushHosts

    package init() { hosts = PushHosts([]) }

    init(_ hosts: PushHosts) { self.hosts = hosts }

    package var name: String { "web_push" }
    package var prefix: String? { WebPushSubscription.prefix }

    package func serves(_ platform: Platform) -> Bool { platform == .android }

    /// Reads a subscription at a host that the node calls, with a point that lies on the curve.
    package func target(_ address: String, on platform: Platform) -> Target? {
        guard let subscription = WebPushSubscription(address), hosts.allow(subscription.endpoint),
            P256.uncompressed(subscription.point) != nil
        else { return nil }
        return hosts.lane(of: subscription.endpoint).map { Target(DeviceToken(subscription.text), at: $0) }
    }

    /// Returns the host as which a server is shown: those below a known domain go by the domain's name, all
    /// others by none.
    package func shown(_ host: LaneHost) -> LaneHost { hosts.shown(host) }

    /// Counts the bytes of Bisq's message as it came.
    package func payloadSize(of content: Content) -> Int? {
        switch content {
        case .bisq(let content): content.message.utf8.count
        case .prepared: nil
        }
    }

    /// The most bytes of a message. Firefox on Android gets its pushes in a message of Google's, which has
    /// room for no more.
    package var payloadLimit: Int { WebPushRequest.longestMessage }

    package func nobody(on platform: Platform) -> DeviceToken { WebPushSubscription.nobody }
}
