import Encodings

/// Asks the node to hand one notification to a push service. Its fields are explained in `onionbell.proto`.
package struct MobileNotificationRequest: Hashable, Sendable {
    static let number: UInt32 = 1001

    @ByteText package var uid = ""
    /// The address that the sender claims to have, for the network's own use. Never stored.
    package var senderNodeAddress: NodeAddress?
    /// The number as sent; ``Platform`` if it is known.
    package var platformNumber: Int32 = 0
    @ByteText package var app = ""
    @ByteText package var deviceToken = ""
    @ByteText package var message = ""
    package var isUrgent = false
    package var hasSound = false
    package var isMutableContent = false
    package var isContentAvailable = false
    /// Milliseconds since 1970; 0: the node's default.
    package var expiresAt: Int64 = 0
    package var awaitsOutcome = false
    /// How many relays have handed it on.
    package var hops: UInt32 = 0

    package init() {}

    package var platform: Platform? {
        get { Platform(rawValue: platformNumber) }
        set { platformNumber = newValue?.rawValue ?? 0 }
    }
}

/// The answer to a request: one at once, and one more at the end if the request asked for it. The answer to a request to
/// hold a reply has the same fields under another number.
package struct MobileNotificationResponse: Hashable, Sendable {
    static let number: UInt32 = 1002

    package enum Status: Int32, CaseIterable, Sendable {
        case stored = 1
        case delivered = 2
        case refused = 3
        case tokenDead = 4
        case expired = 5
        case busy = 6
    }

    @ByteText package var requestUid = ""
    /// The number as sent; ``Status`` if it is known.
    package var statusNumber: Int32 = 0
    @ByteText package var reason = ""
    /// The least time to wait, with ``Status/busy``.
    package var retryAfterMilliseconds: Int64 = 0

    package init() {}

    package init(
        requestUid: String, status: Status, reason: String = "", retryAfterMilliseconds: Int64 = 0
    ) {
        self.requestUid = requestUid
        self.statusNumber = status.rawValue
        self.reason = reason
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    package var status: Status? { Status(rawValue: statusNumber) }
}

extension MobileNotificationRequest: ProtoMessage {
    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.string(1, &uid, in: bytes)
        try fields.message(2, &senderNodeAddress, in: bytes)
        try fields.int32(3, &platformNumber, in: bytes)
        try fields.string(4, &app, in: bytes)
        try fields.string(5, &deviceToken, in: bytes)
        try fields.string(6, &message, in: bytes)
        try fields.bool(7, &isUrgent, in: bytes)
        try fields.bool(8, &hasSound, in: bytes)
        try fields.bool(9, &isMutableContent, in: bytes)
        try fields.bool(10, &isContentAvailable, in: bytes)
        try fields.int64(11, &expiresAt, in: bytes)
        try fields.bool(12, &awaitsOutcome, in: bytes)
        var hops = UInt64(hops)
        try fields.uint64(13, &hops, in: bytes)
        self.hops = UInt32(truncatingIfNeeded: hops)
    }
}

extension MobileNotificationResponse: ProtoMessage {
    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.string(1, &requestUid, in: bytes)
        try fields.int32(2, &statusNumber, in: bytes)
        try fields.string(3, &reason, in: bytes)
        try fields.int64(4, &retryAfterMilliseconds, in: bytes)
    }
}
