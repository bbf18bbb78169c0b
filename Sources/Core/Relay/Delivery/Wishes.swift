import Clocks

/// A gateway's wish for one device: its `Retry-After`.
package struct DeviceWish: Equatable, Sendable {
    package let token: Digest
    package let lane: LaneID
    /// The time when the gateway asked.
    package let since: UnixTime
    package let until: UnixTime

    package init(token: Digest, lane: LaneID, since: UnixTime, until: UnixTime) {
        self.token = token
        self.lane = lane
        self.since = since
        self.until = until
    }
}

/// The times until which gateways want single devices spared. A wish outlives what waits for its device:
/// notifications that come later wait as long.
///
/// Whoever chooses a gateway can have it wish something for any number of devices. A lane has an eighth of what is free
/// and a few in any case; beyond that a wish holds only as long as something waits for the device.
struct Wishes: Sendable {
    private struct Wish {
        let lane: LaneID
        let until: MonotonicTime
    }

    private var wishes: [Digest: Wish] = [:]
    private var counts: [LaneID: Int] = [:]

    private let most: Int
    private static let partOfFree = 8
    private static let leastShare = 16

    init(most: Int = 1 << 16) { self.most = most }

    var isEmpty: Bool { wishes.isEmpty }
    var count: Int { wishes.count }

    /// Returns the time before which nothing goes to this device; 0: at any time.
    func until(_ token: Digest) -> MonotonicTime { wishes[token]?.until ?? 0 }

    /// Adds a wish until a time.
    ///
    /// - Returns: Whether there is room for it.
    mutating func add(_ token: Digest, of lane: LaneID, until time: MonotonicTime) -> Bool {
        if wishes[token] == nil {
            let share = max(Wishes.leastShare, (most - wishes.count) / Wishes.partOfFree)
            guard wishes.count < most, counts[lane, default: 0] < share else { return false }
            counts[lane, default: 0] += 1
        }
        wishes[token] = Wish(lane: lane, until: time)
        return true
    }

    /// Ends the wishes that are over at that time, and returns their devices.
    mutating func endThose(until time: MonotonicTime) -> [Digest] {
        let over = wishes.filter { $0.value.until <= time }.map(\.key)
        for token in over { end(token) }
        return over
    }

    /// Ends all wishes of a lane's gateway, and returns their devices.
    mutating func endThose(of lane: LaneID) -> [Digest] {
        let ended = wishes.filter { $0.value.lane == lane }.map(\.key)
        for token in ended { end(token) }
        return ended
    }

    mutating func forget(where isLost: (Digest) -> Bool) {
        for token in wishes.keys.filter(isLost) { end(token) }
    }

    /// Ends a wish before its time.
    mutating func end(_ token: Digest) {
        guard let wish = wishes.removeValue(forKey: token) else { return }
        counts[wish.lane]? -= 1
        if counts[wish.lane] == 0 { counts[wish.lane] = nil }
    }
}
