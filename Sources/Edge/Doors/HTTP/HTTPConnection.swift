import Clocks
import Encodings
import HTTP1
import Reactor

/// One client's connection: reads a request, waits for its answer, then reads the next.
///
/// Requests that a client sends ahead wait: those of the last read in the decoder, the others in the client's own
/// socket. A client that doesn't take its answers gets no further ones. Over TLS the handshake has the time of one
/// request.
@EventLoop
final class HTTPConnection: DoorConnection {
    private enum Turn {
        /// The connection waits for a request, or for the rest of one.
        case waiting
        /// A handler is being asked, further up the stack.
        case asking
        /// The handler will answer later.
        case answering
        /// The answer has begun, and has no end yet.
        case live
    }

    /// A stranger's whole request that waits for its turn in the row of all strangers.
    private final class Waiting {
        let request: HTTPRequest
        /// The bytes that the request was read from, at least.
        let bytes: Int

        init(_ request: HTTPRequest, bytes: Int) { (self.request, self.bytes) = (request, bytes) }
    }

    private unowned let server: HTTPServer
    private let isProxy: Bool
    private let isSecure: Bool
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) private var decoder: HTTPRequestDecoder
    @exclusivity(unchecked) private var standing = HTTPRequestDecoder.Standing()
    private var turn = Turn.waiting
    /// Whether the bytes read so far hold no further request that could be answered.
    private var isDrained = true
    /// Requests handed to the handler, and the last of them that it has answered.
    private var (asked, answered) = (0, 0)
    private var live: LiveAnswer?
    private var waiting: Waiting?
    /// The time at which the last whole request came, or had its answer; before the first, that of the connection.
    private var lastWhole: MonotonicTime

    /// Makes a client's connection.
    ///
    /// - Parameter isProxy: Whether the client is believed when it says whose its requests are.
    init(_ stream: Stream, _ arrival: Arrival, isProxy: Bool, server: HTTPServer, at places: Places) {
        self.server = server
        self.isProxy = isProxy
        isSecure = arrival.tls != nil
        decoder = HTTPRequestDecoder(limits: server.settings.limits, isSecure: isSecure)
        lastWhole = EventLoop.now
        super.init(stream, arrival, at: places, limits: server.limits)
    }

    override func received(_ bytes: RawSpan) -> Int {
        if turn == .live {
            live?.client?.received(bytes)
            return 0
        }
        standing = decoder.append(bytes)
        isDrained = false
        return 0
    }

    override func proceed() {
        if turn == .live, !isHeldBack { live?.client?.gotRoom() }
        while !isDrained, turn == .waiting, waiting == nil, !hasEnded, !isHeldBack,
            circuit?.askToRead(self) == true
        {
            do throws(HTTPFault) {
                let held = standing.heldBytes
                var standing = HTTPRequestDecoder.Standing()
                guard let request = try decoder.next(leaving: &standing, bodyLimit: server.bodyLimit) else {
                    self.standing = standing
                    isDrained = true
                    return askForMore()
                }
                self.standing = standing
                isDrained = standing.heldBytes == 0
                stopDeadline()
                lastWhole = lastHeard
                if takeTurn() {
                    answer(request)
                } else {
                    waiting = Waiting(request, bytes: held - standing.heldBytes)
                }
            } catch {
                strike()
                send(server.refusal(HTTPResponse(error)), withBody: true)
            }
        }
    }

    /// Takes a turn for a whole request that has come. If there is none, the request is answered when its turn among the
    /// strangers has come: who says nothing, or half a request, takes no turn and stands in no row.
    ///
    /// - Returns: Whether the request may be answered now.
    private func takeTurn() -> Bool {
        guard let strangers = server.strangers, !isKnown, let circuit else { return true }
        return strangers.takeTurn(for: self, of: circuit)
    }

    private func askForMore() {
        guard decoder.isContinueExpected else { return }
        decoder.isContinueExpected = false
        write { $0 += HTTPResponse.goOn }
    }

    override var wantsMore: Bool { (turn == .waiting && waiting == nil) || turn == .live }
    override var isIncomplete: Bool { standing.isWithinRequest || waiting != nil }
    override var isBusy: Bool { turn == .asking || turn == .answering }
    override var heldBytes: Int {
        standing.heldBytes + (waiting?.bytes ?? 0) + (live?.client?.heldBytes ?? 0)
    }
    override var silentSince: MonotonicTime { turn == .live ? lastHeard : lastWhole }

    override func willEnd(_ end: End) {
        let live = live
        self.live = nil
        live?.connectionEnded()
        if waiting != nil { server.strangers?.leave(self) }
    }

    override func deadlinePassed() {
        // Before tor's line has come there is nobody to tell.
        guard circuit != nil else { return end(.late) }
        strike()
        let late = HTTPResponse(status: 408, text: "request not complete in time", isKeptAlive: false)
        send(server.refusal(late), withBody: true)
    }

    private func answer(_ request: consuming HTTPRequest) {
        server.counters.requests += 1
        if isProxy, !move(to: server.client(of: request, from: peerAddress)) {
            let refused = HTTPResponse(status: 429, text: "too many connections", isKeptAlive: false)
            return send(server.refusal(refused), withBody: true)
        }
        spend(frames: 1)
        turn = .asking
        let isKeptAlive = request.isKeptAlive
        let withBody = request.method != "HEAD"
        asked += 1
        let number = asked
        request.sender = circuit?.senderNumber ?? 0
        request.path = OneSpelling.path(request.path)
        let respond: @EventLoop (HTTPResponse) -> Void = { [weak self] response in
            guard let self, !hasEnded else { return }
            precondition(answered < number, "a request was answered twice")
            answered = number
            live = nil
            let isLate = turn == .answering
            turn = .waiting
            var response = response
            if response.isForKnown { isKnown = true }
            if server.countsRefusals, countAnswer(response) { response.isKeptAlive = false }
            response.isKeptAlive = response.isKeptAlive && isKeptAlive && !isShuttingDown
            send(response, withBody: withBody)
            guard isLate else { return }
            lastWhole = EventLoop.now
            goOn()
        }
        if let open = server.opening(of: request) {
            open(LiveAnswer(on: self, respond))
        } else {
            server.handler(request, respond)
        }
        if turn == .asking { turn = .answering }
    }

    /// Counts an answer for the circuit.
    ///
    /// - Returns: Whether the circuit is heard no more.
    private func countAnswer(_ response: HTTPResponse) -> Bool {
        if response.isForKnown {
            circuit?.wasKnown()
        } else if server.settings.refusals.contains(response.status) {
            circuit?.refuse()
            return circuit?.isStruckOut ?? false
        }
        return false
    }

    private func send(_ response: HTTPResponse, withBody: Bool) {
        server.counters.answers[response.status, default: 0] += 1
        write { response.encode(into: &$0, withBody: withBody) }
        if !response.isKeptAlive { end(.finished) }
    }

    /// Begins an answer that goes on from here without an end.
    func begin(_ live: LiveAnswer, _ status: Int, at places: Places, silence: Duration?, head: [UInt8]) {
        server.counters.answers[status, default: 0] += 1
        self.live = live
        turn = .live
        // Whatever was sent behind the request belongs to none.
        decoder = HTTPRequestDecoder(limits: server.settings.limits, isSecure: isSecure)
        standing = HTTPRequestDecoder.Standing()
        isDrained = true
        stay(at: places, silence: silence)
        guard !hasEnded else { return }
        write { $0 += head }
        goOn()
    }

    /// Tells the giver of an answer if the client hangs up before.
    func watch(_ live: LiveAnswer) {
        self.live = live
        awaitAnswer()
    }

    /// Answers the request of a stranger whose turn has come.
    func turnHasCome() {
        guard let waiting else { return }
        self.waiting = nil
        answer(waiting.request)
        goOn()
    }
}
