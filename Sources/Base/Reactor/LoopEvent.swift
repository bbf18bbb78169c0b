import CEvent
import Glibc

/// Owns one libevent event and the reference that its callback needs.
///
/// The callback's context is this object, unretained: `event_free` in `deinit` takes the event out of the loop, so it
/// can't be called afterwards. The owner keeps this object as long as it wants the event.
@EventLoop
final class LoopEvent {
    private var event: OpaquePointer!
    /// The action, which is called on the loop's thread only. It does without the loop's isolation: the check for each event
    /// would cost more than most actions.
    private nonisolated(unsafe) let action: (Int16) -> Void

    /// Makes an event of libevent.
    ///
    /// - Parameters:
    ///   - descriptor: A socket, a signal's number with `EV_SIGNAL`, or -1 for a timer or an event made active by hand.
    ///   - action: Called with what happened (`EV_READ`, `EV_WRITE`, `EV_TIMEOUT`, ...).
    init(descriptor: CInt, events: Int32, action: @escaping @EventLoop (Int16) -> Void) {
        self.action = unsafeBitCast(action, to: ((Int16) -> Void).self)
        event = event_new(
            EventLoop.shared.executor.base, descriptor, Int16(events), LoopEvent.call,
            Unmanaged.passUnretained(self).toOpaque())
        precondition(event != nil, "out of memory for an event")
    }

    /// The function that libevent calls, on the loop's thread.
    private nonisolated static let call: event_callback_fn = { _, what, context in
        // Held for the call: the action may let go of its event.
        let event = Unmanaged<LoopEvent>.fromOpaque(context!).takeUnretainedValue()
        EventLoop.shared.executor.measured {
            withExtendedLifetime(event) { event.action(what) }
        }
    }

    /// Calls the action only when no other event is to be handled. Before the event is added.
    func makeLast() {
        let code = event_priority_set(event, 2)
        precondition(code == 0, "an event's priority is set while it is active")
    }

    isolated deinit { event_free(event) }

    /// Watches from now on. When the kernel has no room to watch one more descriptor, the action is called with
    /// ``failed`` later in this turn.
    func add(timeout: Duration? = nil) { add(timeout: timeout.map { timeval($0) }) }

    /// Adds the event with a time in milliseconds; the largest number means no time.
    func add(milliseconds: UInt32) {
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        add(
            timeout: milliseconds == .max
                ? nil : timeval(tv_sec: Int(seconds), tv_usec: Int(rest) * 1000))
    }

    private func add(timeout: timeval?) {
        var time = timeout ?? timeval()
        let code = timeout == nil ? event_add(event, nil) : event_add(event, &time)
        if code != 0 { event_active(event, LoopEvent.failed, 0) }
    }

    func remove() {
        let code = event_del(event)
        precondition(code == 0, "an event can't be taken out of the loop: errno \(errno)")
    }

    /// The flag with which an action is called for an event that can't be watched.
    static let failed = EV_CLOSED

    /// Calls the action later in this turn of the loop.
    func activate() { event_active(event, Int32(EV_TIMEOUT), 0) }
}

extension timeval {
    /// Makes a time from a duration; durations below zero are zero.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(tv_sec: Int(max(0, seconds)), tv_usec: Int(max(0, attoseconds / 1_000_000_000_000)))
    }
}

/// An action that a timer or its like calls, and whether it is to be called. The event's callback holds this and not the
/// timer, so that a timer is whole once it is made.
@EventLoop
private final class PendingAction {
    var isPending = false
    var action: @EventLoop () -> Void

    init(_ action: (@EventLoop () -> Void)?) {
        self.action = action ?? { preconditionFailure("an action that nobody has set") }
    }

    func run() {
        isPending = false
        action()
    }
}

extension LoopEvent {
    /// Makes an event that no descriptor brings about, but its time or ``activate()``.
    fileprivate convenience init(running pending: PendingAction) {
        self.init(descriptor: -1, events: 0) { what in
            precondition(Int32(what) & LoopEvent.failed == 0, "out of memory for a timer")
            pending.run()
        }
    }
}

/// A timer that calls its action once after a time, unless stopped or started anew before. Not called after
/// the timer is let go.
@EventLoop
package final class Timer {
    private let event: LoopEvent
    private let pending: PendingAction
    package var isRunning: Bool { pending.isPending }

    /// The call at the end of the time. An owner that is called itself sets it in its initializer, before the first start.
    package var action: @EventLoop () -> Void {
        get { pending.action }
        set { pending.action = newValue }
    }

    package init(_ action: (@EventLoop () -> Void)? = nil) {
        pending = PendingAction(action)
        event = LoopEvent(running: pending)
    }

    package func start(after duration: Duration) {
        pending.isPending = true
        event.add(timeout: duration)
    }

    package func stop() {
        pending.isPending = false
        event.remove()
    }
}

/// An action that is called once at the end of the loop's present turn, however often it was scheduled in that turn. It suits
/// work that is worth doing once for all that the turn has brought.
@EventLoop
package final class EndOfTurn {
    private let event: LoopEvent
    private let pending: PendingAction

    /// The call at the end of the turn: see ``Timer/action``.
    package var action: @EventLoop () -> Void {
        get { pending.action }
        set { pending.action = newValue }
    }

    package init(_ action: (@EventLoop () -> Void)? = nil) {
        pending = PendingAction(action)
        event = LoopEvent(running: pending)
    }

    package func schedule() {
        guard !pending.isPending else { return }
        pending.isPending = true
        event.activate()
    }
}

/// An action that is called once when the loop has nothing else to do, or when its patience is over. It suits work that costs
/// less per item the more items are gathered. While the loop is at rest, nobody waits for it.
@EventLoop
package final class WhenIdle {
    private var event: LoopEvent!
    private let deadline = Timer()
    private let patience: Duration
    private let pending: PendingAction
    package var isScheduled: Bool { pending.isPending }

    /// The call when the loop is idle: see ``Timer/action``.
    package var action: @EventLoop () -> Void {
        get { pending.action }
        set { pending.action = newValue }
    }

    package init(patience: Duration, _ action: (@EventLoop () -> Void)? = nil) {
        self.patience = patience
        pending = PendingAction(action)
        event = LoopEvent(descriptor: -1, events: 0) { [unowned self] _ in run() }
        event.makeLast()
        deadline.action = { [unowned self] in run() }
    }

    package func schedule() {
        guard !isScheduled else { return }
        pending.isPending = true
        event.activate()
        deadline.start(after: patience)
    }

    private func run() {
        guard isScheduled else { return }
        event.remove()
        deadline.stop()
        pending.run()
    }
}

/// An action that is called on the loop whenever the process gets the signal, in place of the signal's
/// default.
@EventLoop
package final class SignalSource {
    private let event: LoopEvent

    package init(_ number: CInt, _ action: @escaping @EventLoop () -> Void) {
        event = LoopEvent(descriptor: number, events: EV_SIGNAL | EV_PERSIST) { _ in action() }
        event.add()
    }
}
