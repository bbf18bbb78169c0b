import Encodings

/// A message or control frame that comes or goes out over a WebSocket (RFC 6455, section 5). No extension is ever agreed
/// on.
package enum WebSocketMessage: Equatable, Sendable {
    case text(String)
    case ping([UInt8])
    /// A pong with the bytes of the ping that it answers, if it answers one.
    case pong([UInt8])
    /// A close with the code of section 7.4; `nil`: none was given.
    case close(code: UInt16?)

    /// Returns the message as one frame.
    ///
    /// - Parameter mask: Four bytes of chance, which clients have to use and servers must not.
    package func encoded(mask: [UInt8]?) -> [UInt8] {
        let (code, payload): (UInt8, [UInt8]) =
            switch self {
            case .text(let text): (1, Array(text.utf8))
            case .close(let code): (8, code.map { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? [])
            case .ping(let bytes): (9, bytes)
            case .pong(let bytes): (10, bytes)
            }
        return WebSocketMessage.frame(code, payload, mask: mask)
    }

    private static func frame(_ code: UInt8, _ payload: [UInt8], mask: [UInt8]?) -> [UInt8] {
        let count = payload.count
        var frame: [UInt8] = [0x80 | code]
        let bit: UInt8 = mask == nil ? 0 : 0x80
        switch count {
        case ..<126: frame.append(bit | UInt8(count))
        case ..<65536: frame += [bit | 126, UInt8(count >> 8), UInt8(truncatingIfNeeded: count)]
        case _: frame += [bit | 127] + (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
        }
        guard let mask else { return frame + payload }
        return frame + mask + payload.enumerated().map { $0.element ^ mask[$0.offset & 3] }
    }
}

/// Why a WebSocket can't go on: close it with the code.
package enum WebSocketFault: UInt16, Error, Equatable, CustomStringConvertible {
    case form = 1002
    case notText = 1003
    case notUnicode = 1007
    case tooLong = 1009

    package var description: String {
        switch self {
        case .form: "a frame that no WebSocket has"
        case .notText: "a message that is no text"
        case .notUnicode: "a text or a reason that is no UTF-8"
        case .tooLong: "a message that is too long"
        }
    }
}

/// Cuts what comes over a WebSocket into messages; those in several frames are put together.
///
/// Refuses a length over ``limit`` bytes as soon as it is read. Drained after every read, it holds at most one message and
/// one read.
package struct WebSocketDecoder {
    /// Whether frames have to be masked: those of clients are, those of servers are not.
    package let isMasked: Bool
    /// The most bytes of a message.
    package let limit: Int
    private var unread: [UInt8] = []
    /// Bytes at the start of ``unread`` that are decoded. They are removed when more comes, once for all frames of a read.
    private var done = 0
    /// The bytes so far of the message whose last frame has not come.
    private var begun: [UInt8]?

    package init(isMasked: Bool, limit: Int) {
        self.isMasked = isMasked
        self.limit = limit
    }

    package mutating func append(_ bytes: RawSpan) {
        unread.removeFirst(done)
        done = 0
        let bytes = Span<UInt8>(_bytes: bytes)
        unread.append(addingCapacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }

    /// Returns the next whole message, or `nil` until ``append(_:)`` has brought the rest.
    ///
    /// - Throws: ``WebSocketFault``.
    package mutating func next() throws(WebSocketFault) -> WebSocketMessage? {
        while let frame = try nextFrame() {
            switch frame.code {
            case 8:
                return try WebSocketDecoder.close(frame.payload)
            case 9: return .ping(frame.payload)
            case 10: return .pong(frame.payload)
            case 0, 1:
                guard (frame.code == 0) == (begun != nil) else { throw .form }
                guard (begun?.count ?? 0) + frame.payload.count <= limit else { throw .tooLong }
                var whole = begun ?? []
                begun = nil
                whole += frame.payload
                guard frame.isLast else {
                    begun = whole
                    continue
                }
                guard let text = String(validating: whole, as: UTF8.self) else { throw .notUnicode }
                return .text(text)
            case 2: throw .notText
            case _: throw .form
            }
        }
        return nil
    }

    /// Reads the payload of a close frame: a code that may be sent, and a reason in UTF-8, or neither of them
    /// (section 5.5.1).
    private static func close(_ payload: [UInt8]) throws(WebSocketFault) -> WebSocketMessage {
        guard !payload.isEmpty else { return .close(code: nil) }
        guard payload.count > 1 else { throw .form }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        switch code {
        // Section 7.4 and IANA's registry. 1004 to 1006 and 1015 stand for closings without such a frame.
        case 1000...1003, 1007...1014, 3000...4999: break
        case _: throw .form
        }
        guard (try? UTF8Span(validating: payload.span.extracting(droppingFirst: 2))) != nil else {
            throw .notUnicode
        }
        return .close(code: code)
    }

    private mutating func nextFrame() throws(WebSocketFault) -> (
        code: UInt8, isLast: Bool, payload: [UInt8]
    )? {
        let bytes = unread[done...]
        guard bytes.count >= 2 else { return nil }
        let (first, second) = (bytes[done], bytes[done + 1])
        let isControl = first & 8 != 0
        guard first & 0x70 == 0, (second & 0x80 != 0) == isMasked,
            !isControl || first & 0x80 != 0 && second & 0x7F < 126
        else { throw .form }
        var start = done + 2
        var count = Int(second & 0x7F)
        if count >= 126 {
            let digits = count == 126 ? 2 : 8
            guard bytes.count >= 2 + digits else { return nil }
            let length = bytes[start..<start + digits].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            // Each length has one spelling.
            guard length >= (digits == 2 ? 126 : 65536) else { throw .form }
            start += digits
            guard length <= UInt64(limit) else { throw .tooLong }
            count = Int(length)
        }
        guard count <= max(limit, 125) else { throw .tooLong }
        let payloadStart = start + (isMasked ? 4 : 0)
        guard bytes.endIndex >= payloadStart + count else { return nil }
        var payload = Array(bytes[payloadStart..<payloadStart + count])
        if isMasked {
            for index in payload.indices { payload[index] ^= bytes[start + index & 3] }
        }
        done = payloadStart + count
        return (first & 15, first & 0x80 != 0, payload)
    }

    /// Bytes of what has come and is not whole.
    package var heldBytes: Int { unread.count - done + (begun?.count ?? 0) }
}
