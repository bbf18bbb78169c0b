import Doors
import HTTP1
import Node
import Reactor

/// Changes at the node, which the console's pages hear of when they happen (server-sent events).
///
/// A page hears that something of a kind has changed, and asks for it by a call. So a stream carries no data of the node, and
/// holds only the kinds that it has not sent yet: changes in quick succession are one event. Every three seconds the stream
/// says that the node lives, so that no page shows green while its node is gone. While no page listens nothing is done.
@EventLoop
package final class ConsoleEvents {
    /// The parts that a page may have to draw anew.
    package typealias Kinds = ChangedParts

    /// Called when the first page begins to listen, and when the last one has gone.
    package var onWatched: (@EventLoop (_ isWatched: Bool) -> Void)?
    /// Called with each sign of life, while a page listens.
    package var onBeat: (@EventLoop () -> Void)?

    /// The oldest first.
    private var streams: [ConsoleStream] = []
    private let places = Places(ConsoleEvents.mostStreams, room: BufferRoom())
    private var unreported: Kinds = []
    private let timer = Timer()
    private let pulse = Timer()

    /// The most streams of all sessions together.
    package static let mostStreams = 64
    /// The most streams of one session. One more ends its oldest.
    package static let mostOfSession = 4
    /// The time within which changes are one event.
    private static let gathering: Duration = .milliseconds(300)
    /// The time between two signs of life. A page that misses two of them says that the node does not answer.
    private static let heartbeat: Duration = .seconds(3)

    package init() {
        timer.action = { [unowned self] in tell() }
        pulse.action = { [unowned self] in beat() }
    }

    /// Notes that something of these kinds has changed; all streams report it soon.
    package func changed(_ kinds: Kinds) {
        guard !streams.isEmpty else { return }
        unreported.formUnion(kinds)
        if !timer.isRunning { timer.start(after: Self.gathering) }
    }

    private func tell() {
        let kinds = unreported
        unreported = []
        for stream in streams { stream.tell(kinds) }
    }

    private func beat() {
        for stream in streams { stream.beat() }
        guard !streams.isEmpty else { return }
        onBeat?()
        pulse.start(after: Self.heartbeat)
    }

    /// Opens a stream of events.
    ///
    /// - Parameters:
    ///   - session: The session whose stream it is, as bytes of its token.
    ///   - isGood: Whether that session goes on.
    func open(_ live: LiveAnswer, of session: [UInt8], isGood: @escaping @EventLoop () -> Bool) {
        let ofSession = streams.filter { $0.session == session }
        if ofSession.count >= Self.mostOfSession { ofSession.first?.end() }
        if streams.count >= Self.mostStreams { streams.first?.end() }
        let stream = ConsoleStream(over: live, of: session, isGood: isGood, at: self)
        streams.append(stream)
        live.client = stream
        guard live.begin(200, at: places, silence: nil, head: Self.head) else { return }
        if streams.count == 1 { onWatched?(true) }
        if !pulse.isRunning { pulse.start(after: Self.heartbeat) }
        // Whatever has changed since its page asked.
        stream.tell(.all)
    }

    func forget(_ stream: ConsoleStream) {
        guard let index = streams.firstIndex(where: { $0 === stream }) else { return }
        streams.remove(at: index)
        guard streams.isEmpty else { return }
        timer.stop()
        pulse.stop()
        unreported = []
        onWatched?(false)
    }

    package func close() async { await places.shutDown() }

    private static let head: [UInt8] = {
        var response = HTTPResponse(status: 200, body: [])
        response.fields.append("content-type", "text/event-stream; charset=utf-8")
        // No proxy keeps it back.
        response.fields.append("x-accel-buffering", "no")
        response.fields.append("cache-control", "no-store")
        var head: [UInt8] = []
        response.shielded().encodeHeadOfChunks(into: &head)
        return head
    }()
}

/// One page that listens.
@EventLoop
final class ConsoleStream: LiveClient {
    let session: [UInt8]
    private let live: LiveAnswer
    private let isGood: @EventLoop () -> Bool
    private unowned let events: ConsoleEvents
    private var unreported: ConsoleEvents.Kinds = []

    init(
        over live: LiveAnswer, of session: [UInt8], isGood: @escaping @EventLoop () -> Bool,
        at events: ConsoleEvents
    ) {
        (self.live, self.session, self.isGood, self.events) = (live, session, isGood, events)
    }

    /// Tells a page that these kinds have changed. What it has not taken waits as a bit each.
    func tell(_ kinds: ConsoleEvents.Kinds) {
        unreported.formUnion(kinds)
        gotRoom()
    }

    /// Tells a page that the node lives. A page that takes nothing is told nothing.
    func beat() {
        guard !live.isHeldBack else { return }
        guard isGood() else { return end() }
        send("event: alive\ndata: {}\n\n")
    }

    func gotRoom() {
        guard !unreported.isEmpty, !live.isHeldBack else { return }
        guard isGood() else { return end() }
        let text = ConsoleEvents.Kinds.words.filter { unreported.contains($0.kind) }
            .map { "event: \($0.word)\ndata: {}\n\n" }.joined()
        unreported = []
        send(text)
    }

    private func send(_ text: String) {
        var chunk: [UInt8] = []
        chunk.append(chunk: Array(text.utf8))
        live.send(chunk)
    }

    func end() { live.end() }

    func received(_ bytes: RawSpan) {}
    var heldBytes: Int { 0 }
    func connectionEnded() { events.forget(self) }
}

/// The console's endpoint for requests whose answer goes on without an end (``ConsoleEvents``). ``ConsoleDoor`` answers all
/// other requests.
@EventLoop
package final class ConsoleStreamDoor: LiveDoor {
    private let open: @EventLoop (HTTPRequest) -> HTTPServer.Opening?

    package init(_ open: @escaping @EventLoop (HTTPRequest) -> HTTPServer.Opening?) { self.open = open }

    package func opening(of request: HTTPRequest) -> HTTPServer.Opening? { open(request) }
    package func handler(for path: String) -> HTTPServer.Handler? { nil }
}

extension ChangedParts {
    static let all: ChangedParts = [.state, .phones, .mailboxes, .peers]

    static let words: [(kind: ChangedParts, word: String)] = [
        (.state, "state"), (.phones, "phones"), (.mailboxes, "mailboxes"), (.peers, "peers"),
    ]
}
