import Clocks
import HTTP1
import Reactor
import Relay

/// `Date` of an answer, which is read only when somebody wants to know the time.
struct AnswerDate {
    private let text: String
    private let heardAt = EventLoop.now

    @EventLoop
    init(_ text: String) { self.text = text }

    /// The time of the answer; `nil`: it can't be read.
    @EventLoop
    var time: ToldTime? {
        HTTPDate.seconds(text, now: EventLoop.unixMilliseconds / 1000).map {
            ToldTime(unix: UnixTime(milliseconds: $0 * 1000), monotonic: heardAt)
        }
    }
}
