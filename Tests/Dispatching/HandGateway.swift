import Dispatching
import Figures
import Logging
import Outbound
import Reactor
import Relay

typealias Notification = Relay.Notification

/// A gateway whose answers the test gives.
@EventLoop
final class HandGateway: Gateway {
    var capacity = 0 { didSet { if oldValue == 0, capacity > 0 { onCapacity?() } } }
    var onCapacity: (@EventLoop () -> Void)?
    private(set) var sent: [(notification: Notification, completion: @EventLoop (Outcome) -> Void)] = []
    /// How often the operator wanted what waits tried at once.
    private(set) var retries = 0
    /// How often it was told that something waits for room.
    private(set) var backlogs = 0
    private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(capacity: Int) { self.capacity = capacity }

    func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        capacity -= 1
        sent.append((notification, completion))
        waiting.filter { $0.count <= sent.count }.forEach { $0.continuation.resume() }
        waiting.removeAll { $0.count <= sent.count }
    }

    func answer(_ index: Int, _ outcome: Outcome) {
        capacity += 1
        sent[index].completion(outcome)
    }

    /// Gives this outcome to what is sent from this index on, until a notification of this submission has had it. One that has
    /// failed may come again before, after a random time.
    ///
    /// - Returns: The index behind it.
    func answer(from first: Int, until submission: Submission, _ outcome: Outcome) async -> Int {
        for index in first... {
            await wait(forSent: index + 1)
            answer(index, outcome)
            if sent[index].notification.deviceToken == submission.deviceToken { return index + 1 }
        }
        return first
    }

    func wait(forSent count: Int) async {
        if sent.count >= count { return }
        await withCheckedContinuation { waiting.append((count, $0)) }
    }

    var fault: String?
    let figures = GatewayFigures()
    func start() {}
    func noteBacklog() { backlogs += 1 }
    func stop() { capacity = 0 }
    func retryNow() { retries += 1 }
}

/// Receipts as they come, in order.
@EventLoop
final class Receipts {
    private(set) var all: [Receipt] = []
    private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    func add(_ receipt: Receipt) {
        all.append(receipt)
        waiting.filter { $0.count <= all.count }.forEach { $0.continuation.resume() }
        waiting.removeAll { $0.count <= all.count }
    }

    func wait(for count: Int) async -> [Receipt] {
        if all.count < count { await withCheckedContinuation { waiting.append((count, $0)) } }
        return all
    }
}

/// Keeps what is logged: the name, then its facts by their keys' order.
struct LoggedEvents: LogHandler {
    /// Only the event loop logs here, and only it reads them.
    final class Lines: @unchecked Sendable {
        var all: [String] = []
    }

    let lines = Lines()
    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        lines.all.append(([event.message.description] + facts).joined(separator: " "))
    }
}

extension Dispatcher {
    func submit(_ submission: Submission, awaitsOutcome: Bool, reply: @escaping Reply) {
        submit(submission, from: door("test"), awaitsOutcome: awaitsOutcome, reply: reply)
    }
}
