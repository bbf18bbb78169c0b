import Clocks

/// This node's part of a store that other nodes can come to: the right to send what is in it (the lease), the shards that
/// are its own, and when the store is asked about both. Where one node is alone with its store, all of it answers "yes"
/// and asks for nothing.
///
/// The pipeline asks it before it accepts, sends and ends; commits prove the lease (``prove(begunAt:at:)``), and the store's
/// answers come in by ``take(_:at:)``. Never true: that a node without the lease, or without the shard, begins to send.
struct ClusterShare: Sendable {
    private let isShared: Bool
    private var lease: Lease?
    private var ownership: Ownership?
    /// The time at which the store is asked how it is shared; `.max`: it is not.
    private var askAt = MonotonicTime.max

    init(isShared: Bool) { self.isShared = isShared }

    /// Begins with what was read at the start; the first commit has to prove the lease.
    mutating func begin(_ content: OutboxContent, at time: MonotonicTime) {
        guard isShared else { return }
        lease = .unproven(at: time)
        ownership = Ownership(owned: content.shards)
        ownership?.takeOvers.add(content.takenOver)
        askAt = time
    }

    /// The time at which the lease is to be renewed or the store to be asked.
    @inline(__always)
    var wakeAt: MonotonicTime { min(lease?.renewAt ?? .max, askAt) }

    // MARK: Before something is accepted or sent

    /// Whether other nodes can come to the store; false until it has been read.
    var hasOthers: Bool { ownership != nil }

    /// Whether this node sends what is for a device.
    func owns(_ token: Digest) -> Bool { ownership?.holds(token) ?? true }

    /// Whether no other node has accepted anything since this node started.
    var isWhole: Bool { ownership?.isWhole ?? true }

    /// Whether this node knows all that other nodes have stored for a device. If so, a new notification for the device can't
    /// overtake theirs.
    func isInSight(_ token: Digest) -> Bool { ownership.map { !$0.blind.contains(token) } ?? true }

    /// Whether the node that has its shard may have one more.
    func hasRoomElsewhere(for token: Digest, size: Int, within limits: Admission.Limits) -> Bool {
        ownership?.elsewhere.hasRoom(for: token, size: size, within: limits) ?? true
    }

    mutating func addElsewhere(_ token: Digest, size: Int) { ownership?.elsewhere.add(token, size: size) }

    // MARK: The lease

    /// Whether this node's lease certainly holds, so that no other node sends for its shards.
    func holdsLease(at time: MonotonicTime) -> Bool { lease?.holds(at: time) ?? true }

    /// Takes the renewal of the lease that is due, and puts off the next.
    ///
    /// - Returns: Whether a commit is needed now to keep the lease: true once for each renewal.
    mutating func takeRenewal(at time: MonotonicTime) -> Bool {
        guard let due = lease?.renewAt, due <= time else { return false }
        lease?.putOff(at: time)
        return true
    }

    /// Proves the lease by a commit that was begun at `begun` and has been made.
    ///
    /// - Returns: Whether the lease is held anew.
    mutating func prove(begunAt begun: MonotonicTime, at time: MonotonicTime) -> Bool {
        let wasHeld = holdsLease(at: time)
        lease?.proven(at: begun)
        return !wasHeld
    }

    // MARK: Asking the store

    /// Takes the question to the store that is due; no other is due until the next is planned.
    ///
    /// - Returns: Whether the store is to be asked now: true once for each question.
    mutating func takeQuestion(at time: MonotonicTime) -> Bool {
        guard askAt <= time else { return false }
        askAt = .max
        return ownership != nil
    }

    mutating func stopAsking() { askAt = .max }

    /// Takes the search for the oldest waiting notification, whose age the next question tells.
    ///
    /// - Returns: Whether it is to be made now: at most once a second.
    mutating func takeOldestSearch(at time: MonotonicTime) -> Bool {
        ownership?.takeOldestSearch(at: time) ?? false
    }

    /// Notes the age of the oldest notification by the time of its submission.
    mutating func note(oldest: MonotonicTime?) { ownership?.oldestSubmittedAt = oldest }

    /// Returns the next question.
    ///
    /// - Parameter unseen: shards with notifications on their way to the store, which the answer misses; `nil`: all shards.
    mutating func ask(
        at now: Instant, waiting: Int, bytes: Int, unseen: Shards?, isAwaited: (Int64) -> Bool
    ) -> ShareRequest? {
        guard let asking = ownership else { return nil }
        let age = asking.oldestSubmittedAt.map { max(.zero, now.monotonic - $0).milliseconds }
        let figures = NodeFigures(
            waiting: waiting, bytes: bytes, oldestAcceptedAt: age.map { now.unix - .milliseconds($0) })
        return ownership?.ask(
            figures, unseen: unseen.map(asking.blind.intersection) ?? .all, where: isAwaited)
    }

    /// Takes the store's answer.
    ///
    /// - Returns: Shards that are no longer this node's, and whether it has others or other neighbours than before.
    mutating func take(_ share: Share, at time: MonotonicTime) -> (lost: Shards, hasChanged: Bool)? {
        guard let before = ownership else { return nil }
        let lost = ownership?.take(share, at: time) ?? .none
        ownership?.answered(share.ends)
        return (lost, before.owned != share.owned || before.nodes != share.nodes)
    }

    /// Counts what has been taken over, and leaves what is more than this node's part.
    ///
    /// - Parameter busy: shards of which something is in memory or under way.
    mutating func settle(_ share: Share, busy: Shards) {
        ownership?.takeOvers.add(share.takenOver)
        if share.nodes > 1 { ownership?.leaveSurplus(busy: busy) }
    }

    /// Plans when the store is asked next.
    mutating func planNext(after share: Share, at time: MonotonicTime) {
        let interval = share.nodes > 1 ? Ownership.interval : Ownership.intervalAlone
        askAt = time + (share.hasMore ? .zero : interval)
        if let again = ownership?.looked(at: time) { askAt = min(askAt, again) }
    }

    /// Notes that another node has put something there, as it says.
    mutating func noteNotice(at time: MonotonicTime) {
        guard let due = ownership?.noteNotice(at: time), askAt < .max else { return }
        // While an answer is awaited, it may not have that.
        askAt = min(askAt, due)
    }

    /// Notes that the store could not be asked, and when it is asked again.
    mutating func failed(againAt time: MonotonicTime) {
        ownership?.answered([:])
        askAt = time
    }

    /// Brings the next question forward, to 20 ms from now, while senders get `busy` for shards out of sight.
    mutating func lookSoon(at time: MonotonicTime) {
        guard askAt < .max, ownership?.blind.isEmpty == false else { return }
        askAt = min(askAt, time + Ownership.intervalBlind)
    }

    /// Notes that others may have stored something in these shards that this node has not seen.
    mutating func loseSight(of shards: Shards) { ownership?.loseSight(of: shards) }

    /// The shards of this node, with the ones that it is giving up; `nil`: no other node can use the store.
    var owned: Shards? { ownership?.owned }

    // MARK: Ends that other nodes bring about

    /// Adds a notification that another node sends to those whose ends the store is asked for.
    mutating func await(_ sequence: Int64) { ownership?.await(sequence) }
    /// Notes that the sender of a notification hears that a gateway keeps it; returns whether for the first time.
    mutating func takeKeptReport(_ sequence: Int64) -> Bool { ownership?.takeKeptReport(sequence) ?? false }

    // MARK: Giving up

    /// Nothing new is begun for these.
    var leaving: Shards { ownership?.leaving ?? .none }
    /// Returns the shards that can be given up now, each once.
    mutating func give(busy: Shards) -> Shards { ownership?.give(busy: busy) ?? .none }

    // MARK: What the operator may see

    /// The figures of the shared store; `nil`: other nodes can't come to the store.
    var figures: Pipeline.Sharing? {
        ownership.map {
            Pipeline.Sharing(
                shards: $0.owned.count, known: $0.known, withoutOwnerSince: $0.withoutOwnerSince,
                takeOvers: $0.takeOvers)
        }
    }
}
