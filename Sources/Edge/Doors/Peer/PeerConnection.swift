import Dispatching
import Reactor
import Relay
import Wire

/// One peer's connection: the shell around a ``Wire/PeerSession``.
@EventLoop
final class PeerConnection: DoorConnection {
    private enum Request {
        case notification(MobileNotificationRequest)
        case wayBack(PeerTurn.WayBack)
    }

    /// Requests that one turn of the loop begins: a bundle brings some hundreds in one read, each for 10 to 20 microseconds.
    static let requestsPerTurn = 64
    /// A request about replies costs as much as so many others: 60 microseconds.
    static let weightOfWayBack = 4

    private unowned let door: PeerDoor
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) private var session: PeerSession
    /// Requests submitted whose first receipt is still to come.
    @exclusivity(unchecked) private var unanswered = 0
    /// Requests of a read for which this turn of the loop has no time, in their order. Nothing is read until they are done,
    /// so that they are never more than one read holds.
    private var later: ArraySlice<Request> = []
    private var isGoingOn = false
    /// The reason why the connection ends, where that is the protocol's matter.
    private var reason: PeerClose?

    init(_ stream: Stream, door: PeerDoor, at places: Places) {
        self.door = door
        let settings = door.settings
        session = PeerSession(network: settings.network, limits: settings.limits)
        super.init(
            stream, Arrival(circuits: door.circuits), at: places, limits: door.limits)
    }

    // MARK: In

    override func received(_ bytes: RawSpan) -> Int {
        session.receive(bytes, at: lastHeard, into: &door.turn)
        let (frames, weight) = (door.turn.frameCount, door.turn.weight)
        door.counters.frames += frames
        if !door.turn.replies.isEmpty { write { $0 += door.turn.replies } }
        // A frame has ended: what is incomplete now is another one.
        if frames > 0 { stopDeadline() }
        let reason = door.turn.close
        // Taken out of the turn one by one, whose room is used again: no copy of the list, and none of a request.
        var room = later.isEmpty ? PeerConnection.requestsPerTurn : 0
        for index in door.turn.requests.indices {
            let request = door.turn.takeRequest(at: index)
            if room > 0 { submit(request) } else { later.append(.notification(request)) }
            room -= 1
        }
        for request in door.turn.wayBack {
            if room > 0 { take(request) } else { later.append(.wayBack(request)) }
            room -= PeerConnection.weightOfWayBack
        }
        door.turn.clear()
        if !later.isEmpty { goOnLater() }
        if let reason { close(reason) }
        return weight
    }

    /// Does the rest of a read in the next turns, also when the connection has ended: what was read whole is
    /// taken.
    private func goOnLater() {
        guard !isGoingOn else { return }
        isGoingOn = true
        // The door stays as long: it may close meanwhile.
        Task { [door] in
            defer { withExtendedLifetime(door) {} }
            while !later.isEmpty {
                await EventLoop.nextTurn()
                var room = PeerConnection.requestsPerTurn
                while room > 0, let next = later.popFirst() {
                    switch next {
                    case .notification(let request):
                        submit(request)
                        room -= 1
                    case .wayBack(let request):
                        take(request)
                        room -= PeerConnection.weightOfWayBack
                    }
                }
            }
            later = []
            isGoingOn = false
            goOn()
        }
    }

    private func submit(_ request: consuming MobileNotificationRequest) {
        unanswered += 1
        if unanswered == door.settings.unanswered { door.counters.heldBack += 1 }
        let pending = PendingRequest(uid: request.uid, of: self)
        let awaitsOutcome = request.awaitsOutcome
        var submission = Submission(request)
        submission.patience = .short
        submission.mayWait = !awaitsOutcome
        submission.sender = circuit?.sender
        door.dispatcher.submit(submission, from: door.counter, awaitsOutcome: awaitsOutcome) {
            pending.hear($0)
        }
    }

    fileprivate func hear(_ receipt: Receipt, of uid: String, isFirst: Bool) {
        let hasWaited = !wantsMore || isHeldBack || isShuttingDown
        if isFirst { unanswered -= 1 }
        guard !hasEnded else { return }
        if let response = MobileNotificationResponse(receipt, to: uid) {
            write(Envelope(messageVersion: session.messageVersion, message: .notificationResponse(response)))
        }
        if hasWaited || isHeldBack { goOn() }
    }

    private func write(_ envelope: Envelope) { write { envelope.appendFrame(to: &$0) } }

    private func take(_ request: PeerTurn.WayBack) {
        unanswered += 1
        Task {
            let answer =
                await door.replies?.answer(request) { strike() }
                ?? request.refusal(Reason.gatewayDisabled.code)
            let hasWaited = !wantsMore || isHeldBack || isShuttingDown
            unanswered -= 1
            guard !hasEnded else { return }
            write(Envelope(messageVersion: session.messageVersion, message: answer))
            if hasWaited || isHeldBack { goOn() }
        }
    }

    /// Whether more is read: a peer gets on no faster than its notifications are stored.
    override var wantsMore: Bool { unanswered < door.settings.unanswered && later.isEmpty }
    override var isIncomplete: Bool { session.isFrameIncomplete }
    override var isBusy: Bool { unanswered > 0 || !later.isEmpty }
    override var heldBytes: Int { session.heldBytes + later.count * PeerConnection.bytesOfRequest }

    /// Bytes of a request that waits for its turn, about.
    private static let bytesOfRequest = 1024

    // MARK: Ending

    private func close(_ reason: PeerClose) {
        self.reason = reason
        end(.finished)
    }

    override func willEnd(_ end: End) {
        let reason = reason ?? PeerClose(end)
        // With the close message that belongs to the reason, unless the session has said it.
        var turn = PeerTurn()
        session.close(reason, into: &turn)
        if !turn.replies.isEmpty { write { $0 += turn.replies } }
        if reason.isMisdeed { strike() }
        door.ended(reason)
    }
}

extension PeerClose {
    fileprivate init(_ end: DoorConnection.End) {
        switch end {
        case .lost, .finished: self = .connectionLost
        case .idle: self = .idle
        case .unread: self = .slowReader
        case .late: self = .frameTimeout
        case .withoutLine: self = .noCircuit
        case .refused, .evicted, .greedy: self = .tooManyConnections
        case .shutDown, .handedOn: self = .shutDown
        }
    }
}

/// A request whose sender may hear of its end. Since it is kept until then, it holds the uid, but neither message nor token.
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
