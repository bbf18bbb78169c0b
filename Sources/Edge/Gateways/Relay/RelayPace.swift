import Clocks
import Relay

/// How fast one app's notifications go to another relay, for all our users together: well below what the nginx in front
/// of Bisq's relay lets through (100 a second in all, 2 for a device).
struct RelayPace {
    static let all = Rate(perSecond: 20, burst: 40)
    static let device = Rate(perSecond: 1, burst: 4)
    /// Devices that are counted at a time. Further ones have one rate together.
    static let most = 4096

    private var used = Rate.Use()
    private var devices = Rates<DeviceToken>(RelayPace.device, most: RelayPace.most)

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
        let delay = devices.take(by: token, at: time)
        if delay == .zero { RelayPace.all.add(to: &used, at: time) }
        return delay
    }
}

extension ConnectionLife.Limits {
    /// The limits for the way to a relay, which goes through Tor mostly. Servers close what is idle after some seconds: we are
    /// first, so that no request meets a connection that is just being closed.
    static let relay = ConnectionLife.Limits(
        setup: .seconds(60), unanswered: .seconds(90), request: .seconds(60), inFlight: 1, rest: .seconds(3))
}
