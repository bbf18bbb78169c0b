/// What the operator does with all that waits in a lane, while the node runs.
extension Pipeline {
    /// Ends what waits in a lane now: it is refused. What its gateway has, and what comes later, goes on.
    ///
    /// What is on disk only is claimed for that, and ends page by page.
    ///
    /// - Returns: How many they are.
    package mutating func giveUp(_ id: LaneID, at now: Instant) -> Int {
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
        delivery.withLane(lane) { $0.givenUpTo = lastSequence }
        claimGivenUp(lane)
        return count
    }

    /// What is given up and on disk only; also after a claim that failed.
    mutating func claimGivenUp(_ index: Int) {
        let lane = delivery.lanes[index]
        guard let last = lane.givenUpTo, !lane.isClaiming else { return }
        delivery.withLane(index) { $0.isClaiming = true }
        effects.append(.claim(Claim(.due(lane.id), at: Claim.anyTime, last: last, limit: window.claim)))
    }

    package func hasGateway(_ id: LaneID) -> Bool {
        delivery.lane(id).map { delivery.lanes[$0].hasGateway } ?? false
    }

    /// Gives what waits in a lane without a gateway to another app's lane to the same host. It keeps its order; against
    /// what the other app has for the same devices it has none.
    ///
    /// - Returns: How many they are; `nil`: the lane has a gateway, or the other one has none.
    package mutating func move(_ id: LaneID, toApp app: String, at now: Instant) -> Int? {
        guard let target = delivery.lane(LaneID(app: app, host: id.host)), delivery.lanes[target].hasGateway
        else { return nil }
        guard let lane = delivery.lane(id) else { return 0 }
        guard !delivery.lanes[lane].hasGateway, !delivery.lanes[lane].isClaiming else { return nil }
        var oldest = delivery.lanes[lane].oldestShelvedAt
        for slot in delivery.entries.indices
        where delivery.entries[slot].lane == lane && delivery.entries[slot].state.mayBeGivenUp {
            oldest = min(oldest ?? .max, delivery.entries[slot].acceptedAt)
            sendToBacklog(delivery.entries[slot].token, in: lane, at: now)
        }
        delivery.forgetPostponed(in: lane)
        changes.append(.move(id, toApp: app))
        let moved = delivery.lanes[lane]
        delivery.withLane(lane) {
            $0.shelved = 0
            $0.taken = Lane.Room()
            $0.oldestShelvedAt = nil
            $0.claimAt = .max
        }
        // Nothing of it is claimed before it is there.
        shelving.append(target)
        delivery.withLane(target) {
            $0.shelving += 1
            $0.shelved += moved.shelved
            $0.taken.add(moved.taken)
            $0.oldestShelvedAt = [$0.oldestShelvedAt, oldest].compactMap(\.self).min()
            $0.claimAt = 0
        }
        scheduleCommit(at: now.monotonicNanoseconds)
        return moved.shelved
    }
}

extension Delivery.State {
    /// Neither the gateway nor the outbox has it just now.
    fileprivate var mayBeGivenUp: Bool {
        switch self {
        case .queued, .ready, .postponed: true
        case .storing, .loading, .inFlight, .free: false
        }
    }
}

extension Ending {
    /// What the operator has taken out.
    package static let dropped = Ending.refused(
        reason: .internal, detail: "Dropped by the operator of the relay")
}
