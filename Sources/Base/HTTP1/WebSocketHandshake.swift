import Encodings

/// How a connection of HTTP becomes a WebSocket (RFC 6455, section 4).
package enum WebSocketHandshake {
    private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// Returns the text with which the server proves that it has read the client's key.
    package static func acceptance(of key: String, sha1: ([UInt8]) -> [UInt8]) -> String {
        Base64.encode(sha1(Array((key + identifier).utf8)))
    }

    /// Returns the answer to a client's handshake; `nil`: it is none.
    package static func answer(
        to request: HTTPRequest, protocol name: String? = nil, sha1: ([UInt8]) -> [UInt8]
    ) -> [UInt8]? {
        guard request.method == "GET", request.fields.list("upgrade", contains: "websocket"),
            request.fields.list("connection", contains: "upgrade"),
            request.fields["sec-websocket-version"] == "13", let key = request.fields["sec-websocket-key"],
            Base64.decode(key)?.count == 16
        else { return nil }
        let chosen = name.map { "sec-websocket-protocol: \($0)\r\n" } ?? ""
        return Array(
            """
            HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
            sec-websocket-accept: \(acceptance(of: key, sha1: sha1))\r\n\(chosen)\r\n
            """.utf8)
    }
}
