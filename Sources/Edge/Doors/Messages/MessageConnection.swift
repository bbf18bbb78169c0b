import Reactor
import Relay
import Wire

/// One client's connection: its messages are answered one after the other, so that each sees what those before it did.
@EventLoop
final class MessageConnection: DoorConnection {
    private unowned let door: MessageDoor
    private var messages: MessageStream
    /// Whole messages of the last read that are not begun, the oldest last; nothing more is read while there are any.
    private var waiting: [[UInt8]] = []
    private var isAnswering = false
    private var strangeMessages = 0
    private var used = Rate.Use()
    /// The timer that runs while the connection has to wait for its rate.
    private var pause: Timer?

    init(_ stream: Stream, by circuits: Circuits, door: MessageDoor, at places: Places) {
        self.door = door
        messages = MessageStream(maximumLength: door.settings.messageBytes)
        super.init(
            stream, Arrival(circuits: circuits), at: places, limits: door.limits)
    }

    override func received(_ bytes: RawSpan) -> Int {
        let bytes = Span<UInt8>(_bytes: bytes)
        var position = 0
        do throws(MessageStreamError) {
            while let message = try messages.next(in: bytes, from: &position) { waiting.append(message) }
        } catch {
            door.onRefusal()
            strike()
            end(.finished)
            return 0
        }
        waiting.reverse()
        return 0
    }

    override var wantsMore: Bool { waiting.isEmpty && !isAnswering }
    override var isIncomplete: Bool { messages.isIncomplete }
    override var isBusy: Bool { isAnswering }
    override var heldBytes: Int { messages.heldBytes + waiting.reduce(0) { $0 + $1.count + 32 } }

    override func deadlinePassed() {
        strike()
        end(.late)
    }

    override func proceed() {
        guard !isAnswering, !isShuttingDown, !waiting.isEmpty, !isHeldBack, takeShare() else { return }
        isAnswering = true
        spend(frames: 1)
        door.take(waiting.removeLast(), circuit?.sender) { [self] reply in
            isAnswering = false
            guard !hasEnded else { return }
            switch reply {
            case .message(let message):
                write {
                    $0 += MessageStream.prefix(of: message)
                    $0 += message
                }
            case .silence: break
            case .unreadable:
                strangeMessages += 1
                if strangeMessages >= door.settings.strangeMessages { return end(.finished) }
            }
            goOn()
        }
    }

    /// Takes the share of the next message, which is then counted. If there is none, the connection goes on when its time
    /// has come.
    ///
    /// - Returns: Whether the message may be taken now.
    private func takeShare() -> Bool {
        let now = EventLoop.now
        let delay = max(
            door.rate.delay(after: used, at: now), door.totalRate.delay(after: door.used, at: now))
        guard delay > .zero else {
            door.rate.add(to: &used, at: now)
            door.totalRate.add(to: &door.used, at: now)
            return true
        }
        let timer = pause ?? Timer { [unowned self] in goOn() }
        pause = timer
        if !timer.isRunning {
            door.slowed += 1
            timer.start(after: delay)
        }
        return false
    }

    override func willEnd(_ end: End) { pause?.stop() }
}
