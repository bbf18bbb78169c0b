import Clocks

@testable import Relay

/// What an outsider knows: what was accepted, how it ended, what the gateways have asked for. Kept from receipts,
/// requests and endings alone, never from the pipeline's own state.
struct Books {
    struct Entry {
        var notification: Notification
        let token: Digest
        /// The time before which it must not end expired.
        var deadline: MonotonicTime
        /// Whether that is what it had left when the last process ended, whatever the dates say.
        var isByLife = false
    }

    /// Accepted and not ended, by sequence number.
    private(set) var waiting: [Int64: Entry] = [:]
    /// The same by device token.
    private var waitingOf: [Digest: Set<Int64>] = [:]
    private(set) var accepted = 0
    private(set) var delivered = 0
    private(set) var refused = 0
    private(set) var dead = 0
    private(set) var expired = 0
    /// In the hands of gateways, durably, and not ended.
    private(set) var kept = 0
    /// What gateways have asked for.
    struct Wishes {
        /// Before which one wants nothing for a device.
        var spared: [Digest: MonotonicTime] = [:]
        /// Whose gateway has asked for it.
        var lanes: [Digest: LaneID] = [:]
        /// The same for a whole lane.
        var paused: [LaneID: MonotonicTime] = [:]

        /// - Parameter time: When the next process wants to know it.
        func restored(_ time: (MonotonicTime) -> MonotonicTime) -> Wishes {
            Wishes(spared: spared.mapValues(time), lanes: lanes, paused: paused.mapValues(time))
        }

        mutating func spare(_ token: Digest, of lane: LaneID, until time: MonotonicTime) {
            spared[token] = time
            lanes[token] = lane
        }

        /// The operator wants all of a lane tried, whatever was asked for.
        mutating func forget(_ lane: LaneID) { spared = spared.filter { lanes[$0.key] != lane } }
    }

    var wishes = Wishes()
    /// What this process has told the operator is dropped.
    var dropped: Set<Int64> = []
    /// As the running commit has them, and as they outlive the process.
    private var writing = Wishes()
    private var written = Wishes()
    /// Devices that failed as all of the lane would, by how many answers the lane had had.
    private var failed: [LaneID: [Digest: Int]] = [:]
    private var answers: [LaneID: Int] = [:]
    /// Ended, but not yet in the outbox: a crash undoes these.
    private(set) var undurable: [Int64: (entry: Entry, ending: Ending)] = [:]

    var ended: Int { delivered + refused + dead + expired }

    mutating func accept(_ sequence: Int64, _ entry: Entry) {
        accepted += 1
        wait(sequence, entry)
    }

    private mutating func wait(_ sequence: Int64, _ entry: Entry) {
        waiting[sequence] = entry
        waitingOf[entry.token, default: []].insert(sequence)
    }

    /// The oldest that waits for a device.
    func first(of token: Digest) -> Int64? { waitingOf[token]?.min() }
    func count(of token: Digest) -> Int { waitingOf[token]?.count ?? 0 }

    mutating func end(_ sequence: Int64, _ ending: Ending) -> Entry? {
        guard let entry = waiting.removeValue(forKey: sequence) else { return nil }
        waitingOf[entry.token]?.remove(sequence)
        undurable[sequence] = (entry, ending)
        count(ending, 1)
        return entry
    }

    mutating func keep(_ sequence: Int64) {
        guard let entry = waiting.removeValue(forKey: sequence) else { return }
        waitingOf[entry.token]?.remove(sequence)
        kept += 1
    }

    mutating func keptEnded(_ ending: Ending) {
        kept -= 1
        count(ending, 1)
    }

    /// The operator has given it to another app: it keeps its place among all that were moved with it, and none towards what
    /// comes after it for the same device.
    static let moved: UInt64 = 1 << 32
    mutating func move(_ sequence: Int64, _ notification: Notification) {
        guard let entry = waiting[sequence] else { return }
        let token = Digest(high: entry.token.high | Books.moved, low: entry.token.low)
        waiting[sequence] = Entry(
            notification: notification, token: token, deadline: entry.deadline, isByLife: entry.isByLife)
        waitingOf[entry.token]?.remove(sequence)
        waitingOf[token, default: []].insert(sequence)
    }

    mutating func makeDurable(_ sequence: Int64) { undurable[sequence] = nil }

    mutating func beginCommit() { writing = wishes }
    mutating func takeCommit() { written = writing }

    /// The process is gone, and with it all that was not written down.
    ///
    /// - Parameter time: What a time of its clock is by that of the next process.
    mutating func crash(_ time: (MonotonicTime) -> MonotonicTime) {
        wishes = written.restored(time)
        written = wishes
        dropped = []
        for (sequence, undone) in undurable {
            count(undone.ending, -1)
            wait(sequence, undone.entry)
        }
        undurable = [:]
        failed = [:]
    }

    mutating func setDeadlines(_ deadline: (Entry) -> MonotonicTime) {
        waiting = waiting.mapValues { entry in
            var entry = entry
            entry.deadline = deadline(entry)
            return entry
        }
    }

    /// A process begins, and the outbox has moved some dates: what is left of those lives stays.
    mutating func redate(_ redating: Redating?) {
        for (sequence, entry) in waiting {
            waiting[sequence]?.isByLife = redating?.moves(sequence) ?? false
            if let redating, redating.moves(sequence) {
                waiting[sequence]?.notification = entry.notification.later(by: redating.by)
            }
        }
    }

    /// Counts the life of one from the start: its sender never heard of it.
    mutating func countFromNow(_ sequence: Int64, isMoved: Bool) {
        waiting[sequence]?.deadline = .max
        waiting[sequence]?.isByLife = isMoved
    }

    /// Notes a device's failure in a lane.
    ///
    /// - Returns: Whether the failure says something of the lane that was not said before.
    mutating func noteWitness(_ token: Digest, against lane: LaneID) -> Bool {
        guard failed[lane]?[token] == nil else { return false }
        failed[lane, default: [:]][token] = answers[lane] ?? 0
        return true
    }

    mutating func answered(_ token: Digest, in lane: LaneID) {
        failed[lane]?[token] = nil
        answers[lane, default: 0] += 1
    }

    /// The operator has mended something: everybody is believed anew.
    mutating func resumed(_ lane: LaneID) {
        wishes.paused[lane] = nil
        opened(lane)
    }

    /// A lane that comes to be knows of no failures: it may have gone without a word when it had no gateway.
    mutating func opened(_ lane: LaneID) {
        failed[lane] = nil
    }

    mutating func pause(_ lane: LaneID, until end: MonotonicTime) {
        wishes.paused[lane] = max(wishes.paused[lane] ?? .longAgo, end)
    }

    private mutating func count(_ ending: Ending, _ step: Int) {
        switch ending {
        case .delivered: delivered += step
        case .refused: refused += step
        case .tokenDead: dead += step
        case .expired: expired += step
        }
    }
}
