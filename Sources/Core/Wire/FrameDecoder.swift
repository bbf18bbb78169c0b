/// Why a stream of frames can't go on: its boundaries are lost, or the next frame is too large to hold.
package enum FrameError: Error, Equatable {
    /// The length has not ended after ``FrameDecoder/maximumPrefixLength`` bytes.
    case overlongPrefix
    case tooLong(length: UInt64, maximum: Int)
}

/// Cuts a peer's byte stream into frames: a varint length, then that many bytes.
///
/// A length over the limit is refused as soon as its last byte is read, before any of the body is held. A frame
/// that lies whole within a read is found where it is, without a copy; only a frame that is cut by the end of a
/// read has a buffer, which grows with what came of it, never beyond its announced length, and goes away with it.
/// So an idle connection holds nothing here, and any sequence of reads costs time in proportion to its bytes.
///
/// Format: protobuf's delimited messages (Bisq 1, `ProtoOutputStream.java`).
package struct FrameDecoder {
    /// Enough for 32 bits. Longer ones are for lengths nobody may send, or padded.
    package static let maximumPrefixLength = 5
    /// The most bytes of a frame's body where nothing else is set: a limit of the node's own (`peers.frame_bytes`), not of
    /// Bisq's protocol.
    package static let usualMaximumLength = 65_536

    /// The place of the next whole frame.
    package enum Frame {
        /// The frame is in the bytes of this read.
        case within(Range<Int>)
        /// The frame is put together from several reads.
        case assembled([UInt8])
    }

    /// Bytes of a frame's body.
    package let maximumLength: Int

    private var state = State.prefix(value: 0, size: 0)

    private enum State {
        /// The first bytes of a length, as far as they say.
        case prefix(value: UInt64, size: Int)
        /// The first bytes of a body of `length`, at least one of which is still to come.
        case body([UInt8], length: Int)
    }

    package init(maximumLength: Int) {
        precondition(maximumLength >= 0, "a frame can't be \(maximumLength) bytes long")
        self.maximumLength = maximumLength
    }

    /// Whether a frame has begun and not ended.
    package var isIncomplete: Bool {
        switch state {
        case .prefix(_, let size): size > 0
        case .body: true
        }
    }

    /// Bytes that are kept of a frame that is not whole.
    package var heldBytes: Int {
        switch state {
        case .prefix: 0
        case .body(let body, _): body.capacity
        }
    }

    /// Takes the next whole frame from `position` on, which moves behind it; `nil` when `bytes` are used up.
    ///
    /// - Throws: ``FrameError``. Close the connection; the decoder must not be used again.
    package mutating func nextFrame(
        in bytes: Span<UInt8>, from position: inout Int
    ) throws(FrameError) -> Frame? {
        switch state {
        case .prefix(var value, var size):
            while position < bytes.count {
                let byte = bytes[position]
                position += 1
                value |= UInt64(byte & 0x7f) << UInt64(7 * size)
                size += 1
                if byte < 0x80 { return try body(length: value, in: bytes, from: &position) }
                guard size < Self.maximumPrefixLength else { throw .overlongPrefix }
            }
            state = .prefix(value: value, size: size)
            return nil
        case .body(var body, let length):
            state = .prefix(value: 0, size: 0)  // `body` is the only owner now, and grows in place
            return append(to: &body, length: length, in: bytes, from: &position)
        }
    }

    private mutating func body(
        length: UInt64, in bytes: Span<UInt8>, from position: inout Int
    ) throws(FrameError) -> Frame? {
        guard length <= UInt64(maximumLength) else { throw .tooLong(length: length, maximum: maximumLength) }
        let end = position + Int(length)
        guard end <= bytes.count else {
            var body: [UInt8] = []
            return append(to: &body, length: Int(length), in: bytes, from: &position)
        }
        defer { position = end }
        state = .prefix(value: 0, size: 0)
        return .within(position..<end)
    }

    private mutating func append(
        to body: inout [UInt8], length: Int, in bytes: Span<UInt8>, from position: inout Int
    ) -> Frame? {
        let count = min(length - body.count, bytes.count - position)
        if body.count + count > body.capacity {
            // Doubling keeps the cost linear; the announced length is a stranger's word and reserves nothing.
            body.reserveCapacity(min(length, max(body.count + count, 2 * body.count)))
        }
        body.append(addingCapacity: count) { output in
            for index in position..<position + count { output.append(bytes[index]) }
        }
        position += count
        guard body.count == length else {
            state = .body(body, length: length)
            return nil
        }
        return .assembled(body)
    }
}
