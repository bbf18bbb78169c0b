import CEvent
import Glibc

/// How long the loop's turns take: a turn is what is done between two looks for new events.
///
/// Cheap enough for every event: one read of the coarse clock at its end. That clock moves every 1 to 10 ms, and what is
/// looked for here is longer.
struct LoopTurns {
    /// libevent's own time of the present turn, the same for all its events.
    private var turn = timeval()
    private var startedAt: Int64 = 0
    private var longest: Int64 = 0

    @inline(__always)
    mutating func begin(in base: OpaquePointer) {
        var now = timeval()
        // Read from where libevent keeps it: no call of a clock.
        let code = event_base_gettimeofday_cached(base, &now)
        precondition(code == 0, "no time from the event loop")
        guard now.tv_usec != turn.tv_usec || now.tv_sec != turn.tv_sec else { return }
        turn = now
        startedAt = LoopTurns.now
    }

    @inline(__always)
    mutating func end() { longest = max(longest, LoopTurns.now - startedAt) }

    mutating func takeLongest() -> Int64 {
        end()
        defer { longest = 0 }
        return longest
    }

    private static var now: Int64 {
        var time = timespec()
        #if COST
            // Deploy/tools/fuzz --cost wants to know what the thread has worked, and exactly.
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        #else
            clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        #endif
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
