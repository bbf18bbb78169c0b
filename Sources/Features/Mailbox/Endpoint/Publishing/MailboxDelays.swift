import Persistence
import Reactor
import Relay

/// The schedule of texts that were published for later: when the next one is due, and what is done then.
///
/// The schedule's time is by the wall clock; the timer goes by another. So whoever cleans up calls ``look()``
/// as well, once a minute.
@EventLoop
final class MailboxDelays {
    private let store: StoredMailboxes
    private let bounds: MailboxBounds
    private let onDelivery: (Set<Int64>) -> Void
    private let timer = Timer()
    /// The time of the next text, in milliseconds since 1970; `nil`: nothing waits, as far as is known.
    private var next: Int64?
    private var isLooking = false
    private var isStopped = false

    private static let pause: Int64 = 5000

    /// Makes an empty schedule.
    ///
    /// - Parameter onDelivery: Called with the mailboxes that have got texts.
    init(
        store: StoredMailboxes, bounds: MailboxBounds, onDelivery: @escaping @EventLoop (Set<Int64>) -> Void
    ) {
        (self.store, self.bounds, self.onDelivery) = (store, bounds, onDelivery)
        timer.action = { [unowned self] in look() }
    }

    func stop() {
        isStopped = true
        timer.stop()
    }

    /// Notes the time at which a text is due, in milliseconds since 1970.
    func note(_ due: Int64) {
        guard due < next ?? .max else { return }
        next = due
        start()
    }

    func look() {
        guard !isLooking, !isStopped else { return }
        isLooking = true
        Task { await lookNow() }
    }

    private func lookNow() async {
        let now = EventLoop.unixMilliseconds
        // What was noted meanwhile may not be in the answer.
        next = nil
        do throws(OutboxError) {
            let delivery = try await store.deliver(dueAt: now, within: bounds)
            onDelivery(delivery.mailboxes)
            if let due = delivery.next { next = min(due, next ?? .max) }
        } catch {
            next = now + MailboxDelays.pause
        }
        isLooking = false
        start()
    }

    private func start() {
        guard let next, !isStopped else { return }
        timer.start(after: .milliseconds(max(0, next - EventLoop.unixMilliseconds)))
    }
}
