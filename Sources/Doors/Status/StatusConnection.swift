import Reactor
import Status

/// One client's connection: its messages are answered one after the other, so that each sees what those before it did.
@EventLoop
final class StatusConnection: StreamHandler, DoorConnection {
    private let stream: Stream
    private unowned let door: StatusStreamDoor
    private let circuits: Circuits
    private var arrival: Arrival
    private var messages: MessageStream
    /// Whole messages of the last read that are not begun; nothing more is read while there are any.
    private var waiting: [[UInt8]] = []
    private var isAnswering = false
    private var strangeMessages = 0
    private var pace: MessagePace
    /// Runs while a message is incomplete.
    private var deadline: Timer?
    /// Runs while the connection has to wait for its rate.
    private var pause: Timer?
    private var isShuttingDown = false
    private var hasEnded = false

    /// Bytes of answers that a client may leave unread before its next message is looked at.
    private static let unsentLimit = 65_536

    init(_ stream: Stream, by circuits: Circuits, door: StatusStreamDoor) {
        self.stream = stream
        self.door = door
        self.circuits = circuits
        arrival = Arrival(at: circuits)
        messages = MessageStream(maximumLength: door.settings.messageBytes)
        pace = MessagePace(rate: door.settings.rate)
        stream.idleTimeout = door.settings.idleTimeout
        stream.handler = self
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        var start = 0
        switch arrival.receive(bytes, from: &start, at: circuits) {
        case .waiting: watchMessage()
        case .refused: end()
        case .known(let circuit):
            circuit.spend(frames: 0, bytes: bytes.byteCount - start)
            take(Span<UInt8>(_bytes: bytes), from: start)
        }
    }

    private func take(_ bytes: Span<UInt8>, from start: Int) {
        var position = start
        do throws(MessageStreamError) {
            while let message = try messages.next(in: bytes, from: &position) { waiting.append(message) }
        } catch {
            door.server.figures.count("refused")
            arrival.strike()
            return end()
        }
        // What came first is taken last from the end.
        waiting.reverse()
        answerNext()
    }

    private func watchMessage() {
        guard messages.isIncomplete || arrival.isWaiting else {
            deadline?.stop()
            return
        }
        let timer = deadline ?? Timer { [unowned self] in timeOut() }
        deadline = timer
        // The deadline is that of the message, not of its last part.
        if !timer.isRunning { timer.start(after: door.settings.messageDeadline) }
    }

    private func timeOut() {
        arrival.strike()
        end()
    }

    private func readOn() {
        guard arrival.mayRead(self) else { return holdBack() }
        stream.resumeReading()
        watchMessage()
    }

    private func holdBack() {
        stream.pauseReading()
        // The rest of a message is late through us.
        deadline?.stop()
    }

    private func answerNext() {
        guard !isAnswering, !hasEnded else { return }
        guard !waiting.isEmpty else { return isShuttingDown ? end() : readOn() }
        holdBack()
        guard stream.unsentBytes < StatusConnection.unsentLimit, hasShare() else { return }
        isAnswering = true
        arrival.circuit?.spend(frames: 1, bytes: 0)
        door.server.take(waiting.removeLast()) { [self] reply in
            isAnswering = false
            guard !hasEnded else { return }
            switch reply {
            case .message(let message):
                stream.write(MessageStream.prefix(of: message))
                stream.write(message)
            case .silence: break
            case .unreadable:
                strangeMessages += 1
                if strangeMessages >= door.settings.strangeMessages { return end() }
            }
            if isShuttingDown { end() } else { answerNext() }
        }
    }

    func streamFlushed(_ stream: Stream) { answerNext() }

    /// Whether the next message may be taken now; else it is, when its time has come.
    private func hasShare() -> Bool {
        let now = EventLoop.monotonicNanoseconds
        let delay = max(pace.delay(at: now), door.pace.delay(at: now))
        guard delay > 0 else {
            pace.count(at: now)
            door.pace.count(at: now)
            return true
        }
        let timer = pause ?? Timer { [unowned self] in answerNext() }
        pause = timer
        if !timer.isRunning {
            door.slowed += 1
            timer.start(after: .nanoseconds(delay))
        }
        return false
    }

    func shutDown() {
        isShuttingDown = true
        stream.pauseReading()
        if !isAnswering { end() }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { self.end() }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        deadline?.stop()
        pause?.stop()
        stream.closeWhenFlushed()
        arrival.leave(self, hasMisbehaved: false)
        door.ended(self)
    }
}

extension StatusConnection: CircuitMember {
    func circuitMayBeRead() { answerNext() }
}
