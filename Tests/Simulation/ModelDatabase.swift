import Vectors

@testable import Relay

/// A database that several nodes share, as `Persistence` uses it: leases by its own clock, fences, shards and who has them.
struct ModelDatabase {
    struct Lease {
        /// Which process of the node has it.
        var process: Int
        var fence: Int64
        /// Nanoseconds of the database's clock.
        var until: Int64
    }

    /// What its clock says, in nanoseconds; nobody else's clock counts.
    var time: Int64 = 0
    var outbox = ModelOutbox()
    /// By the number of the node.
    private(set) var leases: [Int: Lease] = [:]
    private(set) var owners = [Int?](repeating: nil, count: Shards.total)
    /// Processes whose lease was taken away while they had it, since this was emptied last.
    var ousted: [Int] = []
    private var epoch: Int64 = 0
    let canary: Canary?

    static let lease: Int64 = 8_000_000_000

    init(canary: Canary?) { self.canary = canary }

    func shards(of node: Int) -> Shards { Shards((0..<Shards.total).filter { owners[$0] == node }) }

    private func lives(_ node: Int) -> Bool { (leases[node]?.until ?? .min) > time }
    var living: Int { max(1, leases.keys.count(where: lives)) }
    var free: Int { owners.count { $0.map { !lives($0) } ?? true } }

    /// Whether a process may send what is in a shard.
    func entitles(_ process: Int, of node: Int, to shard: Int) -> Bool {
        owners[shard] == node && leases[node]?.process == process && lives(node)
    }

    // MARK: Leases

    /// - Parameter clock: What the node's own clock says, which only a canary believes.
    private func leaseEnd(_ clock: Int64) -> Int64 {
        (canary == .leasesByTheNodesClock ? clock : time) + ModelDatabase.lease
    }

    /// Lets go of nodes whose lease has ended.
    private mutating func nextEpoch(for node: Int) -> Int64 {
        epoch += 1
        for (other, lease) in leases.sorted(by: { $0.key < $1.key }) where other != node && lease.until < time
        {
            leases[other] = nil
            ousted.append(lease.process)
        }
        return epoch
    }

    /// A process begins. What the node had is its own again.
    ///
    /// - Returns: Its fence.
    mutating func enter(_ process: Int, of node: Int, clock: Int64) -> Int64 {
        let fence = nextEpoch(for: node)
        leases[node] = Lease(process: process, fence: fence, until: leaseEnd(clock))
        return fence
    }

    /// A new connection of a process: what an earlier one has on its way is void.
    ///
    /// - Returns: `nil`: another node has taken its lease away.
    mutating func reconnect(_ node: Int, clock: Int64) -> Int64? {
        guard leases[node] != nil else { return nil }
        epoch += 1
        let end = leaseEnd(clock)
        leases[node]?.fence = epoch
        leases[node]?.until = end
        return epoch
    }

    /// A commit writes that it is one.
    ///
    /// - Returns: Whether it may be made.
    mutating func prove(_ node: Int, fence: Int64, clock: Int64) -> Bool {
        guard leases[node]?.fence == fence else { return canary == .hasNoFences }
        let end = leaseEnd(clock)
        leases[node]?.until = end
        return true
    }

    /// A process ends as it should.
    mutating func leave(_ node: Int, fence: Int64) {
        if leases[node]?.fence == fence { leases[node] = nil }
    }

    // MARK: Shards

    /// - Returns: Whether it has any; `nil`: its lease is another's.
    mutating func takeFree(_ most: Int, for node: Int, fence: Int64, clock: Int64) -> Bool? {
        guard prove(node, fence: fence, clock: clock) else { return nil }
        _ = nextEpoch(for: node)
        var room = most - owners.count { $0 == node }
        for shard in owners.indices where room > 0 && owners[shard].map({ leases[$0] == nil }) ?? true {
            owners[shard] = node
            room -= 1
        }
        return owners.contains(node)
    }

    /// - Returns: Those that were the node's.
    mutating func free(_ shards: Shards, of node: Int) -> Shards {
        let free = shards.intersection(self.shards(of: node))
        for shard in free.numbers { owners[shard] = nil }
        return free
    }
}

/// A commit from when the database has given it its numbers.
final class ModelCommit {
    let node: Int
    let process: Int
    let fence: Int64
    let changes: [OutboxChange]
    let numbers: [Int64]
    /// What nobody had stored when it began.
    let unknown: Set<Digest>
    /// `nil`: the database has not made it.
    var results: [StoreResult]?
    /// What it has stored for its own node.
    var stored: [Int64] = []
    var given: (shards: Shards, backlog: [LaneBacklog])?
    /// Another node has stored the same meanwhile: it is to be made once more.
    var hasCollided = false
    /// It can't be made any more: another node has the lease.
    var isVoid = false
    /// It never came to the database.
    var isDropped = false
    /// The world has looked at it.
    var isBooked = false
    /// Nanoseconds of the database's clock at which it is made.
    var dueAt: Int64

    init(
        _ changes: [OutboxChange], of session: ModelSession, in outbox: inout ModelOutbox, dueAt: Int64
    ) {
        self.changes = changes
        (node, process, fence) = (session.node, session.process, session.fence)
        self.dueAt = dueAt
        unknown = Set(changes.compactMap(\.storedIdentity)).subtracting(outbox.identities.keys)
        numbers = outbox.reserve(for: changes)
    }
}
