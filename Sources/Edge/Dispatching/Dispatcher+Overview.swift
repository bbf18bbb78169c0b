import Clocks
import Figures
import Logging
import Reactor
import Relay

/// The figures that the operator may see.
extension Dispatcher {
    /// The reason why the last commit failed; `nil` while the outbox works.
    package var outboxFault: OutboxError? { pipeline.outboxFault ?? lockFault }
    package var waiting: Int { pipeline.waiting }
    /// The clock of what is accepted, for doors that keep dates in tables of their own.
    package var dates: StoreDates {
        let now = Instant.now
        return StoreDates(
            ahead: now.unix - pipeline.date(at: now), late: pipeline.lateTime(at: now).milliseconds,
            own: pipeline.ownDates(at: now))
    }
    /// The present for records that doors keep for weeks, in milliseconds since 1970. It comes from the trusted clock, which
    /// goes on when the wall clock is set, and is rather late than early.
    package var keptTime: Int64 {
        let dates = dates
        return min(dates.stored(EventLoop.unixMilliseconds), dates.late)
    }
    /// Whether somebody who knows the time has confirmed that clock.
    package var isKeptTimeSure: Bool { !pipeline.isClockToBeConfirmed }
    package var waitingBytes: Int { pipeline.waitingBytes }
    package var limits: Admission.Limits { pipeline.limits }
    package var deadTokens: Int { pipeline.deadTokenCount }
    package var lanes: [Lane] { pipeline.lanes }
    /// The pipeline's sharing of the store; `nil`: other nodes can't come to it.
    package var sharing: Pipeline.Sharing? { pipeline.sharing }
    /// The queues of the lanes, in the order of ``lanes``. Looks at everything that waits.
    package var queues: [Pipeline.Queue] { pipeline.queues() }
    /// Returns the figures of a door, made at the first call with its name.
    package func door(_ name: String) -> DoorCounter { tally.door(name) }
    package var doors: [DoorCounter] { tally.doors }
    /// The figures of all lanes, those that are gone among them.
    package var laneTotals: [LaneFigures] { tally.lanes + tally.gone.lanes.values }
    package var commitFigures: CommitFigures { tally.commits }

    /// Returns the state of a notification; `nil` when it is not known, or not any more.
    package func state(of id: NotificationID) async throws(OutboxError) -> NotificationState? {
        if let state = pipeline.state(of: id) { return state }
        return try await outbox.state(of: id.identity)
    }
}

extension Effect {
    /// Writes an effect to the log, if it is for the operator; nothing of other effects.
    func write(to log: Logger, of lanes: [Lane]) {
        func facts(_ lane: Int) -> Logger.Metadata {
            let lane = lanes[lane].shown
            return lane.host == .production
                ? ["app": "\(lane.app)"] : ["app": "\(lane.app)", "environment": "\(lane.host)"]
        }
        switch self {
        case .blocked(let lane, let reason):
            log.error(
                "gateway.blocked", metadata: facts(lane).merging(["reason": "\(reason)"]) { $1 })
        case .unblocked(let lane): log.notice("gateway.unblocked", metadata: facts(lane))
        case .trouble(let news, let lane): news.write(to: log, of: lanes[lane].shown)
        case .outboxFailed(let error): log.error("outbox.failed", metadata: ["reason": "\(error)"])
        case .clockSet(let time):
            log.notice("node.clock_set", metadata: ["seconds": "\(time.components.seconds)"])
        case .outboxRecovered: log.notice("outbox.recovered")
        case .shared(let shards, let nodes):
            log.notice("outbox.shared", metadata: ["shards": "\(shards)", "nodes": "\(nodes)"])
        case .tell, .drop, .send, .load, .divide, .commitSoon, .stopped, .laneOpened, .laneClosed, .claim,
            .received,
            .neverStored, .refused, .deferred, .ended, .kept, .committed:
            break
        }
    }
}
extension LaneTrouble.News {
    func write(to log: Logger, of lane: LaneID) {
        var facts: Logger.Metadata = [
            "app": "\(lane.app)", "environment": "\(lane.host)",
        ]
        switch self {
        case .failing(let reason, let attempts):
            facts["reason"] = "\(reason)"
            facts["attempts"] = "\(attempts)"
            log.warning("gateway.failing", metadata: facts)
        case .recovered(let attempts, let time):
            facts["attempts"] = "\(attempts)"
            facts["seconds"] = "\(time.components.seconds)"
            log.notice("gateway.recovered", metadata: facts)
        }
    }
}
