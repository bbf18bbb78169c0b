import Clocks
import Reactor
import Relay

/// The pace that the lanes of an app share. Whoever waits for it has his turn, in the order in which they came to wait.
@EventLoop
final class SharedRelayPace {
    var pace = RelayPace()
    private var waiting: [(gateway: ObjectIdentifier, tell: @EventLoop () -> Void)] = []
    private let alarm = Timer()

    init() {
        alarm.action = { [unowned self] in wake() }
    }

    /// Calls `tell` once when one more may go; once for all calls of a gateway until then.
    func wait(_ gateway: AnyObject, _ tell: @escaping @EventLoop () -> Void) {
        let gateway = ObjectIdentifier(gateway)
        guard !waiting.contains(where: { $0.gateway == gateway }) else { return }
        waiting.append((gateway, tell))
        setAlarm()
    }

    private func wake() {
        // Each takes what there is and comes to the end of the line with the rest.
        for _ in waiting.indices where pace.delay(at: EventLoop.now) == .zero { waiting.removeFirst().tell() }
        setAlarm()
    }

    private func setAlarm() {
        guard !waiting.isEmpty, !alarm.isRunning else { return }
        alarm.start(after: max(pace.delay(at: EventLoop.now), .milliseconds(1)))
    }
}
