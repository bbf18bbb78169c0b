import Clocks

/// A set of the 256 parts into which all devices fall, by the first byte of their digests: the nodes of a
/// shared store divide them among themselves.
package struct Shards: Equatable, Sendable {
    package static let total = 256
    package static let none = Shards(low: 0, high: 0)
    package static let all = Shards(low: .max, high: .max)

    // No vector of four words: a value in an asynchronous function's frame is aligned to 16 bytes at most.
    private var low: UInt128
    private var high: UInt128

    private init(low: UInt128, high: UInt128) { (self.low, self.high) = (low, high) }

    package init(_ numbers: some Sequence<Int>) {
        self = .none
        for number in numbers { self[number] = true }
    }

    package static func number(of token: Digest) -> Int { Int(token.high >> 56) }

    package subscript(number: Int) -> Bool {
        get { (number < 128 ? low : high) >> UInt128(number & 127) & 1 == 1 }
        set {
            let bit: UInt128 = 1 << UInt128(number & 127)
            let isLow = number < 128
            let word = newValue ? (isLow ? low : high) | bit : (isLow ? low : high) & ~bit
            if isLow { low = word } else { high = word }
        }
    }

    package func contains(_ token: Digest) -> Bool { self[Shards.number(of: token)] }

    package var isEmpty: Bool { self == .none }
    package var count: Int { low.nonzeroBitCount + high.nonzeroBitCount }
    package var numbers: [Int] { (0..<Shards.total).filter { self[$0] } }

    /// The lowest bit of the first byte is the first shard, as `get_bit` of the shared store counts them.
    package var bits: [UInt8] {
        (0..<32).map { UInt8(truncatingIfNeeded: ($0 < 16 ? low : high) >> UInt128(8 * ($0 & 15))) }
    }

    package func union(_ other: Shards) -> Shards { Shards(low: low | other.low, high: high | other.high) }
    package func intersection(_ other: Shards) -> Shards {
        Shards(low: low & other.low, high: high & other.high)
    }
    package func subtracting(_ other: Shards) -> Shards {
        Shards(low: low & ~other.low, high: high & ~other.high)
    }

    /// Returns how many shards a node may have where there are this many nodes.
    package static func most(nodes: Int) -> Int { (total + max(1, nodes) - 1) / max(1, nodes) }
}

/// A question of the pipeline to a store that it shares, with what the store has to know: see ``Outbox/divide(_:)``.
package struct ShareRequest: Equatable, Sendable {
    /// The shards that are about to be given up: nothing of them is claimed any more.
    package var leaving = Shards.none
    /// Notifications whose ends somebody here waits for, and another node may bring about.
    package var awaited: [Int64] = []
    /// The figures of this node, for the others to know.
    package var figures: NodeFigures

    package init(
        leaving: Shards = .none, awaited: [Int64] = [], figures: NodeFigures = NodeFigures()
    ) {
        self.leaving = leaving
        self.awaited = awaited
        self.figures = figures
    }
}

/// The division of a store, and what has changed for this node since the answer before.
package struct Share: Equatable, Sendable {
    package enum End: Equatable, Sendable {
        case ended(Ending)
        /// The gateway keeps the notification.
        case kept
        /// The notification is gone, and with it what is known of it.
        case forgotten
    }

    /// The shards of the devices whose notifications this node sends.
    package var owned = Shards.all
    /// The shards of ``owned`` that this node has got, and did not have or has lost meanwhile.
    package var gained = Shards.none
    /// Nodes that live, this one among them.
    package var nodes = 1
    /// The backlog that has come to this node: of shards that it has taken over, and of notifications that other nodes have
    /// stored for it.
    package var arrived: [LaneBacklog] = []
    /// The backlog of the shards that this node has given up.
    package var lost: [LaneBacklog] = []
    package var deadTokens: [Digest: DeadToken] = [:]
    /// Tokens that were dead, and were registered anew at other nodes.
    package var revived: Set<Digest> = []
    package var wishes: [DeviceWish] = []
    package var ends: [Int64: End] = [:]
    /// The highest number of what has arrived, or a higher one.
    package var lastSequence: Int64 = 0
    /// Whether there is more, to be asked for at once.
    package var hasMore = false
    /// All nodes of the store, now and then; `nil`: they are as they were.
    package var known: SharedNodes?
    package var takenOver: TakeOver?

    package init() {}

    /// Takes all that has gathered, as the answer to a look. It is kept nowhere else: an answer that can still fail loses it.
    package mutating func take(
        owned: Shards, nodes: Int, ends: [Int64: End], known: SharedNodes?
    ) -> Share {
        var answer = self
        self = Share()
        (answer.owned, answer.nodes, answer.ends, answer.known) = (owned, nodes, ends, known)
        return answer
    }
}

/// Shards that a node did not give up: it was killed, or stood still, or was cut off.
package struct TakeOver: Equatable, Sendable {
    package var shards: Int
    /// The number of notifications that the node may have begun to send: no more than these go out twice.
    package var mayRepeat: Int

    package init(shards: Int, mayRepeat: Int) {
        self.shards = shards
        self.mayRepeat = mayRepeat
    }
}

/// Which shards are this node's, and which it gives up.
///
/// Pure: a store that is shared says who has what (``Share``), and this decides who leaves what. A shard that is given up
/// first begins nothing more; when nothing of it is in memory or on its way, a commit sets it free.
struct Ownership: Equatable, Sendable {
    /// The state of another node's news that it has stored something for this one.
    private enum Arrivals {
        case none
        /// A node has told of something stored for this one since the last question was asked.
        case announced
        /// The present question was asked because a node had told of something, and no node has told of more since.
        case askedFor
    }

    private(set) var owned: Shards
    /// The shards of which nothing new is begun.
    private(set) var leaving = Shards.none
    /// The shards of ``leaving`` that a commit gives up, sooner or later.
    private(set) var given = Shards.none
    private(set) var nodes = 1
    /// Whether no other node has accepted anything since this node started: then its memory has all identities there are.
    private(set) var isWhole: Bool
    /// The shards of these in which others may have put something that this node has not seen. What comes in must not go
    /// out before it: nothing is accepted for them.
    private(set) var blind: Shards
    /// The shards that are in sight with the answer to the present question.
    private var inSight = Shards.none
    /// The nodes of the store; `nil`: this one is alone.
    private(set) var known: SharedNodes?
    /// The time since when some shards have been nobody's; `nil`: all are somebody's.
    private(set) var withoutOwnerSince: MonotonicTime?
    var elsewhere = Elsewhere()
    /// The take-overs since the start.
    var takeOvers = TakeOvers()
    /// The submission of all that waited when it was looked for.
    var oldestSubmittedAt: MonotonicTime?
    private var oldestSought = MonotonicTime.longAgo
    /// The time of the last answer.
    private var lookedAt = MonotonicTime.longAgo
    private var arrivals = Arrivals.none
    /// Sequence numbers that somebody waits for and that are not in memory: asked for in turns, some at a time.
    private var awaited: [Int64] = []
    private var asked: [Int64] = []
    private var reportedKept: Set<Int64> = []

    /// The interval at which the store is asked where nodes share it.
    static let interval: Duration = .milliseconds(200)
    /// The interval at which the store is asked where this node is alone.
    static let intervalAlone: Duration = .seconds(2)
    /// The interval while senders get `busy` for what is not in sight.
    static let intervalBlind: Duration = .milliseconds(20)
    /// The least interval while other nodes say that they have put something there: each answer costs a commit.
    static let intervalNotified: Duration = .milliseconds(50)
    private static let askedAtOnce = 500
    private static let oldestInterval: Duration = .seconds(1)

    init(owned: Shards) {
        self.owned = owned
        isWhole = owned == .all
        blind = isWhole ? .none : .all
    }

    func holds(_ token: Digest) -> Bool { owned.contains(token) && !leaving.contains(token) }

    /// Takes the store's answer.
    ///
    /// - Returns: The shards that are no longer this node's; it may have got some of them anew.
    mutating func take(_ share: Share, at time: MonotonicTime) -> Shards {
        note(share, at: time)
        let lost = owned.subtracting(share.owned).union(owned.intersection(share.gained))
        owned = share.owned
        leaving = leaving.subtracting(lost)
        given = given.subtracting(lost)
        nodes = share.nodes
        // Behind what it has seen there may be more.
        if !share.hasMore { blind = blind.subtracting(inSight) }
        if owned != .all { isWhole = false }
        return lost
    }

    private mutating func note(_ share: Share, at time: MonotonicTime) {
        guard share.nodes > 1 else {
            known = nil
            withoutOwnerSince = nil
            return
        }
        guard let latest = share.known else { return }
        known = latest
        elsewhere.take(latest)
        withoutOwnerSince = latest.withoutOwner > 0 ? withoutOwnerSince ?? time : nil
    }

    /// Gives up the shards beyond this node's part, first those that have nothing to do.
    mutating func leaveSurplus(busy: Shards) {
        let kept = owned.subtracting(leaving)
        let surplus = kept.count - Shards.most(nodes: nodes)
        guard surplus > 0 else { return }
        let idle = kept.subtracting(busy).numbers
        let chosen = (idle.reversed() + kept.intersection(busy).numbers.reversed()).prefix(surplus)
        leaving = leaving.union(Shards(chosen))
        isWhole = false
    }

    /// Returns the shards that can be given up now, each once.
    mutating func give(busy: Shards) -> Shards {
        let free = leaving.subtracting(given).subtracting(busy)
        given = given.union(free)
        return free
    }

    /// Takes the search for the oldest waiting notification, and notes its time.
    ///
    /// - Returns: Whether it is to be made now; false within a second after the one before, which changes nothing.
    mutating func takeOldestSearch(at time: MonotonicTime) -> Bool {
        guard time - oldestSought >= Ownership.oldestInterval else { return false }
        oldestSought = time
        return true
    }

    /// Notes that another node has put something there, and returns when the
    /// store is to be asked.
    mutating func noteNotice(at time: MonotonicTime) -> MonotonicTime {
        arrivals = .announced
        return max(time, lookedAt + Ownership.intervalNotified)
    }

    /// Notes an answer of the store. A node that has said that it put something there
    /// says so again only after a while, and may have put more there since: a question
    /// that was asked for that reason is asked once more.
    ///
    /// - Returns: The time at which the store is to be asked
    ///   again for what others have said; `nil`: it isn't.
    mutating func looked(at time: MonotonicTime) -> MonotonicTime? {
        lookedAt = time
        return arrivals == .none ? nil : time + Ownership.intervalNotified
    }

    mutating func await(_ sequence: Int64) { awaited.append(sequence) }

    mutating func loseSight(of shards: Shards) {
        blind = blind.union(shards)
        inSight = inSight.subtracting(shards)
    }

    /// Returns the next question.
    ///
    /// - Parameters:
    ///   - figures: What this node tells the others of itself.
    ///   - unseen: Shards with notifications on their way to the store, which the answer misses.
    mutating func ask(
        _ figures: NodeFigures, unseen: Shards = .none, where isAwaited: (Int64) -> Bool
    ) -> ShareRequest {
        elsewhere.ask()
        arrivals = arrivals == .announced ? .askedFor : .none
        inSight = Shards.all.subtracting(unseen)
        let turn = awaited.prefix(Ownership.askedAtOnce)
        asked = turn.filter(isAwaited)
        awaited.removeFirst(turn.count)
        return ShareRequest(leaving: leaving, awaited: asked, figures: figures)
    }

    /// Takes the answer to what was asked for: what has not ended is asked for again.
    mutating func answered(_ ends: [Int64: Share.End]) {
        awaited += asked.filter { ends[$0] == nil || ends[$0] == .kept }
        asked = []
        for (sequence, end) in ends where end != .kept { reportedKept.remove(sequence) }
    }

    /// Notes that the sender of a notification hears that a gateway keeps it; returns whether for the first time.
    mutating func takeKeptReport(_ sequence: Int64) -> Bool { reportedKept.insert(sequence).inserted }
}
