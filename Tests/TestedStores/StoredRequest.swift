import Clocks
import Relay

/// Makes a notification as a commit stores it.
///
/// - Parameter sequence: What the outbox will number it, if all of them are stored in their order.
package func request(
    _ sequence: Int64, identity: UInt64? = nil, identityLow: UInt64 = 1, content: UInt64 = 7,
    token: UInt64 = 1, app: String = "app",
    message: String = "bWVzc2FnZQ==", acceptedAt: UnixTime = 1000
) -> StoreRequest {
    StoreRequest(
        notification: Relay.Notification(
            id: NotificationID(high: UInt64(sequence), low: .max),
            lane: LaneID(app: app, host: sequence.isMultiple(of: 2) ? .sandbox : .production),
            deviceToken: DeviceToken("token-\(token)"), message: message, isUrgent: true, hasSound: false,
            isMutableContent: true,
            isContentAvailable: false, expiresAt: 9_000_000_000_000, acceptedAt: acceptedAt),
        digests: SubmissionDigests(
            token: Digest(high: token, low: token),
            identity: Digest(high: identity ?? UInt64(sequence), low: identityLow),
            content: Digest(high: content, low: 2)))
}
