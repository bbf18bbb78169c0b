import Encodings

/// Takes a body out of the stream, whatever its framing (RFC 9112, sections 6 and 7).
enum HTTPBodyDecoder {
    case length(Int)
    case chunked(HTTPChunkDecoder)
    /// A body until the stream's end: for clients only.
    case untilEnd(limit: Int)

    static func chunked(limit: Int) -> HTTPBodyDecoder { .chunked(HTTPChunkDecoder(limit: limit)) }

    /// Moves what belongs to the body from `unread` to `body`.
    ///
    /// - Returns: whether the body is whole. What is left in `unread` belongs to the next message.
    mutating func take(from unread: inout ArraySlice<UInt8>, into body: inout [UInt8]) throws(HTTPFault)
        -> Bool
    {
        switch self {
        case .length(let length):
            let taken = unread.prefix(length - body.count)
            body.append(contentsOf: taken)
            unread.removeFirst(taken.count)
            return body.count == length
        case .chunked(var decoder):
            defer { self = .chunked(decoder) }
            return try decoder.take(from: &unread, into: &body)
        case .untilEnd(let limit):
            guard body.count + unread.count <= limit else { throw .bodyTooLarge(limit: limit) }
            body.append(contentsOf: unread)
            unread = unread[unread.endIndex...]
            return false
        }
    }
}

/// Chunks: `hex-size[;extension] CRLF data CRLF … 0 CRLF trailers CRLF`. Extensions and trailers are thrown away.
struct HTTPChunkDecoder {
    /// Bound of a size line and of all trailers together, in bytes.
    static let maximumFraming = 4096
    /// Bytes of all size lines so far. Bounded as a whole: one-byte chunks with long extensions are work for nothing.
    private var sizeLineBytes = 0

    let limit: Int
    private var state = State.sizeLine([])

    private enum State {
        case sizeLine([UInt8])
        case data(left: Int)
        /// The two bytes behind a chunk's data: `first` is whether CR is still to come.
        case dataEnd(first: Bool)
        case trailers(line: [UInt8], total: Int)
    }

    init(limit: Int) {
        self.limit = limit
    }

    mutating func take(from unread: inout ArraySlice<UInt8>, into body: inout [UInt8]) throws(HTTPFault)
        -> Bool
    {
        while let byte = unread.first {
            switch state {
            case .data(let left):
                let taken = unread.prefix(left)
                body.append(contentsOf: taken)
                unread.removeFirst(taken.count)
                state = taken.count == left ? .dataEnd(first: true) : .data(left: left - taken.count)
            case .dataEnd(let first):
                guard byte == (first ? 0x0D : 0x0A) else { throw .badChunk }
                unread.removeFirst()
                state = first ? .dataEnd(first: false) : .sizeLine([])
            case .sizeLine(var line):
                state = .sizeLine([])  // so that the line grows in place
                unread.removeFirst()
                sizeLineBytes += 1
                guard sizeLineBytes <= 8 * limit + HTTPChunkDecoder.maximumFraming else { throw .badChunk }
                line.append(byte)
                guard try isWhole(line) else {
                    state = .sizeLine(line)
                    continue
                }
                let size = try size(line.dropLast(2))
                guard size <= limit - body.count else { throw .bodyTooLarge(limit: limit) }
                state = size == 0 ? .trailers(line: [], total: 0) : .data(left: size)
            case .trailers(var line, let total):
                state = .trailers(line: [], total: total)
                unread.removeFirst()
                guard total < HTTPChunkDecoder.maximumFraming else { throw .badChunk }
                line.append(byte)
                let isWhole = try isWhole(line)
                if isWhole, line.count == 2 { return true }
                state = .trailers(line: isWhole ? [] : line, total: total + 1)
            }
        }
        return false
    }

    /// Whether a line has come to its CR LF.
    private func isWhole(_ line: [UInt8]) throws(HTTPFault) -> Bool {
        guard line.count <= HTTPChunkDecoder.maximumFraming, let last = line.last else { throw .badChunk }
        let afterReturn = line.count > 1 && line[line.count - 2] == 0x0D
        guard afterReturn == (last == 0x0A), last == 0x0A || last == 0x0D || !last.isForbiddenInHead else {
            throw .badChunk
        }
        return last == 0x0A
    }

    private func size(_ line: ArraySlice<UInt8>) throws(HTTPFault) -> Int {
        let digits = line.prefix { ASCII.hexDigit($0) == 1 }
        // Blanks before the extension are bad form that some senders have (RFC 9112, section 7.1.1).
        let behind = line[digits.endIndex...].drop { $0 == 0x20 || $0 == 0x09 }
        guard !digits.isEmpty, behind.isEmpty || behind.first == UInt8(ascii: ";") else { throw .badChunk }
        guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16) else {
            throw .bodyTooLarge(limit: limit)
        }
        return size
    }
}
