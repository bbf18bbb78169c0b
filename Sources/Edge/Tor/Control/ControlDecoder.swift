import Encodings

/// Cuts what tor's control port sends into whole replies and events.
///
/// A line is three digits, a separator and text, ended by CRLF. ` ` ends the message, `-` announces another line, `+`
/// announces data lines up to a line with a single dot. Drained after every read, it holds at most one unfinished
/// message and one read.
package struct ControlDecoder {
    /// The most bytes of a line without CRLF. Tor's longest lines are those of descriptors, under 10 kB.
    package let lineLimit: Int
    /// The most bytes of a whole message, each line counted with what it costs to keep it.
    package let replyLimit: Int

    private var unread: [UInt8] = []
    /// The place in `unread` before which everything has been handed on.
    private var start = 0
    /// The place in `unread` before which there is no further line feed.
    private var searched = 0

    private var lines: [ControlReply.Line] = []
    /// Data lines of the last of `lines`, while they come in.
    private var data: [UInt8]?
    private var replySize = 0
    private var failure: ControlSyntaxError?
    /// Whether the data of the next reply are tor's circuits: these are read one by one, since there may be more of them than
    /// a reply has room for.
    var readsCircuits = false
    private var circuits = CircuitBook()
    /// The most circuits of a reply.
    static let mostCircuits = 100_000
    /// The end of the first line that is looked at. What comes before that line is passed over. `nil`: nothing is.
    private var endOfFirstLine: [UInt8]?

    private static let costPerLine = 64

    package init(lineLimit: Int = 64 << 10, replyLimit: Int = 1 << 20) {
        self.lineLimit = lineLimit
        self.replyLimit = replyLimit
    }

    /// Makes a decoder of a connection on which others have read to an unknown place.
    init(endOfFirstLine: String) {
        self.init()
        self.endOfFirstLine = Array(endOfFirstLine.utf8)
    }

    /// Whether nothing unfinished lies in it.
    var isEmpty: Bool { start == unread.count && lines.isEmpty && data == nil }

    package mutating func append(_ bytes: RawSpan) {
        unread.removeSubrange(..<start)
        searched -= start
        start = 0
        bytes.withUnsafeBytes { unread.append(contentsOf: $0) }
    }

    /// Returns the next whole message, or `nil` until ``append(_:)`` has brought the rest.
    ///
    /// - Throws: ``ControlSyntaxError``, and the same one again on every later call.
    package mutating func next() throws(ControlSyntaxError) -> ControlReply? {
        if let failure { throw failure }
        do {
            while let line = try nextLine() {
                if let end = endOfFirstLine {
                    guard line.suffix(end.count).elementsEqual(end) else { continue }
                    endOfFirstLine = nil
                }
                if let reply = try take(line) { return reply }
            }
            return nil
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func nextLine() throws(ControlSyntaxError) -> ArraySlice<UInt8>? {
        guard let end = unread[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = unread.count
            try checkLength(to: searched)
            return nil
        }
        try checkLength(to: end)
        defer {
            start = end + 1
            searched = start
        }
        guard end > start, unread[end - 1] == UInt8(ascii: "\r") else {
            // The rest of a line whose beginning others have read.
            if endOfFirstLine != nil { return [] }
            throw .bareLineFeed
        }
        return unread[start..<end - 1]
    }

    /// Checks the length of a line: one byte more than the limit may be the carriage return.
    private func checkLength(to end: Int) throws(ControlSyntaxError) {
        guard end - start <= lineLimit + 1 else { throw .lineTooLong(limit: lineLimit) }
    }

    /// Adds a line; returns the message when that line ends it.
    private mutating func take(_ line: ArraySlice<UInt8>) throws(ControlSyntaxError) -> ControlReply? {
        if data != nil, readsCircuits, line.first != UInt8(ascii: ".") {
            guard circuits.circuits < Self.mostCircuits else { throw .replyTooLong(limit: replyLimit) }
            circuits.take(line.span)
            return nil
        }
        replySize += line.count + Self.costPerLine
        guard replySize <= replyLimit else { throw .replyTooLong(limit: replyLimit) }
        if data != nil {
            takeData(line)
            return nil
        }
        guard line.count >= 4, let code = Self.code(line.prefix(3)) else { throw .notAReplyLine }
        if let first = lines.first, (first.code == 650) != (code == 650) { throw .eventInsideReply }
        lines.append(.init(code: code, text: String(decoding: line.dropFirst(4), as: UTF8.self)))
        switch line[line.startIndex + 3] {
        case UInt8(ascii: "-"):
            // One alone has no line of its own.
            let key = Array("circuit-status=".utf8)
            if readsCircuits, line.dropFirst(4).starts(with: key) {
                let rest = line.dropFirst(4 + key.count)
                circuits.take(rest.span)
            }
            return nil
        case UInt8(ascii: "+"):
            data = []
            return nil
        case UInt8(ascii: " "):
            let reply = ControlReply(lines, circuits)
            (lines, circuits) = ([], CircuitBook())
            replySize = 0
            return reply
        default:
            throw .notAReplyLine
        }
    }

    private mutating func takeData(_ line: ArraySlice<UInt8>) {
        let dot = UInt8(ascii: ".")
        if line.count == 1, line.first == dot {
            lines[lines.count - 1].data = String(decoding: data!.dropLast(), as: UTF8.self)
            data = nil
        } else {
            data!.append(contentsOf: line.first == dot ? line.dropFirst() : line)
            data!.append(UInt8(ascii: "\n"))
        }
    }

    private static func code(_ digits: ArraySlice<UInt8>) -> UInt16? {
        var code: UInt16 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            code = code * 10 + UInt16(digit - UInt8(ascii: "0"))
        }
        return code >= 100 ? code : nil
    }
}
