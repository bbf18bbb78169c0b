import Clocks

/// A store that other nodes use at the same time: each sends what is for the devices of its shards, and stores what comes in
/// for all.
extension Pipeline {
    /// Whether this node sends what is for a device.
    func owns(_ token: Digest) -> Bool { cluster.owns(token) }

    /// Asks the store how it is shared by now.
    mutating func askForShare(at now: Instant) {
        guard cluster.takeQuestion(at: now.monotonic), !isStopping else { return }
        if cluster.takeOldestSearch(at: now.monotonic) { cluster.note(oldest: oldestSubmittedAt) }
        let question = cluster.ask(
            at: now, waiting: waiting, bytes: waitingBytes, unseen: commits.fault == nil ? onItsWay() : nil
        ) { [senders] in senders.listens(for: $0) }
        if let question { effects.append(.divide(question)) }
    }

    private var oldestSubmittedAt: MonotonicTime? {
        var found = delivery.lanes.lazy.filter { $0.shelved > 0 }.compactMap(\.oldestShelvedAt).min()
        for entry in delivery.entries where entry.state != .free && entry.state != .storing {
            found = min(found ?? .max, entry.submittedAt)
        }
        return found
    }

    /// How a store is shared, as the operator sees it.
    package struct Sharing: Equatable, Sendable {
        /// The number of shards that are this node's.
        package let shards: Int
        /// The nodes of the store; `nil`: this one is alone.
        package let known: SharedNodes?
        /// The time since when some shards have been nobody's; `nil`: all are somebody's.
        package let withoutOwnerSince: MonotonicTime?
        package let takeOvers: TakeOvers
    }

    /// The figures of the shared store; `nil`: other nodes can't come to the store.
    package var sharing: Sharing? { cluster.figures }

    /// Takes what ``Effect/divide(_:)`` asked for.
    ///
    /// - Parameter isOfThisClock: Whether the wall clock was not set since it was asked: else it was compared as it was before.
    package mutating func divided(_ share: Share, isOfThisClock: Bool = true, at now: Instant) {
        if isOfThisClock, share.known != nil || share.nodes == 1 { wallClock.compare(at: now) }
        guard let (lost, hasChanged) = cluster.take(share, at: now.monotonic) else { return }
        if !share.gained.isEmpty { cluster.loseSight(of: share.gained.intersection(onItsWay())) }
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
        commits.share(share.nodes > 1)
        cluster.settle(share, busy: share.nodes > 1 ? busyShards() : .none)
        letGo()
        if hasChanged { effects.append(.shared(shards: share.owned.count, nodes: share.nodes)) }
        cluster.planNext(after: share, at: now.monotonic)
        lookSoon(at: now.monotonic)
        if !commits.isEmpty { scheduleCommit(at: now.monotonic) }
    }

    /// Notes that another node says it has stored something for this node. The word may come late or get lost: the regular
    /// questions to the store find the same a little later.
    package mutating func arrivalsNotified(at now: Instant) {
        if !isStopping { cluster.noteNotice(at: now.monotonic) }
    }

    /// Asks the store again later: it could not be asked.
    package mutating func divideFailed(at now: Instant) {
        cluster.failed(againAt: now.monotonic + Pipeline.retryCommit)
    }

    // MARK: What others have put there

    /// Returns the shards that are this node's by now, and of which
    /// something is on its way to the store as another node's.
    private func onItsWay() -> Shards {
        var found = Shards.none
        for ticket in commits.submissions {
            guard case .store(let slot) = ticket.purpose else { continue }
            let entry = delivery.entries[slot]
            if entry.whereabouts == .elsewhere, cluster.owned?.contains(entry.token) ?? true {
                found[Shards.number(of: entry.token)] = true
            }
        }
        return found
    }

    /// Brings the next question forward, to 20 ms from now, while senders get `busy` for shards out of sight.
    mutating func lookSoon(at time: MonotonicTime) {
        if commits.fault == nil { cluster.lookSoon(at: time) }
    }

    /// Notes that the store could not be had. What has come in since would go out before what others have stored meanwhile.
    ///
    /// - Returns: Those who get `busy`.
    mutating func loseSight() -> [Ticket] {
        guard cluster.hasOthers else { return [] }
        cluster.loseSight(of: .all)
        return commits.dropSubmissions()
    }

    // MARK: Ends that other nodes bring about

    /// Awaits the end of a notification that is not in memory here: who waits for it hears of it by the
    /// store.
    mutating func awaitElsewhere(_ sequence: Int64) {
        if cluster.hasOthers, senders.listens(for: sequence) { cluster.await(sequence) }
    }

    private mutating func tell(_ sequence: Int64, _ end: Share.End) {
        switch end {
        case .ended(let ending): tell(sequence, ending)
        case .kept:
            guard cluster.takeKeptReport(sequence) else { return }
            for reply in senders.listening(for: sequence) { tell(reply, .kept) }
        case .forgotten:
            var replies: [ReplyID] = []
            senders.end(sequence) { replies.append($0) }
            for reply in replies { drop(reply) }
        }
    }

    /// Lets go of a notification that was stored for another node.
    mutating func settleElsewhere(_ slot: Int, _ sequence: Int64, for ticket: Ticket, at now: Instant) {
        leave(slot)
        accept(ticket, sequence, isRepetition: false, at: now)
    }

    // MARK: Giving up

    /// Returns the shards of which something is in memory or under way.
    private func busyShards() -> Shards {
        var busy = Shards.none
        for entry in delivery.entries where entry.state != .free {
            busy[Shards.number(of: entry.token)] = true
        }
        return busy
    }

    /// Takes what waits of shards that are given up out of memory; what is under way ends first.
    private mutating func letGo() {
        let leaving = cluster.leaving
        guard !leaving.isEmpty else { return }
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
        let free = cluster.give(busy: busy)
        if !free.isEmpty { commits.append(.giveUp(free)) }
    }

    /// Gives a notification back: it waits on in the store, for the next owner of its shard.
    mutating func giveBack(_ slot: Int) {
        let entry = delivery.entries[slot]
        guard entry.whereabouts == .backlog else {
            leave(slot)
            return awaitElsewhere(entry.sequence)
        }
        delivery.withLane(entry.lane) {
            if $0.shelved == 0 { $0.oldestShelvedAt = entry.submittedAt }
            $0.shelf.add()
        }
        retire(slot)
    }

    /// Lets go of a backlog that this node has given up: it was on disk only.
    private mutating func lose(_ backlog: LaneBacklog) {
        guard let lane = delivery.lane(backlog.lane) else { return }
        admission.lose(backlog)
        delivery.withLane(lane) {
            $0.shelf.remove(backlog.waiting)
            $0.taken.count -= backlog.waiting
            $0.taken.bytes -= backlog.bytes
            if $0.shelved == 0 { $0.oldestShelvedAt = nil }
        }
        delivery.tidyLane(lane)
    }
}
