import Clocks

/// The reading of a lane's notifications from disk into memory: one claim at a time, and none while a commit has still to put
/// some of the lane's devices there.
struct LaneClaim: Equatable, Sendable {
    /// The time from which on there may be something to claim; `.max`: when something changes.
    private(set) var at = MonotonicTime.max
    private(set) var isUnderWay = false
    /// Devices that a commit still has to put on disk.
    private var shelving = 0

    var isShelving: Bool { shelving > 0 }
    var mayBegin: Bool { !isUnderWay && shelving == 0 }

    func isDue(at time: MonotonicTime) -> Bool { at <= time }

    mutating func becomeDue(at time: MonotonicTime) { at = min(at, time) }

    /// Begins a claim of what is due. What comes meanwhile sets ``at`` anew.
    mutating func begin() { (isUnderWay, at) = (true, .max) }

    /// Begins a claim of what was given up, due or not.
    mutating func beginGivingUp() { isUnderWay = true }

    mutating func end(dueAt time: MonotonicTime) { (isUnderWay, at) = (false, time) }

    /// Waits for a commit that puts a device on disk, to be claimed from a time on.
    mutating func shelve(dueAt time: MonotonicTime = .max) {
        shelving += 1
        becomeDue(at: time)
    }

    mutating func endShelving() { shelving -= 1 }

    /// Forgets when there is something: nothing is left.
    mutating func forget() { at = .max }
}
