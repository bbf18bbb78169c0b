/// The operator's commands for all that waits in a lane, while the node runs.
extension Pipeline {
    /// Drops what waits in a lane now: it is refused. What its gateway has, and what comes later, goes on.
    ///
    /// Notifications that are on disk only are claimed for that, and end page by page.
    ///
    /// - Returns: How many they are.
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

    /// Tries what a lane has put off now, whatever its gateway has asked for; on disk page by page.
    ///
    /// - Returns: How many are due now: what was put off with all behind it, and what is on disk only.
    package mutating func retryNow(_ id: LaneID, at now: Instant) -> Int {
        guard let lane = delivery.lane(id) else { return 0 }
        let postponed = delivery.entries.indices.filter {
            delivery.entries[$0].lane == lane && delivery.entries[$0].state.isPostponed
        }
        let count = retryNow(postponed, at: now) + delivery.lanes[lane].shelved
        resume(id, at: now)
        if delivery.lanes[lane].shelved > 0 {
            delivery.withLane(lane) {
                $0.retriedUpTo = lastSequence
                $0.claimAt = 0
            }
            delivery.stir(lane)
        }
        return count
    }

    /// Tries single notifications at once, with all others of their devices, of those in memory.
    package mutating func retryNow(_ sequences: [Int64], at now: Instant) -> Int {
        let heads = Set(
            sequences.compactMap { delivery.slots[$0] }.compactMap { slot in
                delivery.waiting(of: delivery.entries[slot].token).first
            }
        ).filter { delivery.entries[$0].state.isPostponed }
        return retryNow(heads.sorted(), at: now)
    }

    private mutating func retryNow(_ heads: [Delivery.Slot], at now: Instant) -> Int {
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
        guard let last = lane.droppedUpTo, !lane.isClaiming, lane.shelving == 0 else { return }
        delivery.withLane(index) { $0.isClaiming = true }
        effects.append(.claim(Claim(.due(lane.id), at: Claim.anyTime, last: last, limit: window.claim)))
    }

    package func hasGateway(_ id: LaneID) -> Bool {
        delivery.lane(id).map { delivery.lanes[$0].stage.hasGateway } ?? false
    }

    /// Gives what waits in a lane without a gateway to another app's lane to the same host. It keeps its order; against
    /// what the other app has for the same devices it has none.
    ///
    /// - Returns: How many they are; `nil`: the lane has a gateway, or the other one has none, or something of it is just
    ///   being read from disk, given up, or written for the first time.
    package mutating func move(_ id: LaneID, toApp app: String, at now: Instant) -> Int? {
        guard let target = delivery.lane(LaneID(app: app, host: id.host)),
            delivery.lanes[target].stage.hasGateway
        else { return nil }
        guard let lane = delivery.lane(id) else { return 0 }
        guard !delivery.lanes[lane].stage.hasGateway, !delivery.lanes[lane].isClaiming, !isSweeping,
            delivery.lanes[lane].droppedUpTo == nil,
            !delivery.entries.contains(where: {
                $0.lane == lane && $0.writing != .first && $0.state != .free
            })
        else { return nil }
        let slots = delivery.entries.indices.filter {
            delivery.entries[$0].lane == lane && delivery.entries[$0].state.mayBeGivenUp
        }
        if delivery.lanes.contains(where: \.isClaiming) {
            guard slots.allSatisfy({ mayGoBack(delivery.entries[$0].token) }) else { return nil }
        }
        var oldest = delivery.lanes[lane].oldestShelvedAt
        for slot in slots where delivery.entries[slot].state.mayBeGivenUp {
            oldest = min(oldest ?? .max, delivery.entries[slot].submittedAt)
            sendToBacklog(delivery.entries[slot].token, in: lane, at: now)
        }
        delivery.forgetPostponed(in: lane)
        commits.move(id, toApp: app)
        let moved = delivery.lanes[lane]
        delivery.withLane(lane) {
            $0.shelf = LaneShelf()
            $0.taken = Lane.Room()
            $0.oldestShelvedAt = nil
            $0.claimAt = .max
        }
        // Nothing of it is claimed before it is there: neither from the one lane nor from the other.
        for lane in [lane, target] {
            commits.hold(lane)
            delivery.withLane(lane) { $0.shelving += 1 }
        }
        delivery.withLane(target) {
            $0.shelf.add(moved.shelved)
            $0.taken.add(moved.taken)
            $0.oldestShelvedAt = [$0.oldestShelvedAt, oldest].compactMap(\.self).min()
            $0.claimAt = 0
        }
        scheduleCommit(at: now.monotonic)
        return moved.shelved
    }
}

extension Delivery.State {
    /// Whether the notification waits: it is neither with the gateway nor on its way into the outbox.
    fileprivate var mayBeGivenUp: Bool {
        switch self {
        case .queued, .ready, .postponed, .loading: true
        case .storing, .inFlight, .ended, .free: false
        }
    }
}

extension Ending {
    /// The ending of a notification that the operator has taken out.
    package static let dropped = Ending.refused(
        reason: .internal, detail: "Dropped by the operator of the relay")
}
