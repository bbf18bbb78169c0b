/// Why a stream of messages can't go on.
package enum MessageStreamError: Error, Equatable, Sendable {
    /// A length of nothing, or over the limit: refused before any of it is held.
    case badLength(UInt32)
}

/// Cuts a stream into messages: four bytes, the length, big-endian and not 0; then that many bytes.
///
/// It holds at most one message, and no more of it than has come. The form is this project's own: Status' servers have
/// no stream.
package struct MessageStream: Sendable {
    /// A registration with a thousand contacts and a thousand muted chats has about 135 kB.
    package static let longest = 1 << 20

    package let maximumLength: Int
    private var length: UInt32 = 0
    private var lengthBytes = 0
    private var body: [UInt8] = []

    package init(maximumLength: Int = MessageStream.longest) { self.maximumLength = maximumLength }

    /// Whether a message has begun and not ended.
    package var isIncomplete: Bool { lengthBytes > 0 }
    /// Bytes that are kept of a message that is not whole.
    package var heldBytes: Int { body.capacity }

    /// Takes the next whole message from `position` on, which
    /// moves behind it; `nil` when `bytes` are used up.
    ///
    /// - Throws: Close the connection; the stream must not be used again.
    package mutating func next(
        in bytes: Span<UInt8>, from position: inout Int
    ) throws(MessageStreamError) -> [UInt8]? {
        while lengthBytes < 4, position < bytes.count {
            length = length << 8 | UInt32(bytes[position])
            lengthBytes += 1
            position += 1
            if lengthBytes == 4, !(1...maximumLength).contains(Int(length)) { throw .badLength(length) }
        }
        guard lengthBytes == 4 else { return nil }
        let count = min(Int(length) - body.count, bytes.count - position)
        body.reserveCapacity(min(Int(length), max(body.count + count, 2 * body.count)))
        for offset in position..<position + count { body.append(bytes[offset]) }
        position += count
        guard body.count == Int(length) else { return nil }
        let message = body
        body = []
        (length, lengthBytes) = (0, 0)
        return message
    }

    /// Returns the length that goes before a message.
    package static func prefix(of message: [UInt8]) -> [UInt8] {
        let length = UInt32(message.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
    }
}
