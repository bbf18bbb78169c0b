@testable import Relay

/// Who has brought what waits, as an outsider counts it: since the start, and as long as the operator doesn't move it.
struct Shares {
    private struct Share: Hashable {
        let lane: LaneID
        let sender: SenderID
    }

    private var counts: [Share: Int] = [:]
    private var shares: [Int64: Share] = [:]

    mutating func accept(_ sequence: Int64, of sender: SenderID, in lane: LaneID) {
        let share = Share(lane: lane, sender: sender)
        counts[share, default: 0] += 1
        shares[sequence] = share
    }

    mutating func end(_ sequence: Int64) {
        guard let share = shares.removeValue(forKey: sequence) else { return }
        let rest = (counts[share] ?? 0) - 1
        counts[share] = rest > 0 ? rest : nil
    }

    mutating func forget(_ lane: LaneID) {
        shares = shares.filter { $0.value.lane != lane }
        counts = counts.filter { $0.key.lane != lane }
    }

    /// The most that one sender has in a lane.
    func most(in lane: LaneID) -> Int { counts.lazy.filter { $0.key.lane == lane }.map(\.value).max() ?? 0 }
}
