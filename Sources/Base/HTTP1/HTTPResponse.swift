/// One answer: what we send as a server, or got as a client.
package struct HTTPResponse: Equatable, Sendable {
    package var status: Int
    package var fields: HTTPFields
    package var body: [UInt8]
    /// Whether the connection can be used again afterwards.
    package var isKeptAlive: Bool
    /// Whether the client has shown a secret: the server keeps a place for its connection that strangers
    /// don't take.
    package var isForKnown = false

    package init(status: Int, fields: HTTPFields = HTTPFields(), body: [UInt8] = [], isKeptAlive: Bool = true)
    {
        self.status = status
        self.fields = fields
        self.body = body
        self.isKeptAlive = isKeptAlive
    }

    /// Makes an answer of a short plain text.
    package init(status: Int, text: String, isKeptAlive: Bool = true) {
        self.init(status: status, body: Array(text.utf8), isKeptAlive: isKeptAlive)
        fields.append("content-type", "text/plain")
    }

    /// Makes a server's answer to a message that it can't take, after which it closes.
    package init(_ fault: HTTPFault) {
        self.init(status: fault.status, text: fault.description, isKeptAlive: false)
    }

    /// The interim answer 100, for a client that waits for it before it sends a body.
    package static let goOn = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// Appends the answer as a server sends it, with its length and whether the connection stays.
    ///
    /// There is no Date on purpose: it would show an onion service's clock, by which its machine can be recognised.
    /// Field names and values are our own words: free of line breaks.
    ///
    /// - Parameter withBody: false in answer to HEAD: the length stands there and the body is left out.
    package func encode(into output: inout [UInt8], withBody: Bool = true) {
        encodeStart(into: &output)
        // RFC 9110, section 8.6: an answer that never has a body has no length.
        if status != 204 {
            output.append("\r\ncontent-length: ")
            output.append(String(body.count))
        }
        output.append(isKeptAlive ? "\r\nconnection: keep-alive\r\n\r\n" : "\r\nconnection: close\r\n\r\n")
        if withBody { output.append(contentsOf: body) }
    }

    private func encodeStart(into output: inout [UInt8]) {
        output.append("HTTP/1.1 ")
        output.append(HTTPResponse.words(of: status))
        fields.encode(into: &output)
    }

    /// Appends the head of an answer whose body comes in chunks, as long as the connection stays.
    package func encodeHeadOfChunks(into output: inout [UInt8]) {
        encodeStart(into: &output)
        output.append("\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n")
    }

    /// Returns the status and its phrase.
    private static func words(of status: Int) -> String {
        switch status {
        case 200: "200 OK"
        case 201: "201 Created"
        case 202: "202 Accepted"
        case 204: "204 No Content"
        case 400: "400 Bad Request"
        case 401: "401 Unauthorized"
        case 403: "403 Forbidden"
        case 404: "404 Not Found"
        case 405: "405 Method Not Allowed"
        case 408: "408 Request Timeout"
        case 409: "409 Conflict"
        case 410: "410 Gone"
        case 413: "413 Content Too Large"
        case 414: "414 URI Too Long"
        case 415: "415 Unsupported Media Type"
        case 417: "417 Expectation Failed"
        case 422: "422 Unprocessable Content"
        case 429: "429 Too Many Requests"
        case 431: "431 Request Header Fields Too Large"
        case 500: "500 Internal Server Error"
        case 501: "501 Not Implemented"
        case 502: "502 Bad Gateway"
        case 503: "503 Service Unavailable"
        case 505: "505 HTTP Version Not Supported"
        case 508: "508 Loop Detected"
        case _: "\(status) -"
        }
    }
}

extension [UInt8] {
    /// Appends a part of a body (RFC 9112, section 7.1); an empty one is the last.
    package mutating func append(chunk: [UInt8]) {
        append(String(chunk.count, radix: 16))
        append("\r\n")
        append(contentsOf: chunk)
        append("\r\n")
    }

    /// Appends a text in one run: room is made for all its bytes at once.
    mutating func append(_ text: String) { text.withBytes { append($0) } }

    private mutating func append(_ bytes: Span<UInt8>) {
        append(addingCapacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }
}
