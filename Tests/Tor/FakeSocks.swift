import Reactor

@EventLoop
final class Changing<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// A SOCKS5 proxy with a login that answers each request with the code it is told, if it is.
@EventLoop
final class FakeSocks: StreamHandler {
    struct Request {
        var user: String
        var host: String
        var port: UInt16
    }

    private(set) var requests: [Request] = []
    private let code: @EventLoop (_ request: Int) -> UInt8?
    /// Hosts that nothing comes through to.
    var refusing: @EventLoop (_ host: String) -> Bool = { _ in false }
    private var listener: Listener!
    private var streams: [ObjectIdentifier: (stream: Reactor.Stream, user: String?)] = [:]

    var endpoint: Endpoint { listener.endpoint }

    init(code: @escaping @EventLoop (_ request: Int) -> UInt8?) throws {
        self.code = code
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
            stream.handler = self
            streams[ObjectIdentifier(stream)] = (stream, nil)
        }
    }

    /// Each of the client's three messages comes in one read: it waits for the answer to the one before.
    func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
        let bytes = bytes.withUnsafeBytes { Array($0) }
        let id = ObjectIdentifier(stream)
        if bytes[0] == 1 {
            let user = bytes[2..<2 + Int(bytes[1])]
            streams[id]?.user = String(decoding: user, as: UTF8.self)
            stream.write([1, 0])
        } else if bytes.count == 3 {
            stream.write([5, 2])
        } else {
            let host = String(decoding: bytes[5..<5 + Int(bytes[4])], as: UTF8.self)
            let port = UInt16(bytes[bytes.count - 2]) << 8 | UInt16(bytes[bytes.count - 1])
            requests.append(
                Request(
                    user: streams[id]?.user ?? "", host: host, port: port))
            if let code = refusing(host) ? 4 : code(requests.count) {
                stream.write([5, code, 0, 1, 0, 0, 0, 0, 0, 0])
            }
        }
    }

    func stream(_ stream: Reactor.Stream, ended end: StreamEnd) { streams[ObjectIdentifier(stream)] = nil }
}
