import Reactor

/// Someone who waits for a state, but not for ever.
@EventLoop
final class StateWaiter {
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
