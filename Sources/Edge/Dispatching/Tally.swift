import Encodings
import Figures
import Reactor
import Relay

/// The counts of what the dispatcher carries out.
@EventLoop
struct Tally {
    private(set) var doors: [DoorCounter] = []
    /// The figures by the indices of their lanes.
    var lanes: [LaneFigures] = []
    var gone = GoneLanes()
    var commits = CommitFigures()

    /// Returns the counter of a door, made at the first call with its name.
    mutating func door(_ name: String) -> DoorCounter {
        if let door = doors.first(where: { $0.name == name }) { return door }
        let door = DoorCounter(name: name, index: doors.count)
        doors.append(door)
        return door
    }

    mutating func open(_ lane: Int) {
        while lanes.count <= lane { lanes.append(LaneFigures()) }
        lanes[lane] = LaneFigures()
    }

    /// Keeps what was counted for a lane, under the name that it was shown by.
    mutating func close(_ lane: Int, shown: LaneID) {
        gone.lanes[shown, default: LaneFigures()].add(lanes[lane])
        lanes[lane] = LaneFigures()
    }

    /// Counts an effect; nothing of effects that are to be carried out.
    mutating func count(_ effect: Effect) {
        switch effect {
        case .received(let receipt, let isRepetition, let door, let time):
            doors[door].count(receipt, isRepetition: isRepetition, after: time.nanoseconds)
        case .neverStored(let door, let time): doors[door].countUnstored(after: time.nanoseconds)
        case .deferred(let reason, let lane):
            lanes[lane].deferred.add(reason)
            lanes[lane].lastDeferral = reason
        case .ended(let end): lanes[end.lane].count(end, at: EventLoop.now)
        case .kept(let leaving): lanes[leaving.lane].countKept(at: EventLoop.now)
        case .committed(let time):
            commits.done += 1
            commits.last = EventLoop.awake
            commits.time.add(time.nanoseconds)
            commits.recent.add(time.nanoseconds, at: EventLoop.now)
        case .tell, .drop, .send, .load, .claim, .divide, .commitSoon, .stopped, .refused, .laneOpened,
            .laneClosed, .blocked, .unblocked, .trouble, .outboxFailed, .outboxRecovered, .shared, .clockSet:
            break
        }
    }
}

/// The counts of lanes that are gone, by the names that they were shown under: no counter goes back.
struct GoneLanes: Sendable {
    var lanes: [LaneID: LaneFigures] = [:]
    var gateways: [LaneID: GatewayFigures] = [:]
}
