import Encodings

/// Cuts a client's byte stream into requests, one at a time.
///
/// Drained after every read it holds one incomplete request at most, and nothing between requests. What can be refused
/// early is refused early: a length over the limit before its body, a request line before the fields, a control byte
/// before the end of its line. Requests that came in the same read stay until they are asked for: a server that
/// answers before it asks again, and reads nothing meanwhile, is safe from pipelining.
///
/// Format: RFC 9112, read strictly; each refusal is a ``HTTPFault``.
package struct HTTPRequestDecoder {
    package let limits: HTTPLimits
    private let isSecure: Bool
    /// A client waits for `100 Continue` before it sends its body. The server sends it, or a refusal, and resets this.
    package var isContinueExpected = false

    private var unread: ArraySlice<UInt8> = []
    private var state = State.head(HTTPHeadScanner())
    private var hasSkippedEmptyLine = false
    private var fault: HTTPFault?

    private enum State {
        case head(HTTPHeadScanner)
        /// Apart: most connections wait for a head, and there are many.
        indirect case body(HTTPRequest, HTTPBodyDecoder)
    }

    /// Makes a decoder; `isSecure` says whether the bytes come over TLS.
    package init(limits: HTTPLimits = HTTPLimits(), isSecure: Bool = false) {
        self.limits = limits
        self.isSecure = isSecure
    }

    /// Whether a request has begun and is not whole: its deadline runs.
    package var isWithinRequest: Bool {
        if case .body = state { true } else { !unread.isEmpty || hasSkippedEmptyLine }
    }

    /// The state of a decoder between two reads.
    package struct Standing {
        /// Whether a request has begun and is not whole: its deadline runs.
        package var isWithinRequest = false
        /// Bytes of requests that are not taken yet.
        package var heldBytes = 0

        package init() {}
    }

    private var standing: Standing {
        var standing = Standing()
        standing.isWithinRequest = isWithinRequest
        standing.heldBytes = unread.count
        if case .body(let request, _) = state { standing.heldBytes += request.body.capacity }
        return standing
    }

    @discardableResult
    package mutating func append(_ bytes: RawSpan) -> Standing {
        if fault == nil { unread.append(bytes) }
        return standing
    }

    /// Returns the next whole request, as ``next()`` does.
    ///
    /// - Parameters:
    ///   - standing: What it holds afterwards.
    ///   - bodyLimit: Asked by the head of a request for another limit of its body; `nil`: the usual one.
    package mutating func next(
        leaving standing: inout Standing, bodyLimit: ((HTTPRequest) -> Int?)? = nil
    ) throws(HTTPFault) -> HTTPRequest? {
        let request = try next(bodyLimit)
        standing = self.standing
        return request
    }

    /// Returns the next whole request, or `nil` until ``append(_:)`` has brought the rest.
    ///
    /// - Throws: ``HTTPFault``, the same again if asked again. Answer its status and close.
    package mutating func next() throws(HTTPFault) -> HTTPRequest? { try next(nil) }

    private mutating func next(
        _ bodyLimit: ((HTTPRequest) -> Int?)?
    ) throws(HTTPFault) -> HTTPRequest? {
        if let fault { throw fault }
        do throws(HTTPFault) {
            return try decodeNext(bodyLimit)
        } catch {
            fault = error
            unread = []
            throw error
        }
    }

    private mutating func decodeNext(
        _ bodyLimit: ((HTTPRequest) -> Int?)?
    ) throws(HTTPFault) -> HTTPRequest? {
        var request: HTTPRequest
        var framing = HTTPBodyDecoder.length(0)
        switch state {
        case .head(let scanner):
            guard let begun = try decodeHead(scanner, bodyLimit, &framing) else {
                if unread.startIndex > 0 { unread = ArraySlice(Array(unread)) }
                return nil
            }
            request = begun
        case .body(let begun, let rest): (request, framing) = (begun, rest)
        }
        // Emptied first, so that the body grows in place instead of being copied with each read.
        state = .head(HTTPHeadScanner())
        let isWhole = try framing.take(from: &unread, into: &request.body)
        if unread.isEmpty { unread = [] }
        guard isWhole else {
            state = .body(request, framing)
            return nil
        }
        isContinueExpected = false
        hasSkippedEmptyLine = false
        return request
    }

    private mutating func decodeHead(
        _ scanner: HTTPHeadScanner, _ bodyLimit: ((HTTPRequest) -> Int?)?, _ framing: inout HTTPBodyDecoder
    ) throws(HTTPFault) -> HTTPRequest? {
        var scanner = scanner
        // One empty line before a request is the rest of an older client's body (RFC 9112, section 2.2).
        if !hasSkippedEmptyLine, unread.starts(with: [0x0D, 0x0A]) {
            unread.removeFirst(2)
            hasSkippedEmptyLine = true
            scanner = HTTPHeadScanner()
        }
        guard let first = unread.first else {
            state = .head(scanner)
            return nil
        }
        guard first.isTokenByte || first == 0x0D && unread.count == 1 && !hasSkippedEmptyLine else {
            throw .badStartLine
        }
        let length: Int?
        do throws(HTTPFault) {
            length = try scanner.headLength(in: unread, limits: limits)
        } catch {
            // The request line comes first: the answer must not depend on how much of the rest came with it.
            _ = try requestLine(scanner)
            throw error
        }
        let line = try requestLine(scanner)
        guard let length, let line, let end = scanner.startLineEnd else {
            state = .head(scanner)
            return nil
        }
        let head = try HTTPHead(unread.prefix(length).dropFirst(end + 2), limits: limits)
        let request = try HTTPRequest(line, head.fields)
        framing = try head.framing(limit: bodyLimit?(request) ?? limits.body) ?? .length(0)
        unread.removeFirst(length)
        if let expectation = request.fields["expect"] {
            guard expectation.word() == "100-continue" else { throw .unknownExpectation }
            // A client of HTTP/1.0 knows no interim answers (RFC 9110, section 10.1.1).
            isContinueExpected = unread.isEmpty && !line.isOld
        }
        return request
    }

    /// Reads the request line; `nil` until it has come whole.
    private func requestLine(_ scanner: HTTPHeadScanner) throws(HTTPFault) -> HTTPRequestLine? {
        guard let end = scanner.startLineEnd else { return nil }
        return try HTTPRequestLine(unread.prefix(end), isSecure: isSecure)
    }
}
