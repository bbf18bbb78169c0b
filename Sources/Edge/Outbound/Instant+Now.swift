import Reactor
import Relay

extension Instant {
    package static var now: Instant {
        Instant(unixMilliseconds: EventLoop.unixMilliseconds, monotonic: EventLoop.now)
    }
}
