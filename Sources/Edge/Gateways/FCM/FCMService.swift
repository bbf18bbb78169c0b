import Encodings
import Relay

/// Google's push service, as the core sees it.
package struct FCMService: PushService {
    /// Whether the block is added that the system shows by itself.
    private let withNotification: Bool

    package init(withNotification: Bool) { self.withNotification = withNotification }

    package var name: String { "fcm" }

    package func serves(_ platform: Platform) -> Bool { platform == .android }

    package func target(_ address: String, on platform: Platform) -> Target? {
        DeviceToken(opaque: address).map { Target($0) }
    }

    /// Counts the bytes of keys and values; Google takes 4,096 (Firebase, "About FCM messages"). Doors that
    /// make a payload count it.
    package func payloadSize(of content: Content) -> Int? {
        switch content {
        case .bisq(let content): FCMMessage.payloadSize(content, withNotification: withNotification)
        case .prepared(let push):
            switch push.payload {
            case .members(let body), .exact(_, let body): body.utf8.count
            case .object: nil
            }
        }
    }

    package func nobody(on platform: Platform) -> DeviceToken { .opaqueOfNobody }
}
