import Encodings
import Relay

/// Apple's push service, as the core sees it.
package struct APNsService: PushService {
    package init() {}

    package var name: String { "apns" }

    package func serves(_ platform: Platform) -> Bool { platform != .android }

    package func target(_ address: String, on platform: Platform) -> Target? {
        DeviceToken(hexadecimal: address).map { Target($0, at: platform == .iosDev ? .sandbox : .production) }
    }

    /// Counts the bytes of the body; Apple takes 4,096 (Apple, "Generating a remote notification").
    package func payloadSize(of content: Content) -> Int? {
        switch content {
        case .bisq(let content): APNsRequest.payloadSize(content)
        case .prepared(let push):
            switch push.payload {
            case .object(let body, _), .exact(_, let body): body.utf8.count
            case .members: nil
            }
        }
    }

    package func nobody(on platform: Platform) -> DeviceToken { .hexadecimalOfNobody }
}
