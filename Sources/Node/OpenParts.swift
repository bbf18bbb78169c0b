import Clocks
import Reactor

/// The parts that a start has opened so far, closed by a stop at whatever point the start has come to.
@EventLoop
final class OpenParts {
    /// A stage of the stop. Its parts end together, when those of the stage before have ended.
    enum Stage: Int, CaseIterable {
        /// Nothing is taken over any more.
        case watches
        /// The doors close and answer what they took.
        case doors
        /// Running commits and requests end. What is not delivered stays in the outbox.
        case store
        case tor
        /// The owner sees the rest.
        case owner
    }

    /// Closes a part; `passed` is the time that the stop has taken so far.
    typealias Close = @EventLoop (_ passed: Duration) async -> Void

    private var parts: [(stage: Stage, close: Close)] = []
    private var closing: Task<Void, Never>?  // Set once, whoever asks and however often.

    var isClosing: Bool { closing != nil }

    /// Notes a part that is open, or closes it where the start has been stopped meanwhile.
    func add(_ stage: Stage, close: @escaping Close) async throws(NodeError) {
        guard !isClosing else {
            await close(.zero)
            throw .stopped
        }
        parts.append((stage, close))
    }

    func close() async {
        let task = closing ?? Task { await closeAll() }
        closing = task
        await task.value
    }

    private func closeAll() async {
        let began = EventLoop.now
        for stage in Stage.allCases {
            let passed = EventLoop.now - began
            let ending = parts.filter { $0.stage == stage }.map { part in Task { await part.close(passed) } }
            for part in ending { await part.value }
        }
    }
}
