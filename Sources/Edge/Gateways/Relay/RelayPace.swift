import Clocks
import Reactor
import Relay

/// How fast one app's notifications go to another relay, for all our users together: well below what the nginx in front
/// of Bisq's relay lets through (100 a second in all, 2 for a device).
struct RelayPace {
    static let all = Rate(perSecond: 20, burst: 40)
    static let device = Rate(perSecond: 1, burst: 4)
    /// Devices that are counted at a time. With more, all are forgotten.
    static let most = 4096

    private var used = Rate.Use()
    private var devices: [DeviceToken: Rate.Use] = [:]

    var deviceCount: Int { devices.count }

    /// Returns the number of notifications that may go now, up to `wanted`.
    func room(upTo wanted: Int, at time: MonotonicTime) -> Int {
        var used = used
        var room = 0
        while room < wanted, RelayPace.all.take(from: &used, at: time) == .zero { room += 1 }
        return room
    }

    /// Returns the time until one more notification may go.
    func delay(at time: MonotonicTime) -> Duration { RelayPace.all.delay(after: used, at: time) }

    /// Counts one more notification for a device, if the device may have it.
    ///
    /// - Returns: The time until it may; zero: it is counted.
    mutating func take(for token: DeviceToken, at time: MonotonicTime) -> Duration {
        if devices.count >= RelayPace.most {
            devices = devices.filter { !$0.value.isOver(at: time) }
            if devices.count >= RelayPace.most { devices = [:] }
        }
        let delay = RelayPace.device.take(from: &devices[token, default: Rate.Use()], at: time)
        if delay == .zero { RelayPace.all.add(to: &used, at: time) }
        return delay
    }
}

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
