import Clocks
import Encodings

/// The bounds of lanes to origins: how many one sender may bring, and which of them have a gateway.
///
/// Whoever makes up names makes lanes. So a sender that has brought some gets no further one while they are there, and
/// the fewer the less room there is. Of the lanes of an app so many have a gateway. When all do, one to an origin that
/// has never taken anything gives way to a newcomer's: first that of the sender with most of them, else one that has had
/// its try. It keeps all that waits for it, and gets a gateway again when another one goes or has had its try. None gives
/// way with a request under way, as most have one that lead to nobody: then the newcomer's waits for the first that ends.
///
/// An origin that has taken something (``ProvenOrigins``) is nobody's any more. A quarter of lanes and gateways is for such
/// ones alone, or as many as there are: whoever makes up names has the rest.
extension Pipeline {
    /// The number of lanes to origins that an app may have for each lane with
    /// a gateway; those that have given way count too.
    private static let originsPerGateway = 3
    /// The most of an app's lanes that one sender may have brought; senders without an identity have half of all together.
    private static let mostBySender = 8
    /// The most lanes that give way, every few seconds, to lanes that wait for a gateway.
    private static let turnsAtOnce = 16
    /// The least time for which a lane has its gateway before it gives way so.
    private static let turn: Duration = .seconds(60)

    /// Notes that a lane's host has taken something.
    mutating func noteDelivery(by lane: Int, at time: MonotonicTime) {
        if !delivery.lanes[lane].standing.hasDelivered, delivery.lanes[lane].id.host.isOrigin {
            provenOrigins.note(delivery.lanes[lane].id, at: time)
        }
        delivery.withLane(lane) { $0.standing.delivered() }
    }

    /// The origins that have taken something, for the next process: see ``goOn(withOrigins:at:)``.
    package var originsToRemember: [LaneID] { provenOrigins.inOrder }

    /// Goes on with the origins that an earlier process remembered. Called before the start.
    package mutating func goOn(withOrigins origins: [LaneID], at now: Instant) {
        provenOrigins = ProvenOrigins(inOrder: origins, at: now.monotonic)
    }

    private var mostOrigins: Int { Pipeline.originsPerGateway * originsPerApp }

    /// Returns how many of so many new origins of an app may use; the others are for those that have taken something.
    private func strangersShare(of most: Int, _ app: String) -> Int {
        most - min(provenOrigins.count(of: app), most / 4)
    }

    /// Makes room for another lane of this sender's, which gets a gateway if one can be had.
    ///
    /// - Returns: Whether the lane may be made; false if the sender, or all together, have the most already.
    mutating func makeRoom(
        for id: LaneID, from sender: SenderID?, othersGiveWay: Bool, at time: MonotonicTime
    ) -> Bool {
        let lanes = origins(of: id.app)
        guard !provenOrigins.has(id) else {
            return othersGiveWay && makeRoomForProven(of: id.app, at: time) || lanes.count < mostOrigins
        }
        let own = lanes.count {
            delivery.lanes[$0].standing.broughtBy == sender && !delivery.lanes[$0].canGo(at: time)
        }
        let free =
            strangersShare(of: mostOrigins, id.app)
            - lanes.count { !delivery.lanes[$0].standing.hasDelivered }
        guard own < mostLanes(of: sender, free: free) else { return false }
        // If none has a gateway to give away, it waits for one.
        return othersGiveWay && makeRoomForGateway(of: id.app, from: sender, at: time) || free > 0
    }

    /// Makes room for the gateway of an origin that has taken something: an idle lane is closed, or one that has had its try
    /// is parked.
    private mutating func makeRoomForProven(of app: String, at time: MonotonicTime) -> Bool {
        let open = origins(of: app).filter { !delivery.lanes[$0].stage.isParked }
        if open.count < originsPerApp || closeLongestIdle(of: app, at: time) { return true }
        guard let lane = open.first(where: { delivery.lanes[$0].mayGiveWay }) else { return false }
        park(lane)
        return true
    }

    /// Makes room for the gateway of a lane of this sender's: if an app's gateways are all in use, an idle lane is closed or
    /// another one parked.
    ///
    /// - Returns: Whether there is room; false if no lane gave way.
    private mutating func makeRoomForGateway(
        of app: String, from sender: SenderID?, at time: MonotonicTime
    ) -> Bool {
        let open = origins(of: app).filter { !delivery.lanes[$0].stage.isParked }
        let strangers = open.count { !delivery.lanes[$0].standing.hasDelivered }
        let hasShare = strangers < strangersShare(of: originsPerApp, app)
        if hasShare, open.count < originsPerApp { return true }
        if closeLongestIdle(of: app, amongStrangers: !hasShare, at: time) { return true }
        guard let lane = givesWay(of: open, to: sender) else { return false }
        park(lane)
        return true
    }

    /// Gives the gateway of a lane to a newcomer if it may: a request of this lane has ended.
    mutating func serveNewcomer(after lane: Int, at time: MonotonicTime) {
        guard delivery.lanes[lane].id.host.isOrigin, delivery.laneCount > originsPerApp,
            delivery.lanes[lane].mayGiveWay || delivery.lanes[lane].canGo(at: time)
        else { return }
        serveNewcomer(of: delivery.lanes[lane].id.app, at: time)
    }

    /// Gives a gateway to a newcomer of this app.
    ///
    /// - Returns: Whether there was a newcomer, and it has a gateway now.
    @discardableResult
    private mutating func serveNewcomer(of app: String, at time: MonotonicTime) -> Bool {
        let lanes = origins(of: app)
        let waiting = lanes.filter { delivery.lanes[$0].stage.isNewcomer }
        guard !waiting.isEmpty else { return false }
        var counts: [SenderID?: Int] = [:]
        for lane in lanes { counts[delivery.lanes[lane].standing.broughtBy, default: 0] += 1 }
        let ranks = waiting.map { lane in
            let standing = delivery.lanes[lane].standing
            return (count: counts[standing.broughtBy, default: 0], since: standing.openedAt, lane: lane)
        }
        // Of one sender there are no more that wait: another one's is among them.
        for next in ranks.sorted(by: <).prefix(Pipeline.mostBySender)
        where makeRoomForGateway(of: app, from: delivery.lanes[next.lane].standing.broughtBy, at: time) {
            unpark(next.lane, at: time)
            return true
        }
        return false
    }

    private func mostLanes(of sender: SenderID?, free: Int) -> Int {
        guard sender != nil else { return max(1, mostOrigins / 2) }
        return min(Pipeline.mostBySender, max(1, 12 * free / mostOrigins))
    }

    private func origins(of app: String) -> [Int] {
        delivery.lanes.indices.filter {
            !delivery.lanes[$0].stage.isGone && delivery.lanes[$0].id.host.isOrigin
                && delivery.lanes[$0].id.app == app
        }
    }

    private func givesWay(of open: [Int], to sender: SenderID?) -> Int? {
        let candidates = open.filter { delivery.lanes[$0].mayGiveWay }
        var counts: [SenderID?: Int] = [:]
        for lane in candidates { counts[delivery.lanes[lane].standing.broughtBy, default: 0] += 1 }
        let own = counts[sender, default: 0]
        func isBefore(_ left: Int, _ right: Int) -> Bool {
            let (one, other) = (delivery.lanes[left].standing, delivery.lanes[right].standing)
            let (many, few) = (counts[one.broughtBy, default: 0], counts[other.broughtBy, default: 0])
            return many == few ? one.openedAt < other.openedAt : many > few
        }
        return candidates.filter {
            let lane = delivery.lanes[$0].standing
            // Those of before the start are nobody's, and may be anybody's.
            let hasMore = lane.broughtBy != nil && counts[lane.broughtBy, default: 0] > own + 1
            // Those of senders without an identity may be anybody's, too.
            return lane.broughtBy == sender ? sender == nil && lane.hasFailed : hasMore || lane.hasFailed
        }
        .min(by: isBefore)
    }

    /// Takes a lane's gateway away; what waits for it waits on.
    private mutating func park(_ lane: Int) {
        delivery.withLane(lane) { $0.park() }
        effects.append(.laneClosed(lane, shown: delivery.lanes[lane].shown))
        delivery.tidyLane(lane)
    }

    /// Gives lanes that have given way a gateway again, one after the other.
    mutating func takeTurns(at time: MonotonicTime) {
        let parked = delivery.lanes.indices.filter { delivery.lanes[$0].stage.isParked }
            .sorted { delivery.lanes[$0].standing.openedAt < delivery.lanes[$1].standing.openedAt }
        var rest = parked[...]
        while let first = rest.first {
            let app = delivery.lanes[first].id.app
            takeTurns(of: rest.filter { delivery.lanes[$0].id.app == app }, of: app, at: time)
            rest.removeAll { delivery.lanes[$0].id.app == app }
        }
    }

    private mutating func takeTurns(of parked: [Int], of app: String, at time: MonotonicTime) {
        while serveNewcomer(of: app, at: time) {}
        let withGateway = origins(of: app).filter { !delivery.lanes[$0].stage.isParked }
        var (open, strangers) = (
            withGateway.count, withGateway.count { !delivery.lanes[$0].standing.hasDelivered }
        )
        let share = strangersShare(of: originsPerApp, app)
        let over = origins(of: app).filter {
            let lane = delivery.lanes[$0]
            return !lane.stage.isParked && lane.mayGiveWay && lane.standing.hasFailed
                && time - lane.standing.openedAt >= Pipeline.turn
        }
        .sorted { delivery.lanes[$0].standing.openedAt < delivery.lanes[$1].standing.openedAt }
        var givingWay = over[...].prefix(Pipeline.turnsAtOnce)
        for lane in parked where delivery.lanes[lane].stage.isParked {
            let isStranger = !delivery.lanes[lane].standing.hasDelivered
            if open >= originsPerApp || isStranger && strangers >= share {
                // None that has taken something gives way.
                guard let other = givingWay.popFirst() else { continue }
                park(other)
                (open, strangers) = (open - 1, strangers - 1)
            }
            unpark(lane, at: time)
            (open, strangers) = (open + 1, strangers + (isStranger ? 1 : 0))
        }
    }

    private mutating func unpark(_ lane: Int, at time: MonotonicTime) {
        delivery.withLane(lane) { $0.unpark(at: time) }
        effects.append(.laneClosed(lane, shown: delivery.lanes[lane].shown))
        effects.append(.laneOpened(lane))
    }

    /// Whether a lane that waited when the last process ended may have a gateway at once: some have to wait for one.
    func mayOpen(_ id: LaneID) -> Bool {
        guard id.host.isOrigin else { return true }
        let open = origins(of: id.app).filter { !delivery.lanes[$0].stage.isParked }
        guard open.count < originsPerApp else { return false }
        return provenOrigins.has(id)
            || open.count { !delivery.lanes[$0].standing.hasDelivered }
                < strangersShare(of: originsPerApp, id.app)
    }
}

extension Lane {
    /// Whether nothing says that there is anybody at its origin, and nobody is being asked.
    fileprivate var mayGiveWay: Bool { !standing.hasDelivered && inFlight == 0 && !isLoading }
}
