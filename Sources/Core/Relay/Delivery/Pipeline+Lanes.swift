import Clocks
import Encodings

/// Lanes that come and go.
///
/// Those to a service's own hosts come and go with their gateways. A lane to an origin, which an address names, comes
/// with its first notification and goes when it is idle; the edge makes the gateway (``Effect/laneOpened(_:)``).
extension Pipeline {
    /// Gives a lane its gateway.
    ///
    /// - Returns: Its index; `nil` when there are ``mostLanes``.
    package mutating func add(_ id: LaneID) -> Int? {
        guard let lane = delivery.lane(id) ?? (hasRoomForLane ? makeLane(id) : nil) else { return nil }
        delivery.withLane(lane) { $0.open() }
        delivery.stir(lane)
        return lane
    }

    /// Takes a lane's gateway away, which answers what it has. What waits is kept until the lane has another
    /// one.
    package mutating func remove(_ id: LaneID) {
        guard let lane = delivery.lane(id) else { return }
        delivery.withLane(lane) { $0.lose() }
        delivery.tidyLane(lane)
    }

    /// Tries a lane at once: what blocked it has been mended.
    package mutating func resume(_ id: LaneID, at now: Instant) {
        guard let lane = delivery.lane(id) else { return }
        delivery.resume(lane, at: now.monotonic)
        writeDown(lane: lane, at: now)
        if !commits.isEmpty { scheduleCommit(at: now.monotonic) }
    }

    /// Returns the name that the lane at an index is shown by. ``lanes`` would copy it, and a call that only reads is handed a
    /// copy of the whole pipeline.
    package mutating func shown(_ lane: Int) -> LaneID { delivery.lanes[lane].shown }

    /// Returns the index of a lane, if it is there.
    package func lane(of id: LaneID) -> Int? { delivery.lane(id) }

    /// Returns the lane that a submission would go to; `nil`: it is refused, or goes to the phones of an alias.
    package func lane(for submission: Submission) -> LaneID? {
        recipient(of: submission)?.lane
    }

    /// Returns the recipient of a submission; `nil`: it is refused, or goes to the phones of an alias.
    package func recipient(of submission: Submission) -> Recipient? {
        try? validator.recipient(of: submission).0
    }

    /// Returns the place of a lane, which is made if it is not there.
    mutating func lane(_ id: LaneID) -> Int { delivery.lane(id) ?? makeLane(id) }

    /// Returns the place of a lane for what comes in, of so many bytes; `nil`: there is no room for another lane.
    mutating func laneForNew(
        _ id: LaneID, for size: Int, from sender: SenderID?, at time: MonotonicTime
    ) -> Int? {
        if let lane = delivery.lane(id) { return lane }
        // No lane gives way for what is refused.
        let isTaken = admission.hasRoom(for: size, from: sender)
        // An app's strangers take no other app's lanes.
        if id.host.isOrigin, !makeRoom(for: id, from: sender, othersGiveWay: isTaken, at: time) {
            return nil
        }
        let isProven = provenOrigins.has(id)
        if !(isProven ? hasRoomForLane : hasRoomForStranger) {
            guard isTaken, closeLongestIdle(of: nil, amongStrangers: !isProven, at: time) else { return nil }
        }
        return makeLane(id, broughtBy: sender, at: time)
    }

    private var hasRoomForLane: Bool { delivery.laneCount < Pipeline.mostLanes }
    /// Whether there is room for the lane to an origin that has taken nothing yet, beside those that have.
    private var hasRoomForStranger: Bool {
        delivery.laneCount < Pipeline.mostLanes - min(provenOrigins.count, Pipeline.mostLanes / 8)
    }

    private mutating func makeLane(
        _ id: LaneID, broughtBy sender: SenderID? = nil, at time: MonotonicTime = 0
    ) -> Int {
        var made = Lane(
            id: id, shown: validator.shown(id), broughtBy: sender, hasDelivered: provenOrigins.has(id),
            at: time)
        if !mayOpen(id) { made.park() }
        let lane = delivery.makeLane(made)
        effects.append(.laneOpened(lane))
        return lane
    }

    // MARK: Idle ones

    /// Closes the lanes to origins that have had nothing for a while.
    mutating func closeIdleLanes(at time: MonotonicTime) {
        for lane in delivery.lanes.indices where delivery.lanes[lane].canGo(at: time) {
            guard let since = delivery.lanes[lane].idleSince else {
                delivery.withLane(lane) { $0.idleSince = time }
                continue
            }
            if time - since >= Pipeline.idleLane { close(lane, at: time) }
        }
    }

    /// Closes the lane to an origin that has been idle for longest; `app` is `nil` for the lanes of any app.
    ///
    /// - Parameter amongStrangers: Whether an origin that has taken something keeps its lane.
    /// - Returns: Whether there was a lane that could go.
    mutating func closeLongestIdle(
        of app: String?, amongStrangers: Bool = false, at time: MonotonicTime
    ) -> Bool {
        let idle = delivery.lanes.indices.filter {
            delivery.lanes[$0].canGo(at: time) && !delivery.lanes[$0].stage.isParked
                && (app == nil || delivery.lanes[$0].id.app == app)
                && !(amongStrangers && delivery.lanes[$0].standing.hasDelivered)
        }
        guard
            let lane = idle.min(by: {
                (delivery.lanes[$0].idleSince ?? time) < (delivery.lanes[$1].idleSince ?? time)
            })
        else { return false }
        close(lane, at: time)
        return true
    }

    private mutating func close(_ lane: Int, at time: MonotonicTime) {
        if delivery.lanes[lane].standing.hasDelivered {
            provenOrigins.note(delivery.lanes[lane].id, at: time)
        }
        effects.append(.laneClosed(lane, shown: delivery.lanes[lane].shown))
        delivery.withLane(lane) { $0.lose() }
        forgetRecord(of: lane)
        delivery.tidyLane(lane)
    }
}

extension Lane {
    /// Whether nothing would be lost with the lane: no
    /// notification, and no pause that the host has asked for.
    func canGo(at time: MonotonicTime) -> Bool {
        guard !stage.isGone, id.host.isOrigin, isEmpty, !isLoading else { return false }
        if case .paused(let until) = condition { return until <= time }
        return true
    }
}
