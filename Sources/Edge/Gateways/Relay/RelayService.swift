import Encodings
import Relay

/// Another relay, as the core sees it.
///
/// A lane for each platform, since the other relay has a gateway for each: one that is down holds up no other.
package struct RelayService: PushService {
    private let form: RelayForm

    /// The length of the longest token. Longer ones don't pass the proxy in front of Bisq's relay.
    static let longestToken = 1024

    package init(form: RelayForm) { self.form = form }

    package var name: String { "relay" }

    /// Whether the service serves a platform: the POST form can't tell Apple's sandbox from its production.
    package func serves(_ platform: Platform) -> Bool { platform != .iosDev || form != .bisq2 }

    package func target(_ address: String, on platform: Platform) -> Target? {
        let token = platform == .android ? DeviceToken(opaque: address) : DeviceToken(hexadecimal: address)
        guard let token, token.text.utf8.count <= RelayService.longestToken else { return nil }
        return Target(token, at: RelayService.host(of: platform))
    }

    static func host(of platform: Platform) -> LaneHost {
        switch platform {
        case .ios: .ios
        case .iosDev: .sandbox
        case .android: .android
        }
    }

    /// Counts the bytes of the payload that the other relay makes. Apple's is the larger one, with all that
    /// may be in it: for both 4,096.
    package func payloadSize(of content: Content) -> Int? {
        guard case .bisq(var content) = content else { return nil }
        content.isUrgent = true
        content.isContentAvailable = true
        content.isMutableContent = true
        return APNsRequest.payloadSize(content)
    }

    package var handsOn: Bool { true }
    /// Whether the service answers soon: never, since a relay is asked over Tor, and answers only when
    /// another service has answered.
    package var answersSoon: Bool { false }

    package func nobody(on platform: Platform) -> DeviceToken {
        platform == .android ? .opaqueOfNobody : .hexadecimalOfNobody
    }
}

extension LaneHost {
    static let ios = LaneHost("ios")
    static let android = LaneHost("android")
}
