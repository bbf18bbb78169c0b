import Reactor

/// The number of messages that all web push lanes together seal in one turn of the loop. Sealing a message
/// costs 100 to 250 us of the loop's time, which others need too: then it is the turn of what else waits.
@EventLoop
final class SealingBudget {
    static let perTurn = 12

    private(set) var left = perTurn
    /// Gateways that wait, in the order in which they came: whichever gets nothing of a turn is the first of the next.
    private var waiting: [(id: ObjectIdentifier, tell: @EventLoop () -> Void)] = []
    private let refill = Timer()

    init() {
        // A timer, and not the turn's end: sockets are looked at before it.
        refill.action = { [unowned self] in
            left = SealingBudget.perTurn
            let waiting = waiting
            self.waiting = []
            for one in waiting { one.tell() }
        }
    }

    func take() {
        left -= 1
        if !refill.isRunning { refill.start(after: .zero) }
    }

    /// Calls `tell` once when something is left again. To be called only while nothing is.
    func wait(_ gateway: AnyObject, _ tell: @escaping @EventLoop () -> Void) {
        let id = ObjectIdentifier(gateway)
        if !waiting.contains(where: { $0.id == id }) { waiting.append((id, tell)) }
    }
}
