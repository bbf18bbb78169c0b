import Foundation
import Lab
import LabParts
import Logging
import Reactor
import Testing

@testable import Tor

/// A published service whose streams begin with a line, which is sent back.
@EventLoop
struct PublishedService {
    let presence: OnionPresence
    let echo: LineEcho
    let address: OnionAddress
    /// Of the client that all share.
    let socks: Endpoint

    init(
        in directory: String, isGuarded: Bool, _ change: (inout OnionForm) -> Void = { _ in }
    ) async throws {
        let network = try await SharedTorNetwork.network()
        let echo = try LineEcho(answersAtOnce: !isGuarded)
        let ports = [try VirtualPort(9999, to: echo.endpoint), try VirtualPort(80, to: echo.endpoint)]
        let key = OnionKeyFile(path: directory + "/onion-key")
        var settings: OnionPresenceSettings
        if isGuarded {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let torrc = directory + "/torrc"
            try network.writeTorrc(basedOn: root.appending(path: "torrc").path, to: torrc)
            try network.seed(dataDirectory: directory + "/tor")
            settings = .init(
                source: .own(
                    .init(torrc: torrc, dataDirectory: directory + "/tor", offersSocks: false)),
                key: key)
            settings.form.directory = directory + "/tor/service"
        } else {
            let tor = try await network.startTor()
            settings = .init(source: .running(control: tor.control, tor.credentials), key: key)
        }
        change(&settings.form)
        let presence = OnionPresence(settings, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await presence.start(ports)
        try await EventLoop.until { presence.state.isPublished }
        let client = try await SharedTorNetwork.client()
        self.presence = presence
        self.echo = echo
        address = try #require(presence.address)
        socks = try #require(client.socks)
    }
}

/// Sends back what it gets; where nothing comes by itself, it begins with a line of its own.
@EventLoop
final class LineEcho: StreamHandler {
    private var listener: Listener!
    private var streams: [Reactor.Stream] = []

    init(answersAtOnce: Bool) throws {
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
            streams.append(stream)
            stream.handler = self
            if answersAtOnce { stream.write(Array("hello\r\n".utf8)) }
        }
    }

    var endpoint: Endpoint { listener.endpoint }

    func stream(_ stream: Reactor.Stream, received bytes: RawSpan) { stream.write(bytes) }
    func stream(_ stream: Reactor.Stream, ended end: StreamEnd) {}
}

/// A stream to the service, on the circuit of one SOCKS user.
@EventLoop
final class Caller: StreamHandler {
    private let stream: Reactor.Stream
    private var text: String
    private(set) var hasEnded = false
    private var continuation: CheckedContinuation<Void, Never>?

    /// Tries again until it comes through: a client may know an older descriptor yet.
    init(_ socks: Endpoint, _ address: OnionAddress, _ port: UInt16, user: String) async throws {
        let route = SOCKS5Route(
            proxy: socks, host: address.description, port: port,
            credentials: SOCKS5Credentials(user: user, password: address.serviceID))
        while true {
            do throws(SOCKS5Error) {
                let (stream, unread) = try await Reactor.Stream.connect(
                    through: route, deadline: .seconds(20))
                self.stream = stream
                text = String(decoding: unread, as: UTF8.self)
                break
            } catch {
                guard !Task.isCancelled else { throw error }
            }
        }
        stream.handler = self
        stream.resumeReading()
    }

    /// The next line, without its end; less if the stream ends.
    func line() async -> String {
        while !text.contains("\r\n"), !hasEnded { await withCheckedContinuation { continuation = $0 } }
        guard let end = text.range(of: "\r\n") else { return text }
        defer { text.removeSubrange(..<end.upperBound) }
        return String(text[..<end.lowerBound])
    }

    func echo(_ words: String) async -> String {
        stream.write(Array((words + "\r\n").utf8))
        return await line()
    }

    func whenEnded() async {
        while !hasEnded { await withCheckedContinuation { continuation = $0 } }
    }

    private func wake() {
        continuation?.resume()
        continuation = nil
    }

    func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
        bytes.withUnsafeBytes { text += String(decoding: $0, as: UTF8.self) }
        wake()
    }

    func stream(_ stream: Reactor.Stream, ended end: StreamEnd) {
        hasEnded = true
        wake()
    }
}
