import Reactor
import Relay

/// Waits for the gateway's verdict on what a request brought: answers once, with the end if it comes in time, else with
/// what is known then. Keeps itself until it has, also when the dispatcher has no ear for the end any more.
@EventLoop
final class OutcomeWait {
    /// Of what was stored, for the answer.
    var id: NotificationID?
    private var answer: (@EventLoop (Receipt, NotificationID?) -> Void)?
    private var timer: Timer?
    private let deadline: Duration

    init(deadline: Duration, answer: @escaping @EventLoop (Receipt, NotificationID?) -> Void) {
        self.answer = answer
        self.deadline = deadline
        timer = Timer { [self] in end(with: .stored) }
    }

    /// The dispatcher's receipts, one after the other.
    func take(_ receipt: Receipt) {
        // Stored: from here on the node is responsible, whatever the gateway says later.
        if receipt == .stored { timer?.start(after: deadline) } else { end(with: receipt) }
    }

    private func end(with receipt: Receipt) {
        timer = nil
        answer?(receipt, id)
        answer = nil
    }
}
