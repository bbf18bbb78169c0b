import Doors
import Encodings
import HTTP1
import Reactor
import Relay

/// One reader's open answer: what lies in its mailboxes behind the last that it was sent.
///
/// The reading holds no message: what comes is read from the store when the client has room for it.
@EventLoop
final class MailboxReading: LiveClient {
    /// The owner of the share that a reading takes.
    enum Owner: Hashable {
        case reader(Relay.Digest)
        /// A client that showed no token.
        case stranger(mailbox: Int64)

        var isRegistered: Bool { if case .reader = self { true } else { false } }
    }

    /// The progress of the search for messages. Never true: that two run, or that one begins after the end.
    private enum Search {
        /// All that the reading knows of has been sent.
        case idle
        /// Messages have come, and the client has no room for them.
        case heldBack
        /// The store is being asked.
        case looking
        /// The store is being asked, and is asked once more: messages have come since.
        case lookingAgain
        /// The connection has ended.
        case ended
    }

    let owner: Owner
    /// The circuit, address or connection by which the request came.
    let sender: Int
    /// The next reading of the same owner, which came later.
    var next: MailboxReading?
    private let live: LiveAnswer
    private let door: MailboxDoor
    /// The filter, or none: apart, as nearly nobody has one.
    private let filter: [MailboxFilter]
    /// Names and kinds of the mailboxes that are read, in the order of the topics.
    private let sources: [Source]
    struct Source {
        let topic: String
        let show: Mailbox.Show
        let isPush: Bool
    }

    /// The highest number that a pong has named.
    private var acknowledged: Int64 = 0
    private var stream: MailboxStream
    // Small ones side by side: ten thousand readers wait.
    private let kind: MailboxRequest.Kind
    private let isPoll: Bool
    private var search = Search.idle
    /// Whether an acknowledgement is being written down.
    private var isAcknowledging = false
    private var frames: WebSocketDecoder?

    private static let pageLength = 32

    init(
        _ request: MailboxRequest, of granted: [MailboxDirectory.Granted], for owner: Owner,
        from starts: [MailboxStart], over live: LiveAnswer, at door: MailboxDoor
    ) {
        (self.owner, self.live, self.door) = (owner, live, door)
        sender = request.sender
        (kind, isPoll, filter) = (request.kind, request.isPoll, request.filter.map { [$0] } ?? [])
        sources = granted.indices.map {
            Source(
                topic: request.topics[$0], show: granted[$0].mailbox.show,
                isPush: granted[$0].mailbox.isPush)
        }
        stream = door.books.open(
            from: starts, for: granted.map { $0.reader?.number }, isFiltered: request.filter != nil)
        if request.kind == .ws {
            // Its texts say nothing to us, and a pong has eight bytes.
            frames = WebSocketDecoder(isMasked: true, limit: 4096)
        }
    }

    var mailboxes: [Int64] { stream.places.map(\.mailbox) }
    /// The topics of UnifiedPush among the sources.
    var pushTopics: [Int64] { zip(sources, mailboxes).filter(\.0.isPush).map(\.1) }

    func isBehind(_ place: MailboxPlace) -> Bool {
        stream.places.contains { $0.mailbox == place.mailbox && $0.number < place.number }
    }

    /// Whether the node sends keep-alives on a schedule. Over a WebSocket the client sends them.
    var wantsKeepAlive: Bool { frames == nil && !isPoll }

    func say(_ event: MailboxLine.Event, id: String, at time: Int64) {
        guard !live.isHeldBack else { return }
        send(
            MailboxLine(event, id: id, topic: sources.map(\.topic).joined(separator: ","), time: time / 1000))
    }

    func end() {
        guard !hasEnded else { return }
        if frames != nil {
            live.send(WebSocketMessage.close(code: 1000).encoded(mask: nil))
        } else {
            var last: [UInt8] = []
            last.append(chunk: [])
            live.send(last)
        }
        live.end()
    }

    func gotRoom() { if search == .heldBack { look() } }
    var heldBytes: Int { frames?.heldBytes ?? 0 }

    var hasEnded: Bool { search == .ended }

    func connectionEnded() {
        search = .ended
        door.readings.remove(self)
    }

    // MARK: Out

    /// Sends messages that have come, as soon as the client can take them.
    func look() {
        switch search {
        case .idle, .heldBack:
            search = live.isHeldBack ? .heldBack : .looking
            if search == .looking { Task { await lookNow() } }
        case .looking: search = .lookingAgain
        case .lookingAgain, .ended: break
        }
    }

    private func lookNow() async {
        guard !hasEnded else { return }
        search = .looking
        let page: [(mailbox: Int64, message: MailboxMessage)]
        do throws(OutboxError) {
            page = try await door.store.messages(
                behind: stream.places, at: EventLoop.unixMilliseconds,
                limit: MailboxReading.pageLength)
        } catch {
            return end()
        }
        guard !hasEnded else { return }
        await send(page)
        guard !hasEnded else { return }
        let isBehind = search == .lookingAgain || page.count == MailboxReading.pageLength
        search = .idle
        if isBehind {
            look()
        } else if isPoll {
            // Whoever polls has its end only when the node will know what it has brought.
            search = .looking
            await door.noteEnd(of: stream)
            end()
        }
    }

    /// Sends messages once the store has a record that they go to these readers. A reader may come back with the last of them
    /// after the node was killed, or to another node.
    private func send(_ page: [(mailbox: Int64, message: MailboxMessage)]) async {
        guard !page.isEmpty else { return }
        door.books.join(&stream)
        var ahead = stream
        let mailboxes = mailboxes
        var lines: [(source: Int, message: MailboxMessage, line: MailboxLine)] = []
        for (mailbox, message) in page {
            ahead.pass(message.number)
            guard let index = mailboxes.firstIndex(of: mailbox) else { continue }
            let line = door.line(message, of: sources[index])
            guard filter.first?.takes(line) ?? true else { continue }
            ahead.note(message.number, message.id, from: index)
            lines.append((index, message, line))
        }
        await door.note(ahead)
        for (source, message, line) in lines {
            // Sending may end the connection.
            guard !hasEnded else { return }
            send(line)
            stream.note(message.number, message.id, from: source)
            if frames != nil, stream.canAcknowledge { live.send(ping(message.number)) }
        }
        if let last = page.last { stream.pass(last.message.number) }
    }

    private func send(_ line: MailboxLine) {
        let bytes = line.bytes(as: kind)
        if frames != nil {
            live.send(WebSocketMessage.text(String(decoding: bytes, as: UTF8.self)).encoded(mask: nil))
        } else {
            var chunk: [UInt8] = []
            chunk.append(chunk: bytes)
            live.send(chunk)
        }
    }

    // MARK: In

    /// Asks for the pong that acknowledges a message.
    private func ping(_ number: Int64) -> [UInt8] {
        WebSocketMessage.ping((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) })
            .encoded(mask: nil)
    }

    func received(_ bytes: RawSpan) {
        frames?.append(bytes)
        do throws(WebSocketFault) {
            while !hasEnded, let message = try frames?.next() {
                switch message {
                case .ping(let bytes): live.send(WebSocketMessage.pong(bytes).encoded(mask: nil))
                case .pong(let bytes) where bytes.count == 8:
                    acknowledge(bytes.reduce(0) { $0 << 8 | Int64($1) })
                case .pong, .text: break
                case .close:
                    live.send(WebSocketMessage.close(code: 1000).encoded(mask: nil))
                    return live.end()
                }
            }
        } catch {
            live.strike()
            live.send(WebSocketMessage.close(code: error.rawValue).encoded(mask: nil))
            live.end()
        }
    }

    /// Acknowledges what was sent over this connection, up to a number.
    private func acknowledge(_ number: Int64) {
        guard number > acknowledged, !stream.receipts(upTo: number).isEmpty else { return }
        acknowledged = number
        guard !isAcknowledging else { return }
        isAcknowledging = true
        Task {
            var written: Int64 = 0
            while acknowledged > written {
                let number = acknowledged
                // What is not written down is sent again.
                if await door.acknowledge(stream.receipts(upTo: number)) { stream.acknowledge(upTo: number) }
                written = number
            }
            isAcknowledging = false
        }
    }
}
