extension Envelope {
    /// Numbers of the oneof that Bisq 1.10.4 resolves run up to here, with these gaps (`CoreNetworkProtoResolver`).
    private static let highestOfBisq: UInt32 = 63
    private static let retired: [UInt32] = [50, 51, 60]

    mutating func merge(
        _ field: ProtoField, isEntry: Bool, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        if field == ProtoField(number: 1, type: .varint) {
            messageVersion = try reader.int32(in: bytes)
            return
        }
        // A member written in another form than its own is an unknown field.
        guard field.type == .lengthDelimited, field.number != 1 else {
            return try reader.skip(field, in: bytes)
        }
        switch field.number {
        case 5: message = .getPeersRequest(try reader.merged(into: message.takeGetPeersRequest(), in: bytes))
        case 6:
            message = .getPeersResponse(try reader.merged(into: message.takeGetPeersResponse(), in: bytes))
        case 7: message = .ping(try reader.merged(into: message.takePing(), in: bytes))
        case 8: message = .pong(try reader.merged(into: message.takePong(), in: bytes))
        case 15: message = .closeConnection(try reader.merged(into: message.takeCloseConnection(), in: bytes))
        case 43: try mergeBundle(isEntry: isEntry, from: &reader, in: bytes)
        case MobileNotificationRequest.number:
            message = .notificationRequest(
                try reader.merged(into: message.takeNotificationRequest(), in: bytes))
        case MobileNotificationResponse.number:
            message = .notificationResponse(
                try reader.merged(into: message.takeNotificationResponse(), in: bytes))
        case MobileReplyRequest.number:
            message = .replyRequest(try reader.merged(into: message.takeReplyRequest(), in: bytes))
        case MobileReplyRequest.responseNumber:
            message = .replyResponse(try reader.merged(into: message.takeReplyResponse(), in: bytes))
        case MobileReplyFetch.number:
            message = .replyFetch(try reader.merged(into: message.takeReplyFetch(), in: bytes))
        case MobileReplies.number:
            message = .replies(try reader.merged(into: message.takeReplies(), in: bytes))
        case 2...Self.highestOfBisq:
            if Self.retired.contains(field.number) {
                try reader.skip(field, in: bytes)
                message = .unknown(number: Int32(field.number))
            } else {
                try mergeSwallowed(field, from: &reader, in: bytes)
            }
        default:
            // Not a member of the oneof as Bisq knows it, so it does not displace one.
            try reader.skip(field, in: bytes)
            if case .missing = message { message = .unknown(number: Int32(field.number)) }
        }
    }

    private mutating func mergeSwallowed(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        let swallowed = message.takeSwallowed(number: field.number)
        guard swallowed.isRead else {
            try reader.skip(field, in: bytes)
            message = .swallowed(swallowed)
            return
        }
        message = .swallowed(try reader.merged(into: swallowed, in: bytes))
    }

    private mutating func mergeBundle(
        isEntry: Bool, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        guard !isEntry else {
            _ = try reader.delimited(in: bytes)
            message = .nestedBundle
            return
        }
        message = .bundle(try reader.merged(into: message.takeBundle(), in: bytes).entries)
    }
}

/// `BundleOfEnvelopes`: entries that nobody resolves are dropped while reading, as in Bisq, so they cost no memory.
private struct BundleReader: ProtoReadable {
    var entries: [Envelope] = []

    package mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        guard field == ProtoField(number: 1, type: .lengthDelimited) else {
            return try reader.skip(field, in: bytes)
        }
        var entry = Envelope(messageVersion: 0, message: .missing)
        var fields = ProtoReader(try reader.delimited(in: bytes))
        while let field = try fields.nextField(in: bytes) {
            try entry.merge(field, isEntry: true, from: &fields, in: bytes)
        }
        switch entry.message {
        case .missing, .unknown: break
        case .ping, .pong, .closeConnection, .bundle, .nestedBundle, .getPeersRequest, .getPeersResponse,
            .notificationRequest, .notificationResponse, .replyRequest, .replyResponse, .replyFetch,
            .replies, .swallowed:
            entries.append(entry)
        }
    }
}

extension ProtoReader {
    /// Reads the embedded message at which the reader stands, merged into what came of it before.
    fileprivate mutating func merged<M: ProtoReadable>(
        into message: consuming M, in bytes: Span<UInt8>
    ) throws(ProtoError) -> M {
        try merge(into: &message, in: bytes)
        return message
    }
}

/// Takes out what was read of a member so far, or an empty one: setting another member forgets the first.
///
/// It is taken out, so that a list in it has one owner and grows in place: a frame can repeat a member thousands of
/// times, and copying the list each time would cost the square of it.
extension Message {
    fileprivate mutating func takePing() -> Ping {
        defer { self = .missing }
        return if case .ping(let message) = self { message } else { Ping() }
    }

    fileprivate mutating func takePong() -> Pong {
        defer { self = .missing }
        return if case .pong(let message) = self { message } else { Pong() }
    }

    fileprivate mutating func takeCloseConnection() -> CloseConnectionMessage {
        defer { self = .missing }
        return if case .closeConnection(let message) = self { message } else { CloseConnectionMessage() }
    }

    fileprivate mutating func takeBundle() -> BundleReader {
        defer { self = .missing }
        return if case .bundle(let entries) = self { BundleReader(entries: entries) } else { BundleReader() }
    }

    fileprivate mutating func takeGetPeersRequest() -> GetPeersRequest {
        defer { self = .missing }
        return if case .getPeersRequest(let message) = self { message } else { GetPeersRequest() }
    }

    fileprivate mutating func takeGetPeersResponse() -> GetPeersResponse {
        defer { self = .missing }
        return if case .getPeersResponse(let message) = self { message } else { GetPeersResponse() }
    }

    fileprivate mutating func takeNotificationRequest() -> MobileNotificationRequest {
        defer { self = .missing }
        return if case .notificationRequest(let message) = self { message } else {
            MobileNotificationRequest()
        }
    }

    fileprivate mutating func takeNotificationResponse() -> MobileNotificationResponse {
        defer { self = .missing }
        return if case .notificationResponse(let message) = self {
            message
        } else {
            MobileNotificationResponse()
        }
    }

    fileprivate mutating func takeReplyRequest() -> MobileReplyRequest {
        defer { self = .missing }
        return if case .replyRequest(let message) = self { message } else { MobileReplyRequest() }
    }

    fileprivate mutating func takeReplyResponse() -> MobileNotificationResponse {
        defer { self = .missing }
        return if case .replyResponse(let message) = self { message } else { MobileNotificationResponse() }
    }

    fileprivate mutating func takeReplyFetch() -> MobileReplyFetch {
        defer { self = .missing }
        return if case .replyFetch(let message) = self { message } else { MobileReplyFetch() }
    }

    fileprivate mutating func takeReplies() -> MobileReplies {
        defer { self = .missing }
        return if case .replies(let message) = self { message } else { MobileReplies() }
    }

    fileprivate mutating func takeSwallowed(number: UInt32) -> SwallowedMessage {
        defer { self = .missing }
        return if case .swallowed(let message) = self, message.number == Int32(number) {
            message
        } else {
            SwallowedMessage(number: number)
        }
    }
}
