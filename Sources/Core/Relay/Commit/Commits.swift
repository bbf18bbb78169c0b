import Clocks

/// The way into the outbox, one commit after another: the changes, the submissions that wait for one, and when the next may
/// begin.
///
/// States: none asked for; asked for (the edge knows, and will begin it); running. ``append(_:)`` and its like fill the
/// next one at any time, also while one runs. ``begin(at:)`` takes all that is there, ``committed(at:)`` and
/// ``failed(_:at:)`` end it. Never true: that two run, that a submission is in two, or that an end which nobody could write
/// down is forgotten.
struct Commits: Sendable {
    /// A commit on its way.
    struct Running: Sendable {
        let changes: [OutboxChange]
        /// The tickets of the submissions whose senders wait for the commit.
        let tickets: [Pipeline.Ticket]
        /// The ends that senders hear of after the commit.
        let unreported: [(sequence: Int64, ending: Ending)]
        /// Lanes of devices that the commit puts into the backlog.
        let shelving: [Int]
        let moves: Int
        let begun: MonotonicTime
        let isAwaited: Bool
    }

    private var changes = PendingChanges()
    private(set) var tickets: [Pipeline.Ticket] = []
    /// The ends that senders hear of after the next commit: an end that somebody has heard of never changes, even if the
    /// process is killed right after.
    private var unreported: [(sequence: Int64, ending: Ending)] = []
    private(set) var running: Running?
    /// Whether one of ``tickets`` waits for more than a notification that another node will send.
    private var isUrgent = false
    /// Tickets of the next commit that are to be refused unless they are known.
    private var lookups = 0
    private let mostLookups: Int
    /// Lanes of devices that the next commit puts into the backlog.
    private var shelving: [Int] = []
    /// Devices put into the backlog since the last commit began, each with the time when it is due (ms since 1970).
    /// Notifications of theirs that were on their way into the outbox follow them.
    private var shelved: [Digest: UnixTime] = [:]
    /// The devices that were put into the backlog between that and the commit before.
    private var shelvedBefore: [Digest: UnixTime] = [:]
    /// The number of the operator's moves that are not in the outbox yet.
    private var moves = 0
    /// Whether the edge has been asked for a commit and has not begun it.
    private var isAsked = false
    /// The time at which a commit is asked for; `.max`: when there is something to write.
    private var askAt = MonotonicTime.max
    /// Whether a commit waits until ``askAt`` only to take along more of what nobody waits for.
    private var isGathering = false
    /// The time at which ends are written that need no commit of their own.
    private var writeAt = MonotonicTime.max
    private var pace = CommitPace()
    /// Why the last commit failed; `nil` while the outbox works.
    private(set) var fault: OutboxError?

    init(mostLookups: Int) { self.mostLookups = mostLookups }

    // MARK: What the next one has

    /// Whether nothing needs a commit at once.
    var isEmpty: Bool { changes.isEmpty }
    /// Deliveries that wait for other changes.
    var unwritten: Int { changes.unwritten }
    var isRunning: Bool { running != nil }
    /// Whether somebody hears of the next one, or it has more than ends. A power cut that loses an end has the notification
    /// sent once more, under the same ids.
    private var isAwaited: Bool {
        changes.hasMoreThanEnds || !tickets.isEmpty || !unreported.isEmpty || fault != nil
    }
    /// Whether nothing is left that would have to be written.
    var isDone: Bool { running == nil && changes.isEmpty && changes.unwritten == 0 }
    /// Whether something that the operator has moved is not in the outbox yet.
    var isMoving: Bool { moves > 0 }
    /// Submissions of the next commit and of the running one.
    var submissions: [Pipeline.Ticket] { tickets + (running?.tickets ?? []) }

    mutating func append(_ change: OutboxChange) { changes.append(change) }

    /// Notes the state of a lane; `nil`: that of a new lane.
    mutating func note(_ lane: LaneID, _ record: LaneRecord?) { changes.note(lane, record) }

    mutating func store(_ request: StoreRequest, for ticket: Pipeline.Ticket) {
        changes.append(.store(request))
        tickets.append(ticket)
        if case .elsewhere = request.destination { return }
        isUrgent = true
    }

    /// Puts the changes of a commit that failed before all others.
    mutating func storeFirst(_ stores: [OutboxChange], for earlier: [Pipeline.Ticket]) {
        tickets = earlier + tickets
        changes.prepend(stores)
        isUrgent = isUrgent || !earlier.isEmpty
    }

    /// Whether what would be refused may be looked for in the outbox.
    var mayLookUp: Bool { lookups < mostLookups && fault == nil }

    mutating func lookUp(_ digests: SubmissionDigests, for ticket: Pipeline.Ticket) {
        lookups += 1
        changes.append(.lookUp(digests))
        tickets.append(ticket)
        isUrgent = true
    }

    /// Drops the submissions, and returns the tickets of those that are in no commit any more.
    mutating func dropSubmissions() -> [Pipeline.Ticket] {
        changes.dropSubmissions()
        isUrgent = false
        defer { tickets = [] }
        return tickets
    }

    mutating func tellAfter(_ sequence: Int64, _ ending: Ending) { unreported.append((sequence, ending)) }

    func ending(of sequence: Int64) -> Ending? { changes.ending(of: sequence) }
    /// Whether that end is not in a commit yet.
    func holdsEnd(of sequence: Int64) -> Bool { changes.holdsEnd(of: sequence) }

    // MARK: Into the backlog

    /// Moves a device's notifications to the backlog until they are due.
    mutating func shelve(_ token: Digest, _ sequences: [Int64], due: UnixTime) {
        changes.append(.shelve(token, sequences, notBefore: due))
        shelved[token] = due
    }

    /// Returns the time when a device is due that has gone to the backlog while something of it was on its
    /// way into the outbox.
    func dueOfShelved(_ token: Digest) -> UnixTime? { shelved[token] ?? shelvedBefore[token] }

    /// Holds the claims of a lane until the next commit has been made.
    mutating func hold(_ lane: Int) { shelving.append(lane) }

    mutating func move(_ lane: LaneID, toApp app: String) {
        changes.append(.move(lane, toApp: app))
        moves += 1
    }

    // MARK: What was delivered before it was stored

    mutating func remember(_ digests: SubmissionDigests, acceptedAt: UnixTime) {
        changes.remember(digests, acceptedAt: acceptedAt)
    }

    func remembers(_ identity: Digest) -> Bool { changes.remembers(identity) }

    /// Sets the latest time at which deliveries that wait for other changes are written; a time that is set stays.
    mutating func writeBy(_ time: MonotonicTime) { if writeAt == .max { writeAt = time } }

    func isToBeWritten(at time: MonotonicTime) -> Bool { writeAt <= time }

    /// Ends the wait of deliveries for other changes.
    mutating func ripen() {
        writeAt = .max
        changes.ripen()
    }

    // MARK: When

    @inline(__always)
    var wakeAt: MonotonicTime { min(askAt, writeAt) }

    /// Schedules the next commit. While a commit runs, nothing is scheduled before it ends; a
    /// commit that failed is tried again at its time.
    ///
    /// - Returns: Whether the edge is to be asked for a commit now.
    mutating func schedule(at time: MonotonicTime, isStopping: Bool) -> Bool {
        guard running == nil, !isAsked, askAt == .max || isGathering else { return false }
        guard !isStopping else { return ask() }
        let rest = pace.rest(at: time)
        let next = time + (rest ?? .zero)
        if pace.isShared, !isUrgent {
            if !isGathering { askAt = max(next, time + CommitPace.gathering) }
            isGathering = true
            return false
        }
        if !pace.isShared, !isAwaited, pace.endsAt > time {
            askAt = max(next, pace.endsAt)
            isGathering = true
            return false
        }
        guard rest != nil else { return ask() }
        askAt = next
        isGathering = false
        return false
    }

    /// Notes whether other nodes use the store at this time.
    mutating func share(_ isShared: Bool) { pace.isShared = isShared }

    func isToBeAsked(at time: MonotonicTime) -> Bool { askAt <= time }

    /// Asks for a commit.
    ///
    /// - Returns: Whether the edge is to be asked for it now.
    mutating func ask() -> Bool {
        askAt = .max
        isGathering = false
        guard running == nil, !isAsked else { return false }
        isAsked = true
        return true
    }

    mutating func retry(at time: MonotonicTime) {
        askAt = time
        isGathering = false
    }

    /// Closes the schedule: no commit is asked for any more.
    mutating func close() {
        askAt = .max
        isGathering = false
        writeAt = .max
    }

    // MARK: From beginning to end

    /// Begins a commit, and returns its changes; `nil`: there is nothing to write.
    mutating func begin(at time: MonotonicTime) -> [OutboxChange]? {
        isAsked = false
        guard running == nil, !changes.isEmpty || fault != nil else { return nil }
        let isAwaited = isAwaited
        var taken = changes.take()
        writeAt = .max
        // A commit that has nothing to write would succeed on a full disk.
        if fault != nil { taken.append(.proof) }
        running = Running(
            changes: taken, tickets: tickets, unreported: unreported, shelving: shelving, moves: moves,
            begun: time, isAwaited: isAwaited)
        isUrgent = false
        lookups = 0
        shelving = []
        shelvedBefore = shelved
        shelved = [:]
        tickets = []
        tickets.reserveCapacity(min(taken.count, 1024))
        unreported = []
        return taken
    }

    /// Notes that a commit was asked for, and is not to be begun any more.
    mutating func leaveUnbegun() { isAsked = false }

    /// Ends the running commit, which has taken effect.
    ///
    /// - Returns: The commit, and whether the outbox works again.
    mutating func committed() -> (commit: Running, hasRecovered: Bool) {
        guard let commit = running else { preconditionFailure("no commit runs") }
        running = nil
        moves -= commit.moves
        defer { fault = nil }
        return (commit, fault != nil)
    }

    /// Notes that all have heard of a commit's results. The next commit may begin after a rest as long as this one took.
    mutating func rest(after commit: Running, at time: MonotonicTime) {
        pace.ended(begunAt: commit.begun, at: time, isAwaited: commit.isAwaited)
    }

    /// Ends the running commit, which has failed and changed nothing. Changes that follow from deliveries go into the next
    /// commit; submissions do not.
    ///
    /// - Returns: The commit, and whether the operator is to hear of it.
    mutating func failed(_ error: OutboxError) -> (commit: Running, isReported: Bool) {
        guard let commit = running else { preconditionFailure("no commit runs") }
        running = nil
        defer { fault = error }
        unreported = commit.unreported + unreported
        shelving = commit.shelving + shelving
        shelved.merge(shelvedBefore) { now, _ in now }
        changes.putBack(commit.changes)
        return (commit, fault == nil || error.isAlwaysReported)
    }
}
