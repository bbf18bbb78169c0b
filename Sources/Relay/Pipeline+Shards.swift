/// A store that other nodes use at the same time: each sends what is for the devices of its shards, and stores what comes in
/// for all.
extension Pipeline {
    /// Whether this node sends what is for a device.
    func owns(_ token: Digest) -> Bool { ownership?.holds(token) ?? true }

    /// Whether what comes in for a device is stored for this node.
    func keeps(_ token: Digest) -> Bool { ownership?.keeps(token) ?? true }

    mutating func beginSharing(_ shards: Shards, at time: Int64) {
        guard isShared else { return }
        ownership = Ownership(owned: shards)
        shareAt = time
    }

    /// Asks the store how it is shared by now.
    mutating func askForShare(at time: Int64) {
        shareAt = .max
        guard !isStopping else { return }
        guard var sharing = ownership else { return }
        effects.append(.divide(sharing.ask { senders.listens(for: $0) }))
        ownership = sharing
    }

    /// What ``Effect/divide(_:)`` asked for.
    package mutating func divided(_ share: Share, at now: Instant) {
        guard let before = ownership else { return }
        let lost = ownership?.take(share) ?? .none
        ownership?.answered(share.ends)
        let elsewhere = busyShards { $0.isElsewhere }
        ownership?.lead(elsewhere, hasMore: share.hasMore)
        if !lost.isEmpty {
            deadTokens.forget { lost.contains($0) }
            delivery.wishes.forget { lost.contains($0) }
        }
        for backlog in share.lost { lose(backlog) }
        lastSequence = max(lastSequence, share.lastSequence)
        deadTokens.restore(share.deadTokens, at: now)
        restore(share.wishes, at: now)
        for backlog in share.arrived {
            restore(backlog, at: now)
            delivery.stir(lane(backlog.lane))
        }
        for (sequence, end) in share.ends { tell(sequence, end) }
        if share.nodes > 1 {
            let busy = busyShards()
            ownership?.leaveSurplus(busy: busy)
        }
        letGo()
        if before.owned != share.owned || before.nodes != share.nodes {
            effects.append(.shared(shards: share.owned.count, nodes: share.nodes))
        }
        let isAlone = share.nodes == 1 && ownership?.detour.isEmpty ?? true
        let interval = isAlone ? Ownership.intervalAlone : Ownership.interval
        shareAt = now.monotonicNanoseconds + (share.hasMore ? 0 : interval.nanoseconds)
        if !changes.isEmpty { scheduleCommit(at: now.monotonicNanoseconds) }
    }

    /// The store could not be asked: it is asked again.
    package mutating func divideFailed(at now: Instant) {
        ownership?.answered([:])
        shareAt = now.monotonicNanoseconds + Pipeline.retryCommit.nanoseconds
    }

    // MARK: Ends that other nodes bring about

    /// It is not in memory here: who waits for its end hears of it by the store.
    mutating func awaitElsewhere(_ sequence: Int64) {
        if ownership != nil, senders.listens(for: sequence) { ownership?.await(sequence) }
    }

    private mutating func tell(_ sequence: Int64, _ end: Share.End) {
        switch end {
        case .ended(let ending): tell(sequence, ending)
        case .kept:
            guard ownership?.tellsKept(sequence) == true else { return }
            for reply in senders.listening(for: sequence) { tell(reply, .kept) }
        case .forgotten:
            var replies: [ReplyID] = []
            senders.end(sequence) { replies.append($0) }
            for reply in replies { drop(reply) }
        }
    }

    /// What was stored for another node leaves this one.
    mutating func settleElsewhere(_ ticket: Ticket, _ sequence: Int64, at now: Instant) {
        leave(ticket.slot)
        accept(ticket, sequence, isRepetition: false, at: now)
    }

    // MARK: Giving up

    /// Shards of which something is in memory or under way.
    private func busyShards(where isMeant: (Delivery.Entry) -> Bool = { _ in true }) -> Shards {
        var busy = Shards.none
        for entry in delivery.entries where entry.state != .free && isMeant(entry) {
            busy[Shards.number(of: entry.token)] = true
        }
        return busy
    }

    /// What waits of shards that are given up leaves memory; what is under way ends first.
    private mutating func letGo() {
        guard let leaving = ownership?.leaving, !leaving.isEmpty else { return }
        var tokens: Set<Digest> = []
        for entry in delivery.entries where entry.state != .free && leaving.contains(entry.token) {
            tokens.insert(entry.token)
        }
        for token in tokens {
            // From the back, so that none of them becomes ready in between.
            for slot in delivery.waiting(of: token).reversed() where delivery.entries[slot].writing == .first
            {
                giveBack(slot)
            }
        }
        // Who accepts next knows only what is written.
        guard unstored.isEmpty else { return }
        let busy = busyShards()
        if let free = ownership?.give(busy: busy), !free.isEmpty { changes.append(.giveUp(free)) }
    }

    /// It waits on in the store, for whoever has its shard next.
    mutating func giveBack(_ slot: Int) {
        let entry = delivery.entries[slot]
        guard entry.isShelved else {
            leave(slot)
            return awaitElsewhere(entry.sequence)
        }
        delivery.withLane(entry.lane) {
            if $0.shelved == 0 { $0.oldestShelvedAt = entry.submittedAt }
            $0.shelved += 1
        }
        retire(slot)
    }

    /// It was on disk only.
    private mutating func lose(_ backlog: LaneBacklog) {
        guard let lane = delivery.lane(backlog.lane) else { return }
        admission.lose(backlog)
        delivery.withLane(lane) {
            $0.shelved -= backlog.waiting
            $0.taken.count -= backlog.waiting
            $0.taken.bytes -= backlog.bytes
            if $0.shelved == 0 { $0.oldestShelvedAt = nil }
        }
        delivery.tidyLane(lane)
    }
}
