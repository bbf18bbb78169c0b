import Encodings

/// One request: what a client sent, or what we are about to send as one.
package struct HTTPRequest: Equatable, Sendable {
    /// The method as sent: methods tell upper from lower case.
    package var method: String
    /// The path as sent, still percent-encoded: from the first slash up to the question mark; `*` for the
    /// server as a whole.
    package var path: String
    /// The query as sent, still percent-encoded, without the question mark; `nil` where there is none.
    package var query: String?
    package var fields: HTTPFields
    package var body: [UInt8]
    /// Whether the client takes further answers on this connection.
    package var isKeptAlive: Bool
    /// The number by which the server tells senders apart: one for each circuit, address or connection; 0:
    /// not known.
    package var sender = 0

    /// Returns the request as a client sends it to `host` (with its port, if it isn't the scheme's own).
    ///
    /// The caller's method, path and fields are its own words: free of line breaks.
    package func encoded(host: String) -> [UInt8] {
        var text = "\(method) \(path)\(query.map { "?" + $0 } ?? "") HTTP/1.1\r\nHost: \(host)\r\n"
        for field in fields.all { text += "\(field.name): \(field.value)\r\n" }
        if !isKeptAlive { text += "Connection: close\r\n" }
        if !body.isEmpty { text += "Content-Length: \(body.count)\r\n" }
        return Array((text + "\r\n").utf8) + body
    }
}

// By the memberwise initializer: a value that one of our own fills is copied once more as a whole, and dropped.
extension HTTPRequest {
    package init(
        method: String, path: String, query: String? = nil, fields: HTTPFields = HTTPFields(),
        body: [UInt8] = [],
        isKeptAlive: Bool = true
    ) {
        self.init(
            method: method, path: path, query: query, fields: fields, body: body, isKeptAlive: isKeptAlive,
            sender: 0)
    }

    init(_ line: HTTPRequestLine, _ fields: HTTPFields) throws(HTTPFault) {
        let hosts = fields.count(of: "host")
        guard hosts == 1 || hosts == 0 && line.isOld,
            fields.withValue(of: "host", HTTPRequestLine.isHost)
        else { throw .badHost }
        var fields = fields
        if let authority = line.authority { fields.replace("host", by: authority) }
        guard !line.isOld || fields.count(of: "transfer-encoding") == 0 else { throw .unknownTransferCoding }
        self.init(
            method: line.method, path: line.path, query: line.query, fields: fields,
            isKeptAlive: line.isOld
                ? fields.list("connection", contains: "keep-alive")
                : !fields.list("connection", contains: "close"))
    }
}
