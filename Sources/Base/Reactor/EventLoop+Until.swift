extension EventLoop {
    /// Returns as soon as `condition` holds: it is asked now, and after each event that the loop has handled. So what lasts
    /// longer than one event is not missed, and nobody waits for a time. For tests.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    @EventLoop
    package static func until(_ condition: @escaping @EventLoop () -> Bool) async throws {
        if condition() { return }
        let wait = Wait(condition)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume() }
                wait.continuation = continuation
                shared.executor.waits.append(wait)
            }
        } onCancel: {
            Task { @EventLoop in wait.end() }
        }
        try Task.checkCancellation()
    }
}

/// Somebody who waits until a condition holds.
@EventLoop
final class Wait {
    fileprivate let condition: @EventLoop () -> Bool
    fileprivate var continuation: CheckedContinuation<Void, Never>?

    fileprivate init(_ condition: @escaping @EventLoop () -> Bool) { self.condition = condition }

    fileprivate func end() {
        continuation?.resume()
        continuation = nil
    }
}

extension [Wait] {
    /// Resumes the waits whose condition holds by now.
    @EventLoop
    mutating func ask() {
        let over = filter { $0.continuation == nil || $0.condition() }
        removeAll { wait in over.contains { $0 === wait } }
        for wait in over { wait.end() }
    }
}
