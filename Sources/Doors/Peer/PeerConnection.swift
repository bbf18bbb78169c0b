import Delivery
import Reactor
import Relay
import Wire

/// One peer's connection: the socket around a ``Wire/PeerSession``.
@EventLoop
final class PeerConnection: StreamHandler, DoorConnection {
    private let stream: Stream
    private unowned let door: PeerDoor
    private var arrival: Arrival
    private var session: PeerSession
    /// Runs while a frame is incomplete.
    private var frameDeadline: Timer?
    /// Requests submitted whose first receipt is still to come.
    private var unanswered = 0
    private var isShuttingDown = false
    private var hasEnded = false

    init(_ stream: Stream, door: PeerDoor) {
        self.stream = stream
        self.door = door
        arrival = Arrival(at: door.circuits)
        session = PeerSession(network: door.settings.network, limits: door.settings.limits)
        stream.idleTimeout = door.settings.idleTimeout
        stream.handler = self
    }

    // MARK: In

    func stream(_ stream: Stream, received bytes: RawSpan) {
        var start = 0
        switch arrival.receive(bytes, from: &start, at: door.circuits) {
        case .waiting: return watchFrame()
        case .refused(.malformed): return end(.noCircuit)
        case .refused(.tooManyConnections): return close(.tooManyConnections)
        case .known(let circuit): take(bytes.extracting(start..<bytes.byteCount), by: circuit)
        }
    }

    private func take(_ bytes: RawSpan, by circuit: Circuit) {
        session.receive(bytes, at: EventLoop.monotonicNanoseconds, into: &door.turn)
        door.counters.frames += door.turn.frameCount
        circuit.spend(frames: door.turn.frameCount, bytes: bytes.byteCount)
        if !door.turn.replies.isEmpty { stream.write(door.turn.replies) }
        // A frame has ended: what is incomplete now is another one.
        if door.turn.frameCount > 0 { frameDeadline?.stop() }
        let reason = door.turn.close
        // Taken out of the turn one by one, whose room is used again: no copy of the list, and none of a request.
        for index in door.turn.requests.indices { submit(door.turn.takeRequest(at: index)) }
        door.turn.clear()
        if let reason { return end(reason) }
        holdBack()
    }

    private func submit(_ request: consuming MobileNotificationRequest) {
        unanswered += 1
        if unanswered == door.settings.unanswered { door.counters.heldBack += 1 }
        let pending = PendingRequest(uid: request.uid, of: self)
        let awaitsOutcome = request.awaitsOutcome
        door.dispatcher.submit(Submission(request), from: door.counter, awaitsOutcome: awaitsOutcome) {
            pending.hear($0)
        }
    }

    fileprivate func hear(_ receipt: Receipt, of uid: String, isFirst: Bool) {
        if isFirst { unanswered -= 1 }
        if let response = MobileNotificationResponse(receipt, to: uid) { answer(response) }
    }

    private func watchFrame() {
        guard session.isFrameIncomplete || arrival.isWaiting else {
            frameDeadline?.stop()
            return
        }
        let timer = frameDeadline ?? Timer { [unowned self] in close(.frameTimeout) }
        frameDeadline = timer
        // The deadline is that of the frame, not of its last part.
        if !timer.isRunning { timer.start(after: door.settings.frameDeadline) }
    }

    /// A peer gets on no faster than its notifications are stored and its receipts taken.
    private func holdBack() {
        let isBehind =
            unanswered >= door.settings.unanswered || stream.unsentBytes >= door.settings.unsentBytes
        if isBehind || isShuttingDown || !arrival.mayRead(self) {
            stream.pauseReading()
            // The rest of a frame is late through us.
            frameDeadline?.stop()
        } else {
            stream.resumeReading()
            watchFrame()
        }
    }

    // MARK: Out

    private func answer(_ response: MobileNotificationResponse) {
        guard !hasEnded else { return }
        stream.write { session.append(.notificationResponse(response), to: &$0) }
        if isShuttingDown, unanswered == 0 { close(.shutDown) } else { holdBack() }
    }

    func streamFlushed(_ stream: Stream) { holdBack() }

    // MARK: Ending

    /// Ends from this side, with the close message that belongs to the reason.
    func close(_ reason: PeerClose) {
        guard !hasEnded else { return }
        var turn = PeerTurn()
        session.close(reason, into: &turn)
        stream.write(turn.replies)
        end(reason)
    }

    /// Reads nothing more, and closes when the receipts on their way have been written.
    func shutDown() {
        isShuttingDown = true
        stream.pauseReading()
        if unanswered == 0 { close(.shutDown) }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) {
        switch end {
        case .idle: self.end(.idle)
        case .peerReadsNothing: self.end(.slowReader)
        case .closedByPeer, .failed: self.end(.connectionLost)
        }
    }

    private func end(_ reason: PeerClose) {
        guard !hasEnded else { return }
        hasEnded = true
        frameDeadline?.stop()
        stream.closeWhenFlushed()
        arrival.leave(self, hasMisbehaved: reason.isMisdeed)
        door.ended(self, reason)
    }
}

extension PeerConnection: CircuitMember {
    func circuitMayBeRead() {
        if !hasEnded { holdBack() }
    }
}

/// A request whose end may be told: kept until then, so it holds the uid, and neither message nor token.
@EventLoop
private final class PendingRequest {
    private let uid: String
    /// A door that has gone on without this connection answers nobody.
    private weak var connection: PeerConnection?
    private var isAnswered = false

    init(uid: String, of connection: PeerConnection) {
        self.uid = uid
        self.connection = connection
    }

    func hear(_ receipt: Receipt) {
        connection?.hear(receipt, of: uid, isFirst: !isAnswered)
        isAnswered = true
    }
}
