import CEvent
import CSupport
import Glibc
import Synchronization

/// The isolation of everything that touches a socket, a timer, or a TLS or HTTP/2 session.
///
/// One thread of its own runs one libevent loop for the life of the process. Code marked `@EventLoop` runs on that
/// thread, so libevent's callbacks and Swift code share one isolation, and calls between its parts are plain
/// synchronous calls. Nothing here may block.
@globalActor
package actor EventLoop {
    package static let shared = EventLoop()

    nonisolated let executor = LoopExecutor()

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Nanoseconds of the monotonic clock.
    package nonisolated static var monotonicNanoseconds: Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

    /// Milliseconds since 1970, UTC.
    package nonisolated static var unixMilliseconds: Int64 { nanoseconds(of: CLOCK_REALTIME) / 1_000_000 }

    /// Nanoseconds for which the machine has been suspended since its start.
    package nonisolated static var sleptNanoseconds: Int64 {
        nanoseconds(of: CLOCK_BOOTTIME) - monotonicNanoseconds
    }

    /// Milliseconds of the wall clock less those of a clock that nobody sets: changes when the wall clock is set.
    package nonisolated static var wallClockOffset: Int64 {
        (nanoseconds(of: CLOCK_REALTIME) - nanoseconds(of: CLOCK_BOOTTIME)) / 1_000_000
    }

    private static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// Runs Swift's jobs and libevent's events on one thread.
///
/// `@unchecked Sendable`: `jobs` and `isSignalled` are guarded by `mutex`; `base`, the events and `spare` are touched
/// by the loop's thread only, after `init`.
final class LoopExecutor: SerialExecutor, @unchecked Sendable {
    /// Owned for the life of the process: there is one loop and it never ends.
    let base: OpaquePointer
    private let wakeDescriptor: CInt
    private var wakeEvent: OpaquePointer!
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var jobs: [UnownedJob] = []
    private var isSignalled = false
    private var spare: [UnownedJob] = []
    private var thread = pthread_t()
    /// Set by the loop's thread before it runs any job; other threads only compare it with their own.
    private let threadID = Atomic<UInt>(0)

    init() {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        let config = event_config_new()
        // Wake-ups come by eventfd, so libevent needs no locks of its own.
        event_config_set_flag(config, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
        event_config_set_flag(config, Int32(EVENT_BASE_FLAG_PRECISE_TIMER.rawValue))
        guard let base = event_base_new_with_config(config) else {
            preconditionFailure("no event loop: epoll is not to be had")
        }
        event_config_free(config)
        // Before any event is made; those that are not told otherwise get the middle one.
        event_base_priority_init(base, 3)
        self.base = base
        wakeDescriptor = onionbell_eventfd()
        precondition(wakeDescriptor >= 0, "no eventfd: errno \(errno)")
        let this = Unmanaged.passUnretained(self).toOpaque()
        wakeEvent = event_new(
            base, wakeDescriptor, Int16(EV_READ) | Int16(EV_PERSIST),
            { _, _, context in Unmanaged<LoopExecutor>.fromOpaque(context!).takeUnretainedValue().runJobs() },
            this)
        event_add(wakeEvent, nil)
        let failed = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<LoopExecutor>.fromOpaque(context!).takeUnretainedValue().run()
                return nil
            }, this)
        precondition(failed == 0, "no thread for the event loop: \(failed)")
    }

    private func run() {
        onionbell_name_thread("loop")
        threadID.store(pthread_self(), ordering: .relaxed)
        event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY)
        preconditionFailure("the event loop ended")
    }

    private var isLoopThread: Bool { threadID.load(ordering: .relaxed) == pthread_self() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pthread_mutex_lock(mutex)
        jobs.append(job)
        let mustSignal = !isSignalled
        isSignalled = true
        pthread_mutex_unlock(mutex)
        guard mustSignal else { return }
        if isLoopThread {
            event_active(wakeEvent, Int32(EV_READ), 0)
        } else {
            var one: UInt64 = 1
            // Can only fail when 2^64 wake-ups are pending, and then it is awake.
            _ = write(wakeDescriptor, &one, 8)
        }
    }

    private func runJobs() {
        var count: UInt64 = 0
        _ = read(wakeDescriptor, &count, 8)  // EAGAIN when the loop woke itself
        pthread_mutex_lock(mutex)
        isSignalled = false
        swap(&jobs, &spare)
        pthread_mutex_unlock(mutex)
        for job in spare { job.runSynchronously(on: asUnownedSerialExecutor()) }
        spare.removeAll(keepingCapacity: spare.capacity <= 4096)
    }

    func isIsolatingCurrentContext() -> Bool? { isLoopThread }

    func checkIsolated() {
        precondition(isLoopThread, "not on the event loop's thread")
    }
}

/// Runs `body`, called by libevent on the loop's thread, with the loop's isolation.
///
/// Sound because every libevent callback of this module is called by `event_base_loop` on that thread.
@inline(__always)
func onEventLoop(_ body: @EventLoop () -> Void) {
    withoutActuallyEscaping(body) { escaping in
        // The same closure without its isolation: only ever called here, on the loop.
        unsafeBitCast(escaping, to: (() -> Void).self)()
    }
}
