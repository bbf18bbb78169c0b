/// The message that an envelope carries.
package enum Message: Hashable, Sendable {
    case ping(Ping)
    case pong(Pong)
    case closeConnection(CloseConnectionMessage)
    /// The entries that have a meaning, in order. Those that Bisq could not resolve either are left out.
    case bundle([Envelope])
    /// A bundle within a bundle. Not read.
    case nestedBundle
    case getPeersRequest(GetPeersRequest)
    case getPeersResponse(GetPeersResponse)
    case notificationRequest(MobileNotificationRequest)
    case notificationResponse(MobileNotificationResponse)
    case replyRequest(MobileReplyRequest)
    case replyResponse(MobileNotificationResponse)
    case replyFetch(MobileReplyFetch)
    case replies(MobileReplies)
    /// A message of Bisq's that has no use here.
    case swallowed(SwallowedMessage)
    /// A number that neither Bisq nor this protocol resolves: not in the schema, or there but retired.
    case unknown(number: Int32)
    case missing
}

/// One message of the peer wire: a version and one message (Bisq 1, `pb.proto`, `NetworkEnvelope`).
package struct Envelope: Hashable, Sendable {
    package var messageVersion: Int32
    package var message: Message

    package init(messageVersion: Int32, message: Message) {
        self.messageVersion = messageVersion
        self.message = message
    }

    /// Reads the body of a frame: the bytes of `range`.
    ///
    /// The last of several members of the oneof counts; the same one again is merged into the first.
    package init(parsing bytes: Span<UInt8>, in range: Range<Int>) throws(ProtoError) {
        self.init(messageVersion: 0, message: .missing)
        var reader = ProtoReader(range)
        while let field = try reader.nextField(in: bytes) {
            try merge(field, isEntry: false, from: &reader, in: bytes)
        }
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        try self.init(parsing: bytes.span, in: 0..<bytes.count)
    }

    /// Appends the envelope as a frame: its length, then its bytes. Fields stand in ascending order.
    ///
    /// - Precondition: a message that can be sent. What was swallowed, unknown or missing can't.
    package func appendFrame(to bytes: inout [UInt8]) {
        var writer = ProtoWriter(appendingTo: bytes.taken())
        // To a method as it is the envelope would be copied.
        writer.delimited { write(to: &$0) }
        bytes = writer.bytes
    }

    package var frame: [UInt8] {
        var bytes: [UInt8] = []
        appendFrame(to: &bytes)
        return bytes
    }

    func write(to writer: inout ProtoWriter) {
        writer.int32(1, messageVersion)
        switch message {
        case .getPeersRequest(let message): writer.message(5, using: message)
        case .getPeersResponse(let message): writer.message(6, using: message)
        case .ping(let message): writer.message(7, using: message)
        case .pong(let message): writer.message(8, using: message)
        case .closeConnection(let message): writer.message(15, using: message)
        case .bundle(let entries):
            writer.message(43) { writer in
                for entry in entries { writer.message(1, entry.write) }
            }
        case .notificationRequest(let message):
            writer.message(MobileNotificationRequest.number, using: message)
        case .notificationResponse(let message):
            writer.message(MobileNotificationResponse.number, using: message)
        case .replyRequest(let message): writer.message(MobileReplyRequest.number, using: message)
        case .replyResponse(let message): writer.message(MobileReplyRequest.responseNumber, using: message)
        case .replyFetch(let message): writer.message(MobileReplyFetch.number, using: message)
        case .replies(let message): writer.message(MobileReplies.number, using: message)
        case .nestedBundle, .swallowed, .unknown, .missing:
            preconditionFailure("an envelope that only a peer could have sent was to be written")
        }
    }
}

extension [UInt8] {
    /// Moves the bytes out, so that the caller is their only owner and appends in place.
    mutating func taken() -> [UInt8] {
        var bytes: [UInt8] = []
        swap(&bytes, &self)
        return bytes
    }
}
