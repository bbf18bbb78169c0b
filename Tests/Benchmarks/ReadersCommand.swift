import ArgumentParser
import Crypto
import Doors
import Encodings
import Lab
import MailboxClients
import MailboxEndpoint
import Persistence
import Reactor
import Relay

/// `onionbell-bench readers`: phones that read their mailboxes, where nothing comes, until this is killed.
struct ReadersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "readers", abstract: "Hold idle readers of mailboxes.",
        discussion: "Prints how many there are once all have their answer's first line.")

    @Option(help: "The node's doors.mailbox.listen.") var to: Endpoint
    @Option(help: "The node's state directory.") var state: String
    @Option(help: "Connections.") var readers = 10_000
    @Flag(help: "By WebSocket.") var webSocket = false

    private static let perMailbox = 10

    func run() async throws {
        ThisProcess.raiseFileLimit()
        let tokens = try makeMailboxes()
        // The node looks for new ones once a second.
        try await Task.sleep(for: .seconds(3))
        let crowd = ReaderCrowd()
        for index in 0..<readers {
            let (topic, token) = tokens[index % tokens.count]
            try await crowd.add(topic, token, webSocket: webSocket, to: to)
        }
        tell("\(await crowd.opened)")
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    /// A topic and a token for each registered reader.
    private func makeMailboxes() throws -> [(topic: String, token: String)] {
        let digits = try PrivateFile.read("\(state)/digest-key", limit: 128)
        guard let key = Hex.decode(digits.span.extracting(first: 64)) else {
            throw BenchError("no digest key")
        }
        let digests = MailboxDigests(key: Secret(key))
        let file = try RegistrationFile(path: "\(state)/outbox.sqlite", isReadOnly: false)
        var all: [(topic: String, token: String)] = []
        let each = Self.perMailbox * MailboxDoor.mostReadings
        for number in 0..<(readers + each - 1) / each {
            let topic = MailboxDigests.newTopic()
            let tokens = (0..<Self.perMailbox).map { _ in MailboxDigests.newToken() }
            let mailbox = Mailbox(
                name: "\(topic.prefix(20))\(number)", show: .bell, isOpen: false, topic: digests.topic(topic),
                readers: tokens.enumerated().map {
                    Mailbox.Reader(name: "r\($0.offset)", token: digests.token($0.element))
                })
            guard try file.add(mailbox, address: digests.address(topic), addedAt: 0) else {
                throw BenchError("no more mailboxes")
            }
            all += tokens.map { (topic, $0) }
        }
        return all
    }
}

/// Connections whose answers have begun.
@EventLoop
private final class ReaderCrowd: StreamHandler {
    private(set) var opened = 0
    private var streams: [Reactor.Stream] = []
    private var text: [UInt8] = []
    private var whenOpened: CheckedContinuation<Void, Never>?

    func add(_ topic: String, _ token: String, webSocket: Bool, to endpoint: Endpoint) async throws {
        let stream = try await Reactor.Stream.connect(to: endpoint, deadline: .seconds(10))
        stream.handler = self
        streams.append(stream)
        text = []
        let upgrade = """
            Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n
            """
        stream.write(
            Array(
                """
                GET /\(topic)/\(webSocket ? "ws" : "json") HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n\
                \(webSocket ? upgrade : "")\r\n
                """.utf8))
        await withCheckedContinuation { whenOpened = $0 }
        guard String(decoding: text, as: UTF8.self).contains("\"event\":\"open\"") else {
            let answer = String(decoding: text, as: UTF8.self).split(separator: "\r\n")
            throw BenchError("reader \(opened + 1) was refused: \(answer.first ?? "") \(answer.last ?? "")")
        }
        opened += 1
    }

    func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
        bytes.withUnsafeBytes { text += $0 }
        // An answer that has an end, or one that has begun.
        let known = String(decoding: text, as: UTF8.self)
        if known.contains("\"event\":\"open\"") || known.contains("\"error\"") { answered() }
    }

    func stream(_ stream: Reactor.Stream, ended end: StreamEnd) { answered() }

    private func answered() {
        whenOpened?.resume()
        whenOpened = nil
    }
}
