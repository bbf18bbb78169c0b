import Clocks

/// Decides whether there is room for one more notification: for its device token, and in the node as a whole.
///
/// A submission that is refused here gets `Busy` with a time: nothing is stored, nothing is lost.
///
/// Whoever knows a token can send to it. So that nobody can silence the phone, half of its rate, and a quarter of its
/// places, are kept for senders that have not sent to it lately (``RecentSenders``). Such a sender takes from the kept half
/// alone: many new ones together get no more than that.
package struct Admission: Sendable {
    package struct Limits: Equatable, Sendable {
        /// Notifications a second for one device token, on average.
        package var tokenRate = 2.0
        /// The most notifications for a device token that may come at once.
        package var tokenBurst = 5
        /// The most notifications of a device token that may wait for delivery.
        package var waitingPerToken = 64
        /// The most notifications that may wait in the whole node.
        package var waiting = 100_000
        /// Bytes of message and token that may wait in the whole node.
        package var waitingBytes = 256 << 20
        /// Bytes of message and token that may be on their way into the outbox: these are in memory.
        package var storingBytes = 16 << 20
        /// Identities that the outbox remembers (``MemoryShares``).
        package var identities = 2_000_000

        package init() {}
    }

    /// One device token: how far its rate is used up, and what waits for it.
    private struct Account {
        /// The use of the half of the rate that all senders share. ``kept`` is the use of the half that is kept for
        /// newcomers.
        var used = Rate.Use()
        var kept = Rate.Use()
        /// The device's notifications in memory.
        var waiting = 0
        /// The notifications in memory that the outbox has in its backlog, or will.
        var shelved = 0
    }

    let limits: Limits
    private let rate: Rate
    /// The rate for newcomers, of the half that is kept for them.
    private let kept: Rate
    /// The rate for the others of that half, as long as newcomers are left what they need.
    private let rest: Rate
    private var recent = RecentSenders()
    /// How much of what waits for the rate a sender may bring: a quarter of a device's places.
    private var late: Rates<Late>
    private var shares: MemoryShares
    private var accounts: [Digest: Account] = [:]
    private var sweepAbove = Admission.leastSweep
    /// The notifications in memory, of all devices.
    private var held = 0
    package private(set) var waiting = 0
    package private(set) var waitingBytes = 0
    private var storingBytes = 0

    private static let leastSweep = 1024
    static let retryWhenFull: Duration = .seconds(30)
    /// The tokens of a burst that newcomers find at least, however much the others send.
    private static let keptBurst = 2
    private static let retryWhenShareIsTaken: Duration = .seconds(3600)
    /// The wait while the disk is slower than the senders, which may soon be over.
    private static let retryWhenStoring: Duration = .seconds(2)

    package init(limits: Limits) {
        self.limits = limits
        let half = limits.tokenRate / 2
        rate = Rate(perSecond: half, burst: (limits.tokenBurst + 1) / 2)
        rest = Rate(perSecond: half, burst: max(1, limits.tokenBurst / 2))
        kept = Rate(perSecond: half, burst: max(1, limits.tokenBurst / 2) + Admission.keptBurst)
        late = Rates(
            Rate(perSecond: half, burst: max(1, limits.waitingPerToken / 4)), most: Admission.mostLate)
        shares = MemoryShares(capacity: limits.identities)
    }

    /// Takes one place, or says when to try again. ``settle(size:)`` says that the outbox has answered;
    /// ``release(token:size:)`` gives the place back.
    ///
    /// - Parameter sender: `nil`: it has nothing kept for it, and takes from both halves.
    mutating func admit(token: Digest, size: Int, from sender: SenderID? = nil, at now: Instant) -> Busy? {
        guard waiting < limits.waiting, waitingBytes + size <= limits.waitingBytes else {
            return .node(retryAfter: Admission.retryWhenFull)
        }
        guard storingBytes + size <= limits.storingBytes else {
            return .node(retryAfter: Admission.retryWhenStoring)
        }
        let time = now.monotonic
        var account = accounts[token] ?? Account()
        guard shares.mayTake(sender) else { return .node(retryAfter: Admission.retryWhenShareIsTaken) }
        let isNew = sender.map { !recent.contains($0, to: token) } ?? false
        let places = sender == nil || isNew ? limits.waitingPerToken : limits.waitingPerToken * 3 / 4
        guard account.waiting < max(1, places) else {
            return .device(retryAfter: Admission.retryWhenFull)
        }
        let delay =
            isNew
            ? kept.take(from: &account.kept, at: time)
            : Admission.take(rate, from: &account.used, or: rest, from: &account.kept, at: time)
        guard delay == .zero else { return .device(retryAfter: delay) }
        enter(account, token: token, size: size, from: sender, at: time)
        return nil
    }

    /// Whether the node as a whole has room for one more of this sender, of so many bytes.
    func hasRoom(for size: Int, from sender: SenderID?) -> Bool {
        waiting < limits.waiting && waitingBytes + size <= limits.waitingBytes
            && storingBytes + size <= limits.storingBytes && shares.mayTake(sender)
    }

    /// Admits a notification over its device's rate, to be sent later. Uses nothing that is kept for newcomers. There is a
    /// limit for each sender at each device, and three quarters of a device's places are the most that may be taken so.
    ///
    /// - Returns: The time before which the notification is not sent; `nil`: it is not admitted.
    mutating func admitLater(token: Digest, size: Int, from sender: SenderID?, at now: Instant)
        -> MonotonicTime?
    {
        guard hasRoom(for: size, from: sender) else { return nil }
        let time = now.monotonic
        var account = accounts[token] ?? Account()
        guard account.waiting < max(1, limits.waitingPerToken * 3 / 4) else { return nil }
        guard late.take(by: Late(token: token, sender: sender), at: time) == .zero else { return nil }
        let due = time + rate.delay(after: account.used, at: time)
        rate.add(to: &account.used, at: time)
        enter(account, token: token, size: size, from: sender, at: time)
        return due
    }

    /// Takes the place that the limits have room for, and keeps the account of its device.
    @inline(__always)
    private mutating func enter(
        _ account: Account, token: Digest, size: Int, from sender: SenderID?, at time: MonotonicTime
    ) {
        var account = account
        account.waiting += 1
        accounts[token] = account
        held += 1
        if let sender { recent.insert(sender, to: token, at: time) }
        waiting += 1
        waitingBytes += size
        storingBytes += size
        sweep(at: time)
    }

    /// Whose notifications for which device wait for the rate.
    private struct Late: Hashable {
        let token: Digest
        let sender: SenderID?
    }

    private static let mostLate = 8192

    private static func take(
        _ one: Rate, from used: inout Rate.Use, or other: Rate, from otherUsed: inout Rate.Use,
        at time: MonotonicTime
    ) -> Duration {
        let delay = one.take(from: &used, at: time)
        return delay == .zero ? .zero : min(delay, other.take(from: &otherUsed, at: time))
    }

    /// Whether a lane may have one more. It may have some times as much as is free, so that the one that has most leaves
    /// room for all others, and these for yet others: no lane that can't deliver fills the node. One that has never
    /// delivered may have an eighth of what is free.
    ///
    /// A sender that has brought much of what a lane could not deliver at once finds half of that room or less: the rest is
    /// for those who brought little.
    func hasRoom(for taken: Lane.Room, isProven: Bool, senderBroughtMuch: Bool = false) -> Bool {
        let (share, part) =
            senderBroughtMuch
            ? (Admission.shareOfFree / 4, 2 * Admission.partOfFree)
            : (Admission.shareOfFree, Admission.partOfFree)
        func mayHave(_ taken: Int, free: Int, least: Int) -> Bool {
            taken < max(isProven ? share * free : free / part, senderBroughtMuch ? least / 2 : least)
        }
        return mayHave(taken.count, free: limits.waiting - waiting, least: Admission.leastShare)
            && mayHave(
                taken.bytes, free: limits.waitingBytes - waitingBytes,
                least: Admission.leastShare * Validator.payloadLimit)
    }

    /// Four fifths of all at most, for a lane alone; half of all for one sender.
    private static let shareOfFree = 4
    /// A ninth of all at most; a seventeenth for one sender.
    private static let partOfFree = 8
    /// The size of the share that a lane may have in any case, as long as there is room; half of it for one sender.
    static let leastShare = 64

    /// Returns the number of one device's notifications in memory.
    func waiting(of token: Digest) -> Int { accounts[token]?.waiting ?? 0 }

    /// Counts an identity that the outbox remembers by now in its sender's share: what could not be stored, and what was
    /// known already, takes nothing from anybody.
    mutating func remembered(from sender: SenderID?, at time: MonotonicTime) {
        shares.taken(by: sender, at: time)
    }

    /// Notes that a notification is no longer on its way into the outbox.
    mutating func settle(size: Int) { storingBytes -= size }

    /// Takes a place for what was accepted before this process began: no limit can refuse it.
    mutating func restore(token: Digest, size: Int) {
        accounts[token, default: Account()].waiting += 1
        held += 1
        waiting += 1
        waitingBytes += size
    }

    /// Counts the backlog of a lane again at a start.
    mutating func restore(_ backlog: LaneBacklog) {
        waiting += backlog.waiting
        waitingBytes += backlog.bytes
    }

    /// Takes a lane's backlog out of the counts: another node has it from now on.
    mutating func lose(_ backlog: LaneBacklog) {
        waiting -= backlog.waiting
        waitingBytes -= backlog.bytes
    }

    mutating func release(token: Digest, size: Int, isShelved: Bool = false) {
        retire(token: token, isShelved: isShelved)
        releaseShelved(size: size)
    }

    /// Counts an admitted notification as one of the backlog.
    ///
    /// - Returns: How many of its device may be there, with it.
    mutating func shelve(token: Digest) -> Int {
        accounts[token]?.shelved += 1
        let account = accounts[token] ?? Account()
        return limits.waitingPerToken - (account.waiting - account.shelved)
    }

    /// Notes that a notification waits on disk only.
    mutating func retire(token: Digest, isShelved: Bool) {
        // Taken out and put back: to change it in its place takes three allocations.
        guard var account = accounts[token] else { return }
        account.waiting -= 1
        held -= 1
        if isShelved { account.shelved -= 1 }
        accounts[token] = account
    }

    /// Notes that a notification is in memory, and in the backlog.
    mutating func claim(token: Digest, at time: MonotonicTime) {
        accounts[token, default: Account()].waiting += 1
        accounts[token]?.shelved += 1
        held += 1
        sweep(at: time)
    }

    /// Counts the end of a notification that was on disk only.
    mutating func releaseShelved(size: Int) {
        waiting -= 1
        waitingBytes -= size
    }

    /// Forgets tokens without waiting notifications and with a fresh rate, if they may be most of the table. Submissions do
    /// so as well, but after an outage none may come for hours. To be called from time to time.
    mutating func tidy(at time: MonotonicTime) {
        guard accounts.count > max(Admission.leastSweep, 2 * held) else { return }
        sweepAbove = 0
        sweep(at: time)
    }

    /// Forgets tokens without waiting notifications and with a fresh rate whenever the table has doubled. So the table has at
    /// most twice the tokens of all that waits and of the last seconds, and no single notification pays for the search each
    /// time.
    private mutating func sweep(at time: MonotonicTime) {
        guard accounts.count > sweepAbove else { return }
        accounts = accounts.filter {
            $0.value.waiting > 0 || !$0.value.used.isOver(at: time) || !$0.value.kept.isOver(at: time)
        }
        sweepAbove = max(Admission.leastSweep, 2 * accounts.count)
    }

    /// Tokens in the table.
    var accountCount: Int { accounts.count }
}
