import Encodings

/// Which phone a notification is for, as numbers on the wire.
package enum MobilePlatform: Int32, CaseIterable, Sendable {
    case ios = 1
    /// Served by Apple's sandbox.
    case iosDev = 2
    case android = 3
}

/// Asks the node to hand one notification to a push service. Its fields are explained in `onionbell.proto`.
package struct MobileNotificationRequest: Hashable, Sendable {
    static let number: UInt32 = 1001

    @ByteText package var uid = ""
    /// A claim, for the network's own use. Never stored.
    package var senderNodeAddress: NodeAddress?
    /// The number as sent; ``MobilePlatform`` if it is known.
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

    package var platform: MobilePlatform? {
        get { MobilePlatform(rawValue: platformNumber) }
        set { platformNumber = newValue?.rawValue ?? 0 }
    }
}

/// What became of a request: at once, and once more at the end if the request asked for it.
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
    /// With ``Status/busy``: how long to wait at least.
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

extension MobileNotificationRequest: ProtoReadable {
    mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        switch (field.number, field.type) {
        case (1, .lengthDelimited): uid = try reader.string(in: bytes)
        case (2, .lengthDelimited): try senderNodeAddress.merge(from: &reader, in: bytes)
        case (3, .varint): platformNumber = try reader.int32(in: bytes)
        case (4, .lengthDelimited): app = try reader.string(in: bytes)
        case (5, .lengthDelimited): deviceToken = try reader.string(in: bytes)
        case (6, .lengthDelimited): message = try reader.string(in: bytes)
        case (7, .varint): isUrgent = try reader.bool(in: bytes)
        case (8, .varint): hasSound = try reader.bool(in: bytes)
        case (9, .varint): isMutableContent = try reader.bool(in: bytes)
        case (10, .varint): isContentAvailable = try reader.bool(in: bytes)
        case (11, .varint): expiresAt = try reader.int64(in: bytes)
        case (12, .varint): awaitsOutcome = try reader.bool(in: bytes)
        case (13, .varint): hops = UInt32(truncatingIfNeeded: try reader.varint(in: bytes))
        default: try reader.skip(field, in: bytes)
        }
    }

    func write(to writer: inout ProtoWriter) {
        writer.string(1, uid)
        if let senderNodeAddress { writer.message(2, senderNodeAddress.write) }
        writer.int32(3, platformNumber)
        writer.string(4, app)
        writer.string(5, deviceToken)
        writer.string(6, message)
        writer.bool(7, isUrgent)
        writer.bool(8, hasSound)
        writer.bool(9, isMutableContent)
        writer.bool(10, isContentAvailable)
        writer.int64(11, expiresAt)
        writer.bool(12, awaitsOutcome)
        writer.int64(13, Int64(hops))
    }
}

extension MobileNotificationResponse: ProtoReadable {
    mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        switch (field.number, field.type) {
        case (1, .lengthDelimited): requestUid = try reader.string(in: bytes)
        case (2, .varint): statusNumber = try reader.int32(in: bytes)
        case (3, .lengthDelimited): reason = try reader.string(in: bytes)
        case (4, .varint): retryAfterMilliseconds = try reader.int64(in: bytes)
        default: try reader.skip(field, in: bytes)
        }
    }

    func write(to writer: inout ProtoWriter) {
        writer.string(1, requestUid)
        writer.int32(2, statusNumber)
        writer.string(3, reason)
        writer.int64(4, retryAfterMilliseconds)
    }
}
