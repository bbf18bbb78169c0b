import CSupport
import Clocks
import Glibc

/// A time limit that holds even if the event loop and all other threads hang. It has a thread of its own, which acts unless
/// it is ended in time.
package final class Watchdog: Sendable {
    private let descriptor = onionbell_eventfd(true)
    private let limit: Duration
    private let action: @Sendable () -> Void

    /// Starts the time.
    package init(after limit: Duration, _ action: @escaping @Sendable () -> Void) {
        (self.limit, self.action) = (limit, action)
        precondition(descriptor >= 0, "no eventfd: errno \(errno)")
        var thread = pthread_t()
        let failed = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Watchdog>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(failed == 0, "no thread for a watchdog: \(failed)")
        pthread_detach(thread)
    }

    deinit { close(descriptor) }

    /// Ends the time. Once it is over this changes nothing.
    package func end() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    private func run() {
        onionbell_name_thread("watchdog")
        var ended = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var found: CInt
        repeat { found = poll(&ended, 1, CInt(limit.milliseconds)) } while found < 0 && errno == EINTR
        if found == 0 { action() }
    }
}
