import Clocks

/// The entries of a lane's heaps, and the measure of its room.
extension Lane {
    /// Whether the lane has no notification, and none is on its way out of the backlog.
    var isEmpty: Bool { count == 0 && shelved == 0 && !claim.isUnderWay }

    /// Whether nothing needs the lane: no gateway, no notification, no record, and no bodies that are being read for it.
    var isVacant: Bool {
        !stage.hasGateway && !stage.isGone && isEmpty && !isLoading && !claim.isShelving && !isRecorded
    }

    struct Ready: Comparable, Sendable {
        /// Urgent before not urgent; then oldest first.
        let rank: UInt64
        let sequence: Int64
        let slot: Int

        static func < (left: Ready, right: Ready) -> Bool { left.rank < right.rank }
    }

    struct Postponed: Comparable, Sendable {
        let due: MonotonicTime
        let sequence: Int64
        let slot: Int

        static func < (left: Postponed, right: Postponed) -> Bool {
            (left.due, left.sequence) < (right.due, right.sequence)
        }
    }

    /// Places and bytes.
    struct Room: Equatable, Sendable {
        var count = 0
        var bytes = 0

        mutating func take(_ size: Int) {
            count += 1
            bytes += size
        }

        mutating func release(_ size: Int) {
            count -= 1
            bytes -= size
        }

        mutating func add(_ other: Room) {
            count += other.count
            bytes += other.bytes
        }
    }
}
