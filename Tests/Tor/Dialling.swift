import Lab
import LabParts
import Reactor
import Testing

@testable import Tor

/// A service on loopback that greets whoever connects: what a dialler gets to see of an onion service.
@EventLoop
final class Greeter {
    let words: String
    private var listener: Listener!

    init(_ words: String, on endpoint: Endpoint = .host("127.0.0.1", port: 0)) throws {
        self.words = words
        listener = try Listener(on: endpoint) { stream in
            stream.write(Array(words.utf8))
            stream.closeWhenFlushed()
        }
    }

    var endpoint: Endpoint { listener.endpoint }
}

/// Dials an onion address through a client's SOCKS port, as a peer does: each attempt on a circuit of its own, since tor
/// may let one hang for two minutes when the service has just gone.
@EventLoop
enum Dialler {
    private static var attempts = 0

    /// What the service sends until it closes, once it is reached. A stream that ends before its first word has lost its
    /// circuit, as when the service was published anew amid the dial.
    static func greeting(of address: OnionAddress, port: UInt16) async throws -> String {
        while true {
            if let words = try await dial(address, port), !words.isEmpty { return words }
            try Task.checkCancellation()
        }
    }

    /// Whether one dial comes through.
    static func reaches(_ address: OnionAddress, port: UInt16) async throws -> Bool {
        try await dial(address, port) != nil
    }

    private static func dial(_ address: OnionAddress, _ port: UInt16) async throws -> String? {
        let client = try await SharedTorNetwork.client()
        attempts += 1
        let route = SOCKS5Route(
            proxy: try #require(client.socks), host: address.description, port: port,
            credentials: SOCKS5Credentials(user: "attempt\(attempts)", password: "x"))
        guard let (stream, unread) = try? await Stream.connect(through: route, deadline: .seconds(10)) else {
            return nil
        }
        return await Listening(to: stream, unread).words()
    }
}

@EventLoop
final class Listening: StreamHandler {
    private let stream: Stream
    private var bytes: [UInt8]
    private var continuation: UnsafeContinuation<Void, Never>?

    init(to stream: Stream, _ unread: [UInt8]) {
        self.stream = stream
        bytes = unread
    }

    func words() async -> String {
        await withUnsafeContinuation {
            continuation = $0
            stream.handler = self
            stream.resumeReading()
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        bytes.withUnsafeBytes { self.bytes += Array($0) }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { continuation?.resume() }
}

/// A control port that passes everything on to tor's until it is cut.
@EventLoop
final class ControlRelay {
    private var listener: Listener!
    private var pairs: [Pair] = []

    init(to target: Endpoint) throws {
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] near in
            Task { [weak self] in await self?.join(near, to: target) }
        }
    }

    private func join(_ near: Stream, to target: Endpoint) async {
        guard let far = try? await Stream.connect(to: target) else { return near.close() }
        pairs.append(Pair(near, far))
    }

    var endpoint: Endpoint { listener.endpoint }

    func cut() {
        for pair in pairs { pair.close() }
        pairs = []
    }

    private final class Pair: StreamHandler {
        private let near: Stream
        private let far: Stream

        init(_ near: Stream, _ far: Stream) {
            self.near = near
            self.far = far
            near.handler = self
            far.handler = self
        }

        func close() {
            near.close()
            far.close()
        }

        func stream(_ stream: Stream, received bytes: RawSpan) { (stream === near ? far : near).write(bytes) }
        func stream(_ stream: Stream, ended end: StreamEnd) { close() }
    }
}
