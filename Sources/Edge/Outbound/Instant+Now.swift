import Reactor
import Relay

extension Instant {
    package static var now: Instant {
        Instant(unix: EventLoop.unixTime, monotonic: EventLoop.now)
    }
}
