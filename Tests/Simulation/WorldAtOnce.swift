import Clocks
import Vectors

@testable import Relay

/// What goes out before it is stored, as an outsider knows it.
struct AtOnce {
    struct One {
        let identity: Digest
        let reply: ReplyID
        let token: Digest
        /// The time at which it has to be on its way into the outbox.
        let dueAt: MonotonicTime
    }

    /// Neither stored nor ended, by the number under which it went out.
    private(set) var ones: [Int64: One] = [:]
    /// Which number one went out under that is stored now.
    private(set) var sentAs: [Int64: Int64] = [:]
    /// Delivered in this process, and not yet in the outbox: a crash forgets it.
    private(set) var unwritten: Set<Digest> = []
    private(set) var delivered = 0
    private(set) var stored = 0

    mutating func add(_ one: One, as number: Int64) { ones[number] = one }
    mutating func remove(_ number: Int64) { ones[number] = nil }

    func number(of identity: Digest) -> Int64? { ones.first { $0.value.identity == identity }?.key }
    func isListening(_ reply: ReplyID) -> Bool { ones.values.contains { $0.reply == reply } }

    mutating func deliver(_ one: One, _ number: Int64) {
        ones[number] = nil
        unwritten.insert(one.identity)
        delivered += 1
    }

    mutating func store(_ number: Int64, as sequence: Int64) {
        ones[number] = nil
        sentAs[sequence] = number
        stored += 1
    }

    mutating func write(_ identity: Digest) { unwritten.remove(identity) }

    mutating func crash() {
        // Their numbers come again.
        ones = [:]
        sentAs = [:]
        unwritten = []
    }
}

extension World {
    static let writeBehind: Duration = .milliseconds(250)

    /// It took a place and waits for no commit: its gateway gets it first.
    func noteAtOnce(_ submission: Submission, _ digests: SubmissionDigests, _ reply: ReplyID) {
        let window = submission.patience == .short ? Pipeline.shortWindow : World.writeBehind
        let (identity, token) = (digests.identity, digests.token)
        let one = AtOnce.One(
            identity: identity, reply: reply, token: token,
            dueAt: now.monotonic + window)
        if submission.patience == .none { fail("sent before it is stored, and nobody asked for the outcome") }
        if books.count(of: token) > 0 { fail("sent before what waits for its device") }
        atOnce.add(one, as: pipeline.unstored.lastNumber)
        if canary == .forgetsToStoreAfterTheWindow { pipeline.unstored.due = Unstored.Queues() }
    }

    /// - Returns: Whether it is one that went out before it was stored.
    func noteSentAtOnce(_ handle: Pipeline.Handle, _ notification: Notification) -> Bool {
        guard let one = atOnce.ones[handle.sequence] else { return false }
        if one.identity != notification.id.identity { fail("\(handle.sequence) is sent for another one") }
        if books.first(of: one.token) != nil, !isLate(one) {
            fail("\(handle.sequence) overtakes what is stored")
        }
        if canary == .tellsStoredForWhatItOnlySent {
            senders.hear(one.reply, .stored, isLast: false, in: outbox, fail)
        }
        return true
    }

    /// Ends of what was never stored.
    func endAtOnce(_ end: Pipeline.End) -> Bool {
        guard let one = atOnce.ones[end.sequence] else { return false }
        if end.ending != .delivered { fail("\(end.ending) ends what is not stored") }
        if gateway.taken[end.sequence] == nil {
            fail("\(end.sequence) is called delivered, and no gateway took it")
        }
        atOnce.deliver(one, end.sequence)
        senders.deliverUnwritten(one.identity)
        return true
    }

    /// The outbox has taken a commit.
    func takeRemembered(_ changes: [OutboxChange]) {
        for case .remember(let digests, let acceptedAt) in changes {
            atOnce.write(digests.identity)
            senders.write(digests.identity)
            storedAt[digests.identity] =
                submittedAt.removeValue(forKey: digests.identity)?[acceptedAt.milliseconds]
        }
    }

    /// Whether it is on its way into the outbox.
    func isLate(_ one: AtOnce.One) -> Bool {
        pipeline.commits.tickets.contains { $0.reply == one.reply } || commitHolds(one.identity)
    }

    private func commitHolds(_ identity: Digest) -> Bool {
        commit?.changes.contains {
            if case .store(let request) = $0 { request.digests.identity == identity } else { false }
        } ?? false
    }

    /// One whose commit failed when its gateway had put it off.
    func noteBusy(_ reply: ReplyID) {
        if let number = atOnce.ones.first(where: { $0.value.reply == reply })?.key { atOnce.remove(number) }
    }

    /// Those in a commit that went out before.
    var lateStores: Int { pipeline.commits.running?.tickets.count { atOnce.isListening($0.reply) } ?? 0 }

    /// After the core has looked at the time.
    func checkWindows() {
        for (number, one) in atOnce.ones where one.dueAt <= now.monotonic && !isLate(one) {
            fail("\(number) is out, and its window has passed")
        }
    }

    func checkStop() {
        for (number, one) in atOnce.ones where !isLate(one) {
            fail("\(number) is not stored when the node stops")
        }
    }
}
