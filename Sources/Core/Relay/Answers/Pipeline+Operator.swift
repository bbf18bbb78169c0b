/// The operator's commands for all that waits in a lane, while the node runs.
extension Pipeline {
    /// Refuses the notifications that wait in a lane now. Notifications that the gateway has, and later ones, go on.
    ///
    /// Notifications that are on disk only are claimed for this, and end page by page.
    ///
    /// - Returns: The number of notifications that are dropped, on disk too.
    package mutating func drop(_ id: LaneID, at now: Instant) -> Int {
        guard let lane = delivery.lane(id) else { return 0 }
        var count = delivery.lanes[lane].shelved
        var tokens: Set<Digest> = []
        for slot in delivery.entries.indices
        where delivery.entries[slot].lane == lane && delivery.entries[slot].state.mayBeGivenUp {
            tokens.insert(delivery.entries[slot].token)
        }
        for token in tokens {
            // From the back, so that none of them becomes ready in between.
            for slot in delivery.waiting(of: token).reversed()
            where delivery.entries[slot].state.mayBeGivenUp {
                count += 1
                finish(slot, .dropped, at: now)
            }
        }
        guard delivery.lanes[lane].shelved > 0 else { return count }
        delivery.withLane(lane) { $0.droppedUpTo = lastSequence }
        claimGivenUp(lane)
        return count
    }

    /// Gives up single notifications.
    ///
    /// - Returns: How many of them were in memory and with no gateway: the others are left alone.
    package mutating func drop(_ sequences: [Int64], at now: Instant) -> Int {
        var count = 0
        // Of a device the last one first, so that none becomes ready in between.
        for sequence in Set(sequences).sorted(by: >) {
            guard let slot = delivery.slots[sequence], delivery.entries[slot].state.mayBeGivenUp else {
                continue
            }
            count += 1
            finish(slot, .dropped, at: now)
        }
        return count
    }

    /// Returns how many notifications of a lane can't be dropped now: its gateway has them, or they are being read from disk.
    package func underWay(in id: LaneID) -> Int {
        guard let lane = delivery.lane(id) else { return 0 }
        return delivery.entries.count { $0.lane == lane && $0.state.isUnderWay }
    }

    /// Returns how many of these notifications can't be dropped now: a gateway has them, or they are being read from disk.
    package func underWay(_ sequences: [Int64]) -> Int {
        sequences.count { delivery.slots[$0].map { delivery.entries[$0].state.isUnderWay } ?? false }
    }

    /// Tries what a lane has put off now, whatever its gateway has asked for. On disk it is due with the next commit: what fails
    /// again waits as long as that says.
    ///
    /// - Returns: How many are due now: what was put off with all behind it, and what is on disk only.
    package mutating func retryNow(_ id: LaneID, at now: Instant) -> Int {
        guard let lane = delivery.lane(id) else { return 0 }
        let postponed = delivery.entries.indices.filter {
            delivery.entries[$0].lane == lane && delivery.entries[$0].state.isPostponed
        }
        let count = retryNow(heads: postponed, at: now) + delivery.lanes[lane].shelved
        resume(id, at: now)
        let devices = delivery.wishes.endThose(of: id)
        if !devices.isEmpty {
            commits.append(.forgetWishes(devices))
            scheduleCommit(at: now.monotonic)
        }
        guard delivery.lanes[lane].shelved > 0 else { return count }
        let due = wallClock.steadyTime(at: now)
        commits.append(.retry(id, at: due))
        noteShelving(in: lane, due: due, at: now)
        scheduleCommit(at: now.monotonic)
        return count
    }

    /// Tries single notifications at once, with all others of their devices, of those in memory.
    package mutating func retryNow(_ sequences: [Int64], at now: Instant) -> Int {
        let heads = Set(
            sequences.compactMap { delivery.slots[$0] }.compactMap { slot in
                delivery.waiting(of: delivery.entries[slot].token).first
            }
        ).filter { delivery.entries[$0].state.isPostponed }
        return retryNow(heads: heads.sorted(), at: now)
    }

    /// Tries these notifications now, each the first of its device, whatever was asked for the devices.
    ///
    /// - Returns: How many are due now, with all behind them.
    mutating func retryNow(heads: [Delivery.Slot], at now: Instant) -> Int {
        var count = 0
        for slot in heads {
            count += delivery.waiting(of: delivery.entries[slot].token).count
            delivery.retryNow(slot)
        }
        if !heads.isEmpty {
            commits.append(.forgetWishes(heads.map { delivery.entries[$0].token }))
            scheduleCommit(at: now.monotonic)
        }
        return count
    }

    /// Claims what is given up and on disk only; also after a claim that failed.
    mutating func claimGivenUp(_ index: Int) {
        let lane = delivery.lanes[index]
        guard let last = lane.droppedUpTo, lane.claim.mayBegin else { return }
        delivery.withLane(index) { $0.claim.beginGivingUp() }
        effects.append(.claim(Claim(.due(lane.id), at: Claim.anyTime, last: last, limit: window.claim)))
    }

    /// Gives all that waits in lanes without a gateway to another app's lanes to the same hosts, or nothing. It keeps its
    /// order, but has none against what the other app has for the same devices.
    package mutating func move(_ ids: [LaneID], toApp app: String, at now: Instant) -> Transfer {
        var moving: [(lane: Int, target: Int)] = []
        for id in ids {
            guard let target = delivery.lane(LaneID(app: app, host: id.host)),
                delivery.lanes[target].stage.hasGateway
            else { return .refused }
            guard let lane = delivery.lane(id) else { continue }
            guard !delivery.lanes[lane].stage.hasGateway else { return .refused }
            moving.append((lane, target))
        }
        guard moving.allSatisfy({ mayMove($0.lane) }) else { return .notNow }
        return .moved(moving.reduce(0) { $0 + move($1.lane, to: $1.target, ofApp: app, at: now) })
    }

    /// Whether nothing of a lane is just being read from disk, given up, or written for the first time.
    private func mayMove(_ lane: Int) -> Bool {
        guard !delivery.lanes[lane].claim.isUnderWay, !isSweeping, delivery.lanes[lane].droppedUpTo == nil
        else {
            return false
        }
        let isReading = delivery.lanes.contains(where: \.claim.isUnderWay)
        return delivery.entries.allSatisfy { entry in
            guard entry.lane == lane, entry.state != .free else { return true }
            guard entry.writing == .first else { return false }
            return !isReading || !entry.state.mayBeGivenUp || mayGoBack(entry.token)
        }
    }

    private mutating func move(_ lane: Int, to target: Int, ofApp app: String, at now: Instant) -> Int {
        let slots = delivery.entries.indices.filter {
            delivery.entries[$0].lane == lane && delivery.entries[$0].state.mayBeGivenUp
        }
        var oldest = delivery.lanes[lane].oldestShelvedAt
        for slot in slots where delivery.entries[slot].state.mayBeGivenUp {
            oldest = min(oldest ?? .max, delivery.entries[slot].submittedAt)
            sendToBacklog(delivery.entries[slot].token, in: lane, at: now)
        }
        delivery.forgetPostponed(in: lane)
        commits.move(delivery.lanes[lane].id, toApp: app)
        let moved = delivery.lanes[lane]
        delivery.withLane(lane) {
            $0.shelf = LaneShelf()
            $0.taken = Lane.Room()
            $0.oldestShelvedAt = nil
            $0.claim.forget()
        }
        // Nothing of it is claimed before it is there: neither from the one lane nor from the other.
        for lane in [lane, target] {
            commits.hold(lane)
            delivery.withLane(lane) { $0.claim.shelve() }
        }
        delivery.withLane(target) {
            $0.shelf.add(moved.shelved)
            $0.taken.add(moved.taken)
            $0.oldestShelvedAt = [$0.oldestShelvedAt, oldest].compactMap(\.self).min()
            $0.claim.becomeDue(at: 0)
        }
        scheduleCommit(at: now.monotonic)
        return moved.shelved
    }
}

/// The answer to the operator who gives what waits for one app to another.
package enum Transfer: Equatable, Sendable {
    /// All is with the other app: so many notifications.
    case moved(Int)
    /// The first app has a gateway, or the other one has none for one of its hosts.
    case refused
    /// Nothing was moved: some of it is just being read from disk, given up, or written for the first time.
    case notNow
}

extension Delivery.State {
    /// Whether the notification waits: it is neither with the gateway nor on its way into the outbox.
    fileprivate var mayBeGivenUp: Bool {
        switch self {
        case .queued, .ready, .postponed, .loading: true
        case .storing, .inFlight, .ended, .free: false
        }
    }

    /// Whether the notification is on its way to a gateway, or there.
    fileprivate var isUnderWay: Bool {
        switch self {
        case .loading, .inFlight: true
        case .storing, .queued, .ready, .postponed, .ended, .free: false
        }
    }
}

extension Ending {
    /// The ending of a notification that the operator has taken out.
    package static let dropped = Ending.refused(
        reason: .internal, detail: "Dropped by the operator of the relay")
}
