import Clocks
import Encodings
import HTTP2
import Reactor
import Relay
import TLS
import Wire

/// One connection to a gateway: a socket, TLS over it, and HTTP over that.
///
/// ``ConnectionLife`` decides; here bytes are moved. What is to be sent is gathered until the end of the
/// loop's turn, so that many requests share a TLS record and a system call.
@EventLoop
final class GatewayConnection {
    typealias Completion = @EventLoop (ExchangeEnd, GatewayConnection) -> Void

    @exclusivity(unchecked) private(set) var life: ConnectionLife
    /// Requests sent over it, of whatever end.
    private(set) var requests = 0

    /// Whether there are other credentials since it was opened.
    var isOutdated = false
    /// The time since which something waits for the connection and the gateway allows nothing, in monotonic
    /// nanoseconds; `nil`: it may send.
    private var starvedSince: MonotonicTime?

    private weak var owner: (any ConnectionOwner)?
    private var state = State.connecting
    private let flushSoon = EndOfTurn()
    private let timer = Timer()
    private var plain: [UInt8] = []

    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) private var pending = PendingRequests()
    private var goAwayWord: String?

    /// The most unsent bytes. With more, the connection takes no more requests.
    private static let longestOutput = 262_144
    /// Bytes of room that a connection keeps while it has work, for each request that may be on its way.
    private static let roomForRequest = 2100
    /// Bytes that are sealed and sent at once: with the frame that exceeds them mostly one record of TLS.
    private static let batch = 15_360

    enum HTTPVersion: Equatable {
        case http1
        case http2
        /// Frames of the peers' protocol in place of HTTP.
        case peer(BisqNetwork)
    }

    /// The stage of the connection. The type can't be copied: reading one part of a channel retains no other.
    private enum State: ~Copyable {
        case connecting
        case speaking(Channel)
        case ended
    }

    /// The parts of a connection that stands: TCP and TLS worked.
    private struct Channel {
        let stream: Stream
        /// The TLS session; `nil` for plain HTTP.
        let tls: TLSSession?
        let version: HTTPVersion
        let session: any HTTPClientSession
    }

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - context: The TLS context; `nil` for plain HTTP.
    ///   - version: The version of HTTP where ALPN doesn't say which.
    init(
        to url: GatewayURL, by egress: Egress = .direct, _ context: TLSContext?, version: HTTPVersion,
        needsProof: Bool, limits: ConnectionLife.Limits, lookUp: @escaping Dial.Lookup = Dial.systemLookup,
        owner: any ConnectionOwner
    ) {
        self.owner = owner
        life = ConnectionLife(limits: limits, needsProof: needsProof, at: EventLoop.now)
        flushSoon.action = { [unowned self] in flush() }
        timer.action = { [unowned self] in check() }
        Task { await connect(to: url, by: egress, context, lookUp, presuming: version) }
    }

    private func connect(
        to url: GatewayURL, by egress: Egress, _ context: TLSContext?, _ lookUp: Dial.Lookup,
        presuming version: HTTPVersion
    ) async {
        let way: Dial.Way
        do throws(ConnectionEnd) {
            way = try await Dial.open(
                to: url, by: egress, context, lookUp: lookUp, deadline: life.limits.setup)
        } catch {
            return end(error)
        }
        guard !hasEnded else { return way.stream.close() }
        way.stream.keptOutputCapacity = life.limits.inFlight * GatewayConnection.roomForRequest
        let negotiated: HTTPVersion =
            switch way.tls?.negotiatedProtocol {
            case "h2": .http2
            case "http/1.1": .http1
            case _: version
            }
        let session = negotiated.session(host: url.authority)
        state = .speaking(Channel(stream: way.stream, tls: way.tls, version: negotiated, session: session))
        life.received(at: EventLoop.now)
        session.receive(way.unread.span.bytes)
        way.stream.handler = self
        way.stream.resumeReading()
        takeEvents(of: session)
        check()
        flushSoon.schedule()
    }

    // MARK: State

    private var channel: Channel? {
        switch state {
        case .connecting: nil
        case .speaking(let channel): channel
        case .ended: nil
        }
    }

    private var hasEnded: Bool {
        switch state {
        case .connecting: false
        case .speaking: false
        case .ended: true
        }
    }

    /// The version of HTTP; `nil` until it is known, and after the end.
    var version: HTTPVersion? { channel?.version }

    // MARK: Requests

    /// The number of further requests that the connection takes now.
    var room: Int {
        guard let session = channel?.session, let stream = channel?.stream,
            stream.unsentBytes < GatewayConnection.longestOutput
        else { return 0 }
        return life.room(freeStreams: session.freeStreams)
    }

    var isFull: Bool { (channel?.session).map { life.isFull(freeStreams: $0.freeStreams) } ?? false }

    /// Sends a request; ``room`` must be above 0. `completion` is called once, and not before the loop's next turn.
    func send(_ head: HTTP2Headers, body: [UInt8], completion: @escaping Completion) {
        guard let session = channel?.session else {
            preconditionFailure("a request for a connection that is not open")
        }
        let now = EventLoop.now
        requests += 1
        let tag = pending.add(completion, at: now)
        let wasIdle = life.inFlight == 0
        life.sent(at: now)
        session.submit(head, body: body, tag: tag)
        flushSoon.schedule()
        if wasIdle { timer.start(after: min(life.limits.unanswered, life.limits.request)) }
    }

    /// Notes that the gateway has taken our credentials.
    func proved() { life.proved() }

    /// Notes that requests wait for which the connection has no room.
    func noteBacklog() {
        guard life.phase == .open, life.inFlight == 0, room == 0 else {
            starvedSince = nil
            return
        }
        if starvedSince == nil { starvedSince = EventLoop.now }
    }

    /// Takes nothing more, and closes when what is on its way has ended.
    func drain() {
        life.drain()
        owner?.connectionChanged(self)
        check()
    }

    private func complete(_ request: PendingRequests.Entry?, _ end: ExchangeEnd, at now: MonotonicTime) {
        guard let request else { return }
        var wasAnswered = false
        if case .answered = end { wasAnswered = true }
        life.note(end.sign, at: now)
        life.ended(wasAnswered: wasAnswered, at: now)
        // Otherwise the timer that looks for an answer is soon enough.
        if life.inFlight == 0, life.limits.rest < life.limits.unanswered {
            timer.start(after: life.limits.rest)
        }
        if wasAnswered { owner?.connection(self, answeredAfter: now - request.sentAt) }
        if life.onlyFails(at: now) { owner?.connectionOnlyFails(self) }
        request.completion(end, self)
    }

    private func takeEvents(of session: any HTTPClientSession) {
        let now = EventLoop.now
        var isNews = false
        session.takeEvents { event in
            isNews = true
            switch event {
            case .answered(let tag, let answer):
                complete(pending.end(tag), .answered(answer), at: now)
            case .unharmed(let tag):
                complete(pending.end(tag), .unharmed(.init(goAwayWord)), at: now)
            case .unclear(let tag, let reason):
                complete(pending.end(tag), .unclear(reason), at: now)
            case .ready: life.opened(at: now)
            case .alive: break
            case .goAway(let debugData):
                goAwayWord = GatewayAnswer.word(inGoAway: debugData) ?? goAwayWord
                life.drain()
                owner?.connection(self, goesAwayFor: goAwayWord)
            case .ended(let reason):
                if let reason { end(.broken(reason)) } else { life.drain() }
            }
        }
        guard isNews, !hasEnded else { return }
        if life.phase == .draining, life.inFlight == 0 { check() }
        owner?.connectionChanged(self)
    }

    // MARK: Time

    /// Does what is due, and sees to it that it is called again when something will be.
    private func check() {
        guard !hasEnded else { return }
        let now = EventLoop.now
        expireRequests(at: now)
        if room > 0 || life.inFlight > 0 { starvedSince = nil }
        if life.inFlight == 0 {
            channel?.stream.dropSpareRoom()
            channel?.tls?.dropSpareRoom()
        }
        switch life.check(at: now, isSpare: owner?.isSpare(self) ?? false, starvedSince: starvedSince) {
        case .wait(let until): wait(until: until, at: now)
        case .ping:
            channel?.session.ping()
            flushSoon.schedule()
            wait(until: now + life.limits.ping, at: now)
        case .end(let reason): end(ConnectionEnd(reason))
        }
    }

    private func wait(until time: MonotonicTime, at now: MonotonicTime) {
        let deadline = pending.oldest.map { $0 + life.limits.request } ?? .max
        // Never later than the idle limit, so that a connection that has become a spare is noticed.
        timer.start(after: max(min(time, deadline, now + life.limits.idle) - now, .milliseconds(1)))
    }

    private func expireRequests(at now: MonotonicTime) {
        for tag in pending.tags(sentUntil: now - life.limits.request) {
            guard let request = pending.giveUp(tag) else { continue }
            life.timedOut(sentAt: request.sentAt)
            channel?.session.cancel(tag: tag)
            complete(request, .unclear(.own(.answerTimeout)), at: now)
            flushSoon.schedule()
        }
    }

    // MARK: Bytes

    private func flush() {
        guard let channel else { return }
        let (stream, session) = (channel.stream, channel.session)
        var hasMore = true
        while hasMore {
            hasMore = false
            if let tls = channel.tls {
                plain.removeAll(keepingCapacity: true)
                hasMore = session.takeOutput(into: &plain, upTo: GatewayConnection.batch)
                tls.write(plain.span.bytes)
                if tls.hasOutput { stream.write { tls.takeOutput(into: &$0) } }
            } else {
                stream.write {
                    hasMore = session.takeOutput(into: &$0, upTo: $0.count + GatewayConnection.batch)
                }
            }
            if hasMore { stream.drain() }
        }
        takeEvents(of: session)
    }

    private func end(_ reason: ConnectionEnd) {
        guard !hasEnded else { return }
        let channel = channel
        state = .ended
        timer.stop()
        life.drain()
        if let channel { close(channel) }
        // What the session never had or never gave back.
        let now = EventLoop.now
        for tag in pending.tags(sentUntil: now) {
            complete(pending.giveUp(tag), .unclear(reason.reason), at: now)
        }
        owner?.connectionEnded(self, reason)
    }

    private func close(_ channel: Channel) {
        channel.tls?.close()
        channel.stream.handler = nil
        if let tls = channel.tls, tls.hasOutput { channel.stream.write { tls.takeOutput(into: &$0) } }
        channel.stream.closeWhenFlushed()
        channel.session.streamEnded()
        takeEvents(of: channel.session)
    }
}

extension GatewayConnection: StreamHandler {
    func stream(_ stream: Stream, received bytes: RawSpan) {
        guard let channel else { return }
        let session = channel.session
        life.received(at: EventLoop.now)
        if let tls = channel.tls {
            tls.receive(bytes) { session.receive($0) }
            switch tls.state {
            case .handshaking, .open: break
            case .closed:
                takeEvents(of: session)
                return end(.broken(.closedByGateway))
            case .failed(let error):
                takeEvents(of: session)
                return end(ConnectionEnd(error))
            }
        } else {
            session.receive(bytes)
        }
        takeEvents(of: session)
        flushSoon.schedule()
    }

    func streamFlushed(_ stream: Stream) { owner?.connectionChanged(self) }

    func stream(_ stream: Stream, ended streamEnd: StreamEnd) {
        // An answer may reach as far as the stream's end.
        if let session = channel?.session {
            session.streamEnded()
            takeEvents(of: session)
        }
        end(life.phase == .draining ? .finished(reason: "\(streamEnd)") : .broken(.system("\(streamEnd)")))
    }
}
