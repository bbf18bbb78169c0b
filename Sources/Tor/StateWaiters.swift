import Reactor

/// Those who wait for a state, but not for ever.
@EventLoop
final class StateWaiters {
    private var waiters: [StateWaiter] = []

    /// - Returns: what ``finish(_:)`` says, or `false` when the time is over.
    func wait(within limit: Duration) async -> Bool {
        waiters.removeAll(where: \.isFinished)
        return await withUnsafeContinuation { waiters.append(StateWaiter($0, limit: limit)) }
    }

    func finish(_ result: Bool) {
        let finished = waiters
        waiters = []
        for waiter in finished { waiter.finish(result) }
    }
}

/// One of them.
@EventLoop
private final class StateWaiter {
    private var continuation: UnsafeContinuation<Bool, Never>?
    private var timer: Timer!

    init(_ continuation: UnsafeContinuation<Bool, Never>, limit: Duration) {
        self.continuation = continuation
        timer = Timer { [unowned self] in finish(false) }
        timer.start(after: limit)
    }

    var isFinished: Bool { continuation == nil }

    func finish(_ result: Bool) {
        timer.stop()
        continuation?.resume(returning: result)
        continuation = nil
    }
}
