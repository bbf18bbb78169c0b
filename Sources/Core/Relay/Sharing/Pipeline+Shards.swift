/// A store that other nodes use at the same time: each sends what is for the devices of its shards, and stores what comes in
/// for all.
extension Pipeline {
    /// Whether this node sends what is for a device.
    func owns(_ token: Digest) -> Bool { ownership?.holds(token) ?? true }

    /// Whether the node that has its shard may have one more.
    func hasRoomElsewhere(for token: Digest, size: Int) -> Bool {
        ownership?.elsewhere.hasRoom(for: token, size: size, within: limits) ?? true
    }

    mutating func beginSharing(_ content: OutboxContent, at time: Int64) {
        guard isShared else { return }
        ownership = Ownership(owned: content.shards)
        ownership?.takeOvers.add(content.takenOver)
        shareAt = time
    }

    /// Asks the store how it is shared by now.
    mutating func askForShare(at now: Instant) {
        shareAt = .max
        guard !isStopping else { return }
        guard var sharing = ownership else { return }
        // The oldest is looked for once in a while: it costs a look at everything.
        if sharing.wantsOldest(at: now.monotonicNanoseconds) { sharing.oldestSubmittedAt = oldestSubmittedAt }
        let age = sharing.oldestSubmittedAt.map { max(0, now.monotonicNanoseconds - $0) / 1_000_000 }
        let figures = NodeFigures(
            waiting: waiting, bytes: waitingBytes, oldestAcceptedAt: age.map { now.unixMilliseconds - $0 })
        let unseen = outboxFault == nil ? sharing.blind.intersection(onItsWay(in: sharing)) : .all
        effects.append(.divide(sharing.ask(figures, unseen: unseen) { senders.listens(for: $0) }))
        ownership = sharing
    }

    private var oldestSubmittedAt: Int64? {
        var found = delivery.lanes.lazy.filter { $0.shelved > 0 }.compactMap(\.oldestShelvedAt).min()
        for entry in delivery.entries where entry.state != .free && entry.state != .storing {
            found = min(found ?? .max, entry.submittedAt)
        }
        return found
    }

    /// How a store is shared, as the operator sees it.
    package struct Sharing: Equatable, Sendable {
        /// That are this node's.
        package let shards: Int
        /// `nil`: this one is alone.
        package let known: SharedNodes?
        /// Monotonic nanoseconds; `nil`: all shards are somebody's.
        package let withoutOwnerSince: Int64?
        package let takeOvers: TakeOvers
    }

    /// `nil`: other nodes can't come to the store.
    package var sharing: Sharing? {
        ownership.map {
            Sharing(
                shards: $0.owned.count, known: $0.known, withoutOwnerSince: $0.withoutOwnerSince,
                takeOvers: $0.takeOvers)
        }
    }

    /// What ``Effect/divide(_:)`` asked for.
    package mutating func divided(_ share: Share, at now: Instant) {
        guard let before = ownership else { return }
        let lost = ownership?.take(share, at: now.monotonicNanoseconds) ?? .none
        ownership?.answered(share.ends)
        if let sharing = ownership, !share.gained.isEmpty {
            let unseen = share.gained.intersection(onItsWay(in: sharing))
            ownership?.loseSight(of: unseen)
        }
        if !lost.isEmpty {
            deadTokens.forget { lost.contains($0) }
            delivery.wishes.forget { lost.contains($0) }
        }
        for backlog in share.lost { lose(backlog) }
        lastSequence = max(lastSequence, share.lastSequence)
        deadTokens.restore(share.deadTokens, at: now)
        if !share.revived.isEmpty { deadTokens.forget { share.revived.contains($0) } }
        restore(share.wishes, at: now)
        for backlog in share.arrived {
            restore(backlog, at: now)
            delivery.stir(lane(backlog.lane))
        }
        for (sequence, end) in share.ends { tell(sequence, end) }
        ownership?.takeOvers.add(share.takenOver)
        if share.nodes > 1 {
            let busy = busyShards()
            ownership?.leaveSurplus(busy: busy)
        }
        letGo()
        if before.owned != share.owned || before.nodes != share.nodes {
            effects.append(.shared(shards: share.owned.count, nodes: share.nodes))
        }
        let interval = share.nodes > 1 ? Ownership.interval : Ownership.intervalAlone
        shareAt = now.monotonicNanoseconds + (share.hasMore ? 0 : interval.nanoseconds)
        if let at = ownership?.looked(at: now.monotonicNanoseconds) { shareAt = min(shareAt, at) }
        lookSoon(at: now.monotonicNanoseconds)
        if !changes.isEmpty { scheduleCommit(at: now.monotonicNanoseconds) }
    }

    /// Another node says that it has put something there for this one. It may say so late, or its word may get lost: what is
    /// there is seen all the same, a little later.
    package mutating func toldOfArrivals(at now: Instant) {
        guard !isStopping, let at = ownership?.noteTold(at: now.monotonicNanoseconds) else { return }
        // While an answer is awaited, it may not have that.
        if shareAt < .max { shareAt = min(shareAt, at) }
    }

    /// The store could not be asked: it is asked again.
    package mutating func divideFailed(at now: Instant) {
        ownership?.answered([:])
        shareAt = now.monotonicNanoseconds + Pipeline.retryCommit.nanoseconds
    }

    // MARK: What others have put there

    /// What comes in for a device can't go out before what another node has stored for it.
    func isInSight(_ token: Digest) -> Bool { ownership.map { !$0.blind.contains(token) } ?? true }

    /// Shards that are this node's by now, and of which something is on its way to the store as another one's.
    private func onItsWay(in ownership: Ownership) -> Shards {
        var found = Shards.none
        for ticket in tickets + (commit?.tickets ?? []) where ticket.refusal == nil {
            let entry = delivery.entries[ticket.slot]
            if entry.isElsewhere, ownership.owned.contains(entry.token) {
                found[Shards.number(of: entry.token)] = true
            }
        }
        return found
    }

    /// Asks at once where senders are told to come again meanwhile.
    mutating func lookSoon(at time: Int64) {
        guard outboxFault == nil, shareAt < .max, ownership?.blind.isEmpty == false else { return }
        shareAt = min(shareAt, time + Ownership.intervalBlind.nanoseconds)
    }

    /// The store could not be had. What has come in since would go out before what others have stored meanwhile.
    ///
    /// - Returns: Those who are told to come again.
    mutating func loseSight() -> [Ticket] {
        guard ownership != nil else { return [] }
        ownership?.loseSight(of: .all)
        changes.dropSubmissions()
        defer { tickets = [] }
        return tickets
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
    private func busyShards() -> Shards {
        var busy = Shards.none
        for entry in delivery.entries where entry.state != .free {
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
