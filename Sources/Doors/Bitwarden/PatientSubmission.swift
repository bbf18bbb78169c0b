import Delivery
import Reactor
import Relay

/// A submission of a sender that never comes again: while the phone has had its share, it waits for its turn.
///
/// Nothing is promised meanwhile: the sender hears nothing.
@EventLoop
final class PatientSubmission {
    typealias Reply = @EventLoop (Receipt) -> Void

    private let submission: Submission
    private let dispatcher: Dispatcher
    private let figures: DoorCounter
    private let reply: Reply
    /// Monotonic nanoseconds.
    private let end: Int64
    /// Keeps this while it runs.
    private var timer: Timer?

    /// - Parameter patience: that long at most, from now on.
    init(
        _ submission: Submission, to dispatcher: Dispatcher, from figures: DoorCounter, patience: Duration,
        reply: @escaping Reply
    ) {
        self.submission = submission
        self.dispatcher = dispatcher
        self.figures = figures
        self.reply = reply
        end = EventLoop.monotonicNanoseconds + patience.nanoseconds
    }

    /// Replies with every receipt, as the dispatcher does.
    func submit() {
        timer = nil
        dispatcher.submit(submission, from: figures, awaitsOutcome: true) { [self] receipt in
            guard case .busy(.device(let delay)) = receipt,
                EventLoop.monotonicNanoseconds + delay.nanoseconds <= end
            else { return reply(receipt) }
            timer = Timer { [self] in submit() }
            timer?.start(after: delay)
        }
    }
}
