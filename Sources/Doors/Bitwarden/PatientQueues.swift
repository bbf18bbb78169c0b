import Dispatching
import Reactor
import Relay

/// Submissions of senders that never come again: while a phone has had its share, they wait for their turns, one behind
/// the other.
///
/// Nothing is promised meanwhile: the senders hear nothing.
@EventLoop
final class PatientQueues {
    typealias Reply = @EventLoop (Receipt) -> Void

    private struct Waiting {
        let submission: Submission
        /// Monotonic nanoseconds.
        let end: Int64
        let reply: Reply
    }

    /// Where a submission goes, as it names it.
    private struct Phone: Hashable {
        let app: String
        let deviceToken: DeviceToken
    }

    private let dispatcher: Dispatcher
    private let figures: DoorCounter
    private let patience: Duration
    /// Of the phones that have had their share: the first of each is tried again by the timer.
    private var queues: [Phone: (waiting: ArraySlice<Waiting>, timer: Timer)] = [:]

    /// - Parameter patience: that long a submission waits at most.
    init(to dispatcher: Dispatcher, from figures: DoorCounter, patience: Duration) {
        self.dispatcher = dispatcher
        self.figures = figures
        self.patience = patience
    }

    /// - Parameter reply: called with every receipt, as the dispatcher does.
    func submit(_ submission: Submission, reply: @escaping Reply) {
        let phone = Phone(app: submission.app, deviceToken: submission.deviceToken)
        let end = EventLoop.monotonicNanoseconds + patience.nanoseconds
        let waiting = Waiting(submission: submission, end: end, reply: reply)
        if queues[phone] == nil, let delay = attempt(waiting) {
            let timer = Timer { [unowned self] in goOn(phone) }
            queues[phone] = ([], timer)
            timer.start(after: delay)
        }
        queues[phone]?.waiting.append(waiting)
    }

    /// - Returns: when to try again; `nil`: the sender is or will be told.
    private func attempt(_ waiting: Waiting) -> Duration? {
        var delay: Duration?
        var isFirst = true
        let (end, reply) = (waiting.end, waiting.reply)
        // Kept until the end of the notification: not the submission.
        dispatcher.submit(waiting.submission, from: figures, awaitsOutcome: true) { receipt in
            defer { isFirst = false }
            if isFirst, case .busy(.device(let time)) = receipt,
                EventLoop.monotonicNanoseconds + time.nanoseconds <= end
            {
                delay = time
            } else {
                reply(receipt)
            }
        }
        return delay
    }

    private func goOn(_ phone: Phone) {
        while let first = queues[phone]?.waiting.first {
            if let delay = attempt(first) {
                queues[phone]?.timer.start(after: delay)
                return
            }
            queues[phone]?.waiting.removeFirst()
        }
        queues[phone] = nil
    }
}
