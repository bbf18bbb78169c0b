import Encodings

/// The request to hold one reply until it is fetched. Its fields are explained in `onionbell.proto`.
package struct MobileReplyRequest: Hashable, Sendable {
    static let number: UInt32 = 1003
    /// The number of its answer, a ``MobileNotificationResponse`` (`MobileReplyResponse` in `onionbell.proto`).
    static let responseNumber: UInt32 = 1004

    @ByteText package var uid = ""
    @ByteText package var mailbox = ""
    @ByteText package var channel = ""
    package var sealed: [UInt8] = []

    package init() {}
}

/// Asks for the replies of a channel, and says which ones were taken.
package struct MobileReplyFetch: Hashable, Sendable {
    static let number: UInt32 = 1005

    @ByteText package var uid = ""
    @ByteText package var mailbox = ""
    @ByteText package var channel = ""
    /// The number of the last one that was taken; 0: none.
    package var acknowledged: Int64 = 0
    /// How long the node may wait for one to come.
    package var waitMilliseconds: Int64 = 0

    package init() {}
}

/// The replies that lie in a channel, or why there are none to be had.
package struct MobileReplies: Hashable, Sendable {
    static let number: UInt32 = 1006

    package struct Reply: Hashable, Sendable, ProtoPart {
        package var number: Int64 = 0
        package var sealed: [UInt8] = []

        package init() {}

        package init(number: Int64, sealed: [UInt8]) {
            (self.number, self.sealed) = (number, sealed)
        }

        package mutating func list<Fields: ProtoFields>(
            for fields: inout Fields, in bytes: Span<UInt8>
        ) throws(Fields.Failure) {
            try fields.int64(1, &number, in: bytes)
            try fields.data(2, &sealed, in: bytes)
        }
    }

    @ByteText package var requestUid = ""
    package var replies: [Reply] = []
    /// The reason why there are no replies to be had; empty: these are all.
    @ByteText package var reason = ""

    package init() {}

    package init(requestUid: String, replies: [Reply] = [], reason: String = "") {
        self.requestUid = requestUid
        self.replies = replies
        self.reason = reason
    }
}

extension MobileReplyRequest: ProtoMessage {
    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.string(1, &uid, in: bytes)
        try fields.string(2, &mailbox, in: bytes)
        try fields.string(3, &channel, in: bytes)
        try fields.data(4, &sealed, in: bytes)
    }
}

extension MobileReplyFetch: ProtoMessage {
    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.string(1, &uid, in: bytes)
        try fields.string(2, &mailbox, in: bytes)
        try fields.string(3, &channel, in: bytes)
        try fields.int64(4, &acknowledged, in: bytes)
        try fields.int64(5, &waitMilliseconds, in: bytes)
    }
}

extension MobileReplies: ProtoMessage {
    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.string(1, &requestUid, in: bytes)
        try fields.messages(2, &replies, in: bytes)
        try fields.string(3, &reason, in: bytes)
    }
}
