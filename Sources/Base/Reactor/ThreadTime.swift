import Glibc

/// The processor time of the thread that asks. Other work of a busy machine is not in it.
package enum ThreadTime {
    package static var used: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
