/// Cuts a server's byte stream into answers to requests that were sent one after the other (never HEAD or CONNECT).
///
/// Interim answers (1xx) are passed over, but for 101, which ends HTTP on the connection: ``rest`` speaks the other
/// protocol. Holds one incomplete answer at most.
///
/// Format: RFC 9112, read as strictly as requests are.
package struct HTTPResponseDecoder {
    package let limits: HTTPLimits
    private var unread: ArraySlice<UInt8> = []
    private var state = State.head(HTTPHeadScanner())
    /// Interim answers before the present one.
    private var interim = 0

    /// Interim answers before one answer: a server has few things to say before it.
    package static let mostInterim = 16

    private enum State {
        case head(HTTPHeadScanner)
        case body(HTTPResponse, HTTPBodyDecoder)
    }

    package init(limits: HTTPLimits = HTTPLimits()) {
        self.limits = limits
    }

    /// The bytes behind the last whole answer.
    package var rest: [UInt8] { Array(unread) }

    package mutating func append(_ bytes: RawSpan) {
        unread.append(bytes)
    }

    /// Returns the next whole answer, or `nil` until ``append(_:)`` has brought the rest.
    ///
    /// - Throws: ``HTTPFault``. Close the connection.
    package mutating func next() throws(HTTPFault) -> HTTPResponse? {
        while case .head(let scanner) = state {
            guard try decodeHead(scanner) else {
                // Once for each read: a copy for each head would make many of them dear.
                if unread.startIndex > 0 { unread = ArraySlice(Array(unread)) }
                return nil
            }
        }
        guard case .body(var response, var framing) = state else { return nil }
        state = .head(HTTPHeadScanner())
        guard try framing.take(from: &unread, into: &response.body) else {
            state = .body(response, framing)
            return nil
        }
        return response
    }

    /// Takes note that the stream has ended. Returns the answer that was to last until then, or `nil` where
    /// none was begun.
    ///
    /// - Throws: ``HTTPFault/truncated`` if an answer lacks its end.
    package mutating func end() throws(HTTPFault) -> HTTPResponse? {
        if case .body(let response, .untilEnd) = state {
            state = .head(HTTPHeadScanner())
            return response
        }
        guard case .head = state, unread.isEmpty else { throw .truncated }
        return nil
    }

    /// Reads a head, and returns whether it has come whole.
    private mutating func decodeHead(_ scanner: HTTPHeadScanner) throws(HTTPFault) -> Bool {
        var scanner = scanner
        guard let length = try scanner.headLength(in: unread, limits: limits) else {
            state = .head(scanner)
            return false
        }
        guard let end = scanner.startLineEnd else { throw .controlByte }
        let head = try HTTPHead(unread.prefix(length).dropFirst(end + 2), limits: limits)
        let (status, isOld) = try HTTPResponseDecoder.statusLine(unread.prefix(end))
        unread.removeFirst(length)
        guard status >= 200 || status == 101 else {
            interim += 1
            guard interim <= HTTPResponseDecoder.mostInterim else {
                throw .tooManyInterimAnswers(limit: HTTPResponseDecoder.mostInterim)
            }
            state = .head(HTTPHeadScanner())
            return true
        }
        interim = 0
        let framing: HTTPBodyDecoder =
            status == 101 || status == 204 || status == 304
            ? .length(0) : try head.framing(limit: limits.body) ?? .untilEnd(limit: limits.body)
        var isKeptAlive = !isOld && !head.fields.list("connection", contains: "close")
        if case .untilEnd = framing { isKeptAlive = false }
        state = .body(HTTPResponse(status: status, fields: head.fields, isKeptAlive: isKeptAlive), framing)
        return true
    }

    /// Reads `HTTP/1.x NNN[ text]`.
    private static func statusLine(_ line: ArraySlice<UInt8>) throws(HTTPFault) -> (status: Int, isOld: Bool)
    {
        let parts = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2 else { throw .badStartLine }
        let version = parts[0]
        let isOld = try HTTPVersion.isOld(version.span)
        guard parts[1].count == 3, let status = Int(String(decoding: parts[1], as: UTF8.self)),
            (100..<600).contains(status)
        else { throw .badStartLine }
        return (status, isOld)
    }
}
