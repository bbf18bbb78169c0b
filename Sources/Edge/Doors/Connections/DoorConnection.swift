import Clocks
import Reactor
import TLS
import Wire

/// One client's connection in any protocol: the way it came in, TLS, its deadlines and its end. It is read no faster than it
/// is answered. A door's own connection adds the protocol.
@EventLoop
class DoorConnection: StreamHandler {
    /// The limits of a door's connections, which share them: there are many, and none holds a copy.
    final class Limits: Sendable {
        /// The time without a byte from the client after which the connection ends.
        let idleTimeout: Duration
        /// The time after which the connection ends if the client takes nothing, while an answer waits for
        /// it.
        let sendTimeout: Duration
        /// The longest time from the first byte of what can be taken to its last. Tor's line and the TLS
        /// handshake have it too.
        let deadline: Duration
        /// The bytes of answers that the client may leave unread; at this number it is read no further.
        let unsentBytes: Int

        init(
            idleTimeout: Duration, sendTimeout: Duration = .seconds(60), deadline: Duration,
            unsentBytes: Int = 65_536
        ) {
            self.idleTimeout = idleTimeout
            self.sendTimeout = sendTimeout
            self.deadline = deadline
            self.unsentBytes = unsentBytes
        }
    }

    /// How a connection came to a door.
    struct Arrival {
        let circuits: Circuits
        /// The origin of the connection; `nil`: not known, or tor tells it with the first bytes.
        var origin: Origin?
        /// The TLS session; `nil`: plain text.
        var tls: TLSSession?
    }

    private enum State {
        /// Tor's line on the circuit is not whole yet.
        case arriving(ProxyLineDecoder)
        case shakingHands(Circuit, TLSSession)
        case open(Circuit, TLSSession?)
        case ended
    }

    private let stream: Stream
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) private unowned var places: Places
    private let arrival: Arrival
    private let limits: Limits
    @exclusivity(unchecked) private var state = State.arriving(ProxyLineDecoder())
    private var deadline: Timer?
    private(set) var isShuttingDown = false
    /// Whether a connection that is shut down has still time for its first request, or for the rest of one.
    private var hasGrace = false
    /// Whether the client has sent anything itself.
    private var hasSpoken = false
    /// The time at which the client was heard last.
    private(set) var lastHeard: MonotonicTime
    /// Whether the client has shown that it may be here: then it has places that strangers don't take (``Places``).
    final var isKnown = false
    /// The bytes that ``BufferRoom`` has counted.
    final var countedBytes = 0

    init(_ stream: Stream, _ arrival: Arrival, at places: Places, limits: Limits) {
        self.stream = stream
        self.arrival = arrival
        self.places = places
        self.limits = limits
        lastHeard = EventLoop.now
        stream.idleTimeout = limits.idleTimeout
        stream.sendTimeout = limits.sendTimeout
    }

    /// Begins to serve the connection.
    final func begin() {
        places.enter(self)
        stream.handler = self
        if let circuit = stream.circuit, arrival.circuits.settings.knowsCircuits {
            enter(by: .circuit(circuit))
        }
        if !arrival.circuits.settings.knowsCircuits { enter(by: arrival.origin) }
    }

    // MARK: The protocol's part

    /// Takes plain text that the client has sent, and answers what it can.
    ///
    /// - Returns: The number of frames or requests that count for the circuit.
    func received(_ bytes: RawSpan) -> Int { 0 }
    /// Goes on with what could not be done before: the client has taken its answers, or may be read again.
    func proceed() {}
    /// Whether more may be read, as far as the protocol goes.
    var wantsMore: Bool { true }
    /// Whether something has begun and is not whole: then the deadline runs.
    var isIncomplete: Bool { false }
    /// Whether answers are still to be given.
    var isBusy: Bool { false }
    /// The time since which the client has said nothing that counts when places are short.
    var silentSince: MonotonicTime { lastHeard }
    /// Bytes that were read and are not done with.
    var heldBytes: Int { 0 }
    /// Ends the connection: a frame or request that is incomplete has had its time.
    func deadlinePassed() { end(.late) }
    /// Called last, when the connection ends: for last words, and for the door's books.
    func willEnd(_ end: End) {}

    // MARK: In

    final func stream(_ stream: Stream, received bytes: RawSpan) {
        guard case .arriving(var decoder) = state else {
            lastHeard = EventLoop.now
            return take(bytes)
        }
        var start = 0
        do throws(ProxyLineError) {
            guard let line = try decoder.decode(Span<UInt8>(_bytes: bytes), from: &start) else {
                state = .arriving(decoder)
                return startDeadline()
            }
            stopDeadline()
            lastHeard = EventLoop.now
            enter(by: .circuit(line.circuit))
            if !hasEnded { take(bytes.extracting(start..<bytes.byteCount)) }
        } catch {
            arrival.circuits.counters.withoutLine += 1
            end(.withoutLine)
        }
    }

    private func enter(by origin: Origin?) {
        guard let circuit = arrival.circuits.join(origin) else { return end(.refused) }
        if circuit.isKnown { isKnown = true }
        if let tls = arrival.tls {
            state = .shakingHands(circuit, tls)
            startDeadline()
        } else {
            state = .open(circuit, nil)
        }
    }

    private func take(_ bytes: RawSpan) {
        if bytes.byteCount > 0 { hasSpoken = true }
        switch state {
        case .arriving, .ended: return
        case .open(let circuit, nil): circuit.spend(frames: received(bytes), bytes: bytes.byteCount)
        case .shakingHands(let circuit, let tls), .open(let circuit, let tls?):
            var frames = 0
            tls.receive(bytes) { frames += received($0) }
            circuit.spend(frames: frames, bytes: bytes.byteCount)
            guard !hasEnded else { return }
            if tls.hasOutput { stream.write { tls.takeOutput(into: &$0) } }
            switch tls.state {
            case .handshaking: return
            case .open:
                guard case .shakingHands = state else { break }
                stopDeadline()
                state = .open(circuit, tls)
            case .closed, .failed: return end(.lost)
            }
        }
        goOn()
    }

    /// Does what can be done now, and reads on if it may.
    final func goOn() {
        guard case .open(let circuit, _) = state else { return }
        proceed()
        guard !hasEnded else { return }
        if isShuttingDown, !isBusy, !isAwaited { return end(.shutDown) }
        if !isShuttingDown || isAwaited, wantsMore, !isHeldBack, circuit.askToRead(self) {
            stream.resumeReading()
            if isIncomplete { startDeadline() } else { stopDeadline() }
        } else {
            stream.pauseReading()
            // The rest of what is incomplete is late through us.
            stopDeadline()
        }
        countHeld()
    }

    /// Tells the room how many bytes the connection holds.
    final func countHeld() {
        guard case .open(_, let tls) = state else { return }
        places.room.count(
            self, heldBytes + stream.unsentBytes + (tls == nil ? 0 : DoorConnection.bytesOfTLS))
    }

    /// A session's own buffers, about.
    private static let bytesOfTLS = 32 << 10

    /// Whether the connection waits until the client has taken the answers before.
    final var isHeldBack: Bool { stream.unsentBytes >= limits.unsentBytes }

    final func streamFlushed(_ stream: Stream) { goOn() }

    /// Counts requests of the protocol's for the circuit.
    final func spend(frames: Int) { circuit?.spend(frames: frames, bytes: 0) }

    /// Counts a broken rule for the circuit.
    final func strike() { circuit?.strike() }

    final var circuit: Circuit? {
        switch state {
        case .shakingHands(let circuit, _), .open(let circuit, _): circuit
        case .arriving, .ended: nil
        }
    }

    /// The client's address; `nil` of a Unix socket.
    final var peerAddress: NetworkAddress? { stream.peerAddress }

    /// Moves the connection to another origin: it turned out to be somebody else's, as behind a proxy.
    ///
    /// - Returns: Whether there is room for it.
    final func move(to origin: Origin) -> Bool {
        guard case .open(let circuit, let tls) = state, circuit.origin != origin else { return true }
        guard let other = arrival.circuits.join(origin) else { return false }
        circuit.leave(self)
        state = .open(other, tls)
        return true
    }

    /// Lets the connection stay, perhaps for days: from now on it takes one of these places.
    ///
    /// - Parameter silence: The longest time for which nothing may come from the client; `nil`: for ever.
    final func stay(at places: Places, silence: Duration?) {
        self.places.leave(self)
        self.places = places
        places.enter(self)
        stream.idleTimeout = silence
        // It says little for a long time.
        stream.keptOutputCapacity = 0
    }

    // MARK: Deadlines

    /// Starts the deadline of the whole, not of its last part: one that runs is left alone.
    private func startDeadline() {
        let timer = deadline ?? Timer { [unowned self] in timeOut() }
        deadline = timer
        if !timer.isRunning { timer.start(after: limits.deadline) }
    }

    final func stopDeadline() {
        if let deadline, deadline.isRunning { deadline.stop() }
    }

    private func timeOut() {
        if case .shakingHands = state { return end(.late) }
        deadlinePassed()
    }

    /// Reads nothing until an answer was given, and ends if the client does before.
    final func awaitAnswer() { stream.endWithPeer() }

    // MARK: Out

    final func write(_ body: (inout [UInt8]) -> Void) {
        guard case .open(_, let tls?) = state else { return stream.write(with: body) }
        var plain: [UInt8] = []
        body(&plain)
        tls.write(plain)
        stream.write { tls.takeOutput(into: &$0) }
    }

    // MARK: The end

    /// Takes nothing more, and ends when what it took is answered. A client that has said nothing yet is the successor's.
    ///
    /// - Parameter grace: The time for a client that has just come, or whose request is on its way: it may send no second
    ///   one.
    final func shutDown(grace: Duration = .zero) {
        isShuttingDown = true
        if !hasSpoken, handOn() { return end(.handedOn) }
        hasGrace = grace > .zero && (hasSpoken || EventLoop.now - lastHeard < grace)
        guard !isAwaited else { return }
        stream.pauseReading()
        if !isBusy { end(.shutDown) }
    }

    private func handOn() -> Bool {
        if case .arriving(let decoder) = state, !decoder.isEmpty { return false }
        guard case .circuit(let number)? = circuit?.origin else { return stream.handOn(circuit: nil) }
        return stream.handOn(circuit: number)
    }

    /// Waits no longer for requests that are not whole.
    final func endGrace() {
        hasGrace = false
        if isShuttingDown, !isBusy { end(.shutDown) }
    }

    private var isAwaited: Bool { hasGrace && !isBusy && (isIncomplete || !hasSpoken) }

    final func stream(_ stream: Stream, ended end: StreamEnd) {
        switch end {
        case .idle: self.end(.idle)
        case .peerReadsNothing: self.end(.unread)
        case .closedByPeer, .failed: self.end(.lost)
        }
    }

    final var hasEnded: Bool {
        if case .ended = state { true } else { false }
    }

    final func end(_ end: End) {
        guard !hasEnded else { return }
        willEnd(end)
        let circuit = circuit
        if case .open(_, let tls?) = state {
            tls.close()
            stream.write { tls.takeOutput(into: &$0) }
        }
        state = .ended
        stopDeadline()
        // What waits to be sent is what made it too large.
        if end == .greedy { stream.close() } else { stream.closeWhenFlushed() }
        circuit?.leave(self)
        places.leave(self)
    }

    /// Goes on: the connection's circuit was slowed down, and has its share again.
    final func circuitMayBeRead() { goOn() }
}
