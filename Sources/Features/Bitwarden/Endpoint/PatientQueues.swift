import Clocks
import Dispatching
import Doors
import Encodings
import Reactor
import Relay

/// Submissions of senders that never retry: while a phone has had its share, they wait for their turns, one behind
/// the other.
///
/// Nothing is promised meanwhile: the senders hear nothing. What waits is bounded in bytes; of what is free at any time an
/// installation may take half, so that one that fills its part leaves room for the others.
@EventLoop
final class PatientQueues {
    typealias Reply = @EventLoop (Receipt) -> Void

    /// One send to many phones: its payload is there once, whatever number of phones waits for it.
    final class Send {
        let installation: String
        fileprivate let bytes: Int
        fileprivate var waiting = 0

        /// Makes a send.
        ///
        /// - Parameter bytes: Bytes of its payload.
        init(from installation: String, bytes: Int) {
            self.installation = installation
            self.bytes = bytes
        }
    }

    /// The phone that a submission goes to, as it names it.
    struct Phone: Hashable {
        let app: String
        let deviceToken: DeviceToken
    }

    private struct Waiting {
        let send: Send
        /// The call that makes the submission for each try. The text is not kept: it is long, and most of it is common to all
        /// phones of one push.
        let submission: @EventLoop () -> Submission
        /// The time at which the patience ends.
        let end: MonotonicTime
        let reply: Reply
    }

    private let dispatcher: Dispatcher
    private let figures: DoorCounter
    private let patience: Duration
    private let budget: Int
    /// The queues of the phones that have had their share: the first of each is tried again by the timer.
    private var queues: [Phone: (waiting: ArraySlice<Waiting>, timer: Timer)] = [:]
    /// The bytes that wait, by installation.
    private var bytes: [ByteText: Int] = [:]
    private(set) var totalBytes = 0

    /// Bytes of one waiting submission beside its payload, about.
    private static let bytesOfOne = 512

    /// Makes empty queues.
    ///
    /// - Parameters:
    ///   - patience: The longest time that a submission waits.
    ///   - budget: Bytes of all waiting submissions.
    init(to dispatcher: Dispatcher, from figures: DoorCounter, patience: Duration, budget: Int) {
        self.dispatcher = dispatcher
        self.figures = figures
        self.patience = patience
        self.budget = budget
    }

    /// Submits a push, or lets it wait for the phone's turn.
    ///
    /// - Parameter reply: Called with every receipt, as the dispatcher does.
    func submit(
        of send: Send, to phone: Phone, _ submission: @escaping @EventLoop () -> Submission,
        reply: @escaping Reply
    ) {
        let end = EventLoop.now + patience
        let waiting = Waiting(send: send, submission: submission, end: end, reply: reply)
        if let queue = queues[phone] {
            guard take(send) else {
                // Not before those that wait.
                let turns = Duration.seconds(queue.waiting.count / 2 + 1)
                return reply(.busy(.device(retryAfter: turns)))
            }
            queues[phone]?.waiting.append(waiting)
            return
        }
        guard let delay = attempt(waiting) else { return }
        guard take(send) else { return reply(.busy(.device(retryAfter: delay))) }
        let timer = Timer { [unowned self] in goOn(phone) }
        queues[phone] = ([waiting], timer)
        timer.start(after: delay)
    }

    /// Counts one more waiting submission; `false`: there is no room for it.
    private func take(_ send: Send) -> Bool {
        let size = PatientQueues.bytesOfOne + (send.waiting == 0 ? send.bytes : 0)
        let own = bytes[ByteText(send.installation)] ?? 0
        guard own + size <= (budget - (totalBytes - own)) / 2 else { return false }
        send.waiting += 1
        bytes[ByteText(send.installation)] = own + size
        totalBytes += size
        return true
    }

    private func giveBack(_ send: Send) {
        send.waiting -= 1
        let size = PatientQueues.bytesOfOne + (send.waiting == 0 ? send.bytes : 0)
        let own = (bytes[ByteText(send.installation)] ?? 0) - size
        bytes[ByteText(send.installation)] = own > 0 ? own : nil
        totalBytes -= size
    }

    /// Submits once.
    ///
    /// - Returns: The time after which to try again; `nil`: the sender has its answer or gets it.
    private func attempt(_ waiting: Waiting) -> Duration? {
        var delay: Duration?
        var isFirst = true
        let (end, reply) = (waiting.end, waiting.reply)
        // Kept until the end of the notification: not the submission.
        var submission = waiting.submission()
        submission.isNeverRepeated = true
        submission.patience = .full
        dispatcher.submit(submission, from: figures, awaitsOutcome: true) { receipt in
            defer { isFirst = false }
            if isFirst, case .busy(.device(let time)) = receipt,
                EventLoop.now + time <= end
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
            giveBack(first.send)
        }
        queues[phone] = nil
    }
}
