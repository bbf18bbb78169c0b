import Clocks
import Encodings

/// The recipient of a submission: its app, host and device token, checked.
package struct Recipient: Equatable, Sendable {
    package let lane: LaneID
    package let deviceToken: DeviceToken
    /// Whether the recipient is one of the phones of an alias. Its phones share the sender's uid: only uid and phone together
    /// say which notification is meant.
    package let isOfAlias: Bool

    package init(lane: LaneID, deviceToken: DeviceToken, isOfAlias: Bool = false) {
        self.lane = lane
        self.deviceToken = deviceToken
        self.isOfAlias = isOfAlias
    }
}

/// A notification as a door hands it over: translated from its protocol, not yet checked.
package struct Submission: Equatable, Sendable {
    /// The sender's id of this notification, the same on every retry; `nil` where the door's protocol has none.
    package var uid: String?
    /// The phone's platform; `nil` for a platform number that nobody knows.
    package var platform: Platform?
    /// Name of the configured app; empty: the default for the platform.
    package var app: String
    /// The device token as the sender gave it.
    package var deviceToken: DeviceToken
    package var content: Content
    /// The bytes of a prepared push that the gateway counts against its limit; `nil`: the bytes of its body.
    package var payloadSize: Int?
    /// The end of its life; 0: the node's default.
    package var expiresAt: UnixTime
    /// The time when the app last registered this token, by the node's clock;
    /// `nil` where the door keeps no registrations. A token that was called dead before then is alive.
    package var registeredAt: UnixTime?
    /// The number of relays that have handed the notification on before it came here.
    package var hops = 0
    /// Whether the sender comes once only: what is refused is refused at once.
    package var isNeverRepeated = false
    /// Whether the notification waits over its device's rate, and is not turned away: it comes once only, and
    /// its sender takes `stored` for an answer.
    package var mayWait = false
    /// Whether the notification is the node's own (``Notice``).
    package var isNotice = false
    /// How long it may be out before it is stored, where the sender awaits the outcome.
    package var patience = Patience.none
    /// Whether the submission is for one of the phones of an alias: see ``Recipient/isOfAlias``.
    var isOfAlias = false
    /// The sender, set by the endpoint; `nil`: the node itself.
    package var sender: SenderID?
}

// By the memberwise initializer: a value that one of our own fills is copied once more as a whole, and dropped.
extension Submission {
    package init(
        uid: String? = nil, platform: Platform?, app: String = "", deviceToken: String, content: Content,
        payloadSize: Int? = nil, expiresAt: UnixTime = 0, registeredAt: UnixTime? = nil
    ) {
        self.init(
            uid: uid, platform: platform, app: app, deviceToken: DeviceToken(deviceToken), content: content,
            payloadSize: payloadSize, expiresAt: expiresAt, registeredAt: registeredAt)
    }

    /// Makes a submission of Bisq's.
    package init(
        uid: String? = nil, platform: Platform?, app: String = "", deviceToken: String, message: String,
        isUrgent: Bool = false, hasSound: Bool = false, isMutableContent: Bool = false,
        isContentAvailable: Bool = false, expiresAt: UnixTime = 0
    ) {
        self.init(
            uid: uid, platform: platform, app: app, deviceToken: deviceToken,
            content: .bisq(
                BisqContent(
                    message: message, isUrgent: isUrgent, hasSound: hasSound,
                    isMutableContent: isMutableContent, isContentAvailable: isContentAvailable)),
            expiresAt: expiresAt)
    }
}
