import CEvent
import CSupport
import Clocks
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

    /// The present by a clock that nobody sets, and that counts what the machine slept.
    package nonisolated static var now: MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds(of: CLOCK_BOOTTIME))
    }

    /// The present by the clock by which timers run: it stands while the machine sleeps.
    package nonisolated static var awake: MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds(of: CLOCK_MONOTONIC))
    }

    /// The present by the wall clock.
    package nonisolated static var unixTime: UnixTime { UnixTime(milliseconds: unixMilliseconds) }

    /// Milliseconds since 1970, UTC.
    package nonisolated static var unixMilliseconds: Int64 {
        machineMilliseconds - clockError.load(ordering: .relaxed)
    }

    /// Milliseconds since 1970 by this machine's clock, right or wrong.
    package nonisolated static var machineMilliseconds: Int64 {
        nanoseconds(of: CLOCK_REALTIME) / 1_000_000
    }

    private static let clockError = Atomic<Int64>(0)

    /// Sets how many milliseconds this machine's wall clock is taken to be ahead of the time from now on.
    package nonisolated static func takeWallClock(toBeAhead milliseconds: Int64) {
        clockError.store(milliseconds, ordering: .relaxed)
    }

    /// Nanoseconds for which the machine has been suspended since its start.
    package nonisolated static var sleptNanoseconds: Int64 {
        (now - awake).nanoseconds
    }

    /// Milliseconds of the wall clock less those of a clock that nobody sets: changes when the wall clock is set.
    package nonisolated static var wallClockOffset: Int64 {
        unixMilliseconds - now.nanoseconds / 1_000_000
    }

    /// Returns the longest turn of the loop since the last call, in nanoseconds, to within the few
    /// milliseconds of the kernel's coarse clock. Nothing else was looked at for that time. The present turn
    /// is in it.
    @EventLoop
    package static func takeLongestTurn() -> Int64 { shared.executor.turns.takeLongest() }

    private static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// Runs Swift's jobs and libevent's events on one thread.
///
/// `@unchecked Sendable`: `base`, the events, `spare`, `turns` and `waits` are touched by the loop's thread only, after
/// `init`.
final class LoopExecutor: SerialExecutor, @unchecked Sendable {
    /// The libevent loop, owned for the life of the process: there is one and it never ends.
    let base: OpaquePointer
    private let wakeDescriptor: CInt
    private var wakeEvent: OpaquePointer!
    /// The jobs that other threads hand over. (The thread sanitizer reports races at this mutex that there are not: it does
    /// not know Swift's.)
    private let waiting = Mutex(Waiting())
    private var spare: [UnownedJob] = []
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) fileprivate var turns = LoopTurns()
    /// The waits, asked after each event. Empty but for tests.
    var waits: [Wait] = []
    private var thread = pthread_t()
    /// The loop's thread, set by it before it runs any job; other threads only compare it with their own.
    private let threadID = Atomic<UInt>(0)

    private struct Waiting: Sendable {
        var jobs: [UnownedJob] = []
        var isSignalled = false
    }

    init() {
        let config = event_config_new()
        // Wake-ups come by eventfd, so libevent needs no locks of its own.
        let flags = EVENT_BASE_FLAG_NOLOCK.rawValue | EVENT_BASE_FLAG_PRECISE_TIMER.rawValue
        guard config != nil, event_config_set_flag(config, Int32(flags)) == 0 else {
            preconditionFailure("out of memory for the event loop")
        }
        guard let base = event_base_new_with_config(config) else {
            preconditionFailure("no event loop: epoll is not to be had")
        }
        event_config_free(config)
        // Before any event is made; those without a priority of their own get the middle one.
        precondition(event_base_priority_init(base, 3) == 0, "no priorities in the event loop")
        self.base = base
        wakeDescriptor = onionbell_eventfd(false)
        precondition(wakeDescriptor >= 0, "no eventfd: errno \(errno)")
        let this = Unmanaged.passUnretained(self).toOpaque()
        wakeEvent = event_new(
            base, wakeDescriptor, Int16(EV_READ) | Int16(EV_PERSIST),
            { _, _, context in
                let executor = Unmanaged<LoopExecutor>.fromOpaque(context!).takeUnretainedValue()
                executor.measured { executor.runJobs() }
            },
            this)
        precondition(wakeEvent != nil && event_add(wakeEvent, nil) == 0, "no wake-up of the event loop")
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
        let code = event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY)
        preconditionFailure("the event loop ended: \(code)")
    }

    private var isLoopThread: Bool { threadID.load(ordering: .relaxed) == pthread_self() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustSignal = waiting.withLock { waiting in
            waiting.jobs.append(job)
            defer { waiting.isSignalled = true }
            return !waiting.isSignalled
        }
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
        waiting.withLock { waiting in
            waiting.isSignalled = false
            swap(&waiting.jobs, &spare)
        }
        for job in spare { job.runSynchronously(on: asUnownedSerialExecutor()) }
        spare.removeAll(keepingCapacity: spare.capacity <= 4096)
    }

    /// Runs what an event brings, measured as a part of the loop's turn, and resumes the waits whose
    /// condition holds now.
    @inline(__always)
    func measured(_ body: () -> Void) {
        turns.begin(in: base)
        body()
        turns.end()
        if !waits.isEmpty { onEventLoop { waits.ask() } }
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
