import Clocks
import Encodings
import Persistence
import PostgreSQL
import Reactor
import Relay

/// The shards that are this node's.
extension Database {
    /// Returns the number of nodes whose lease has not ended.
    func living() throws(StoreError) -> Int {
        Int(try firstInteger("SELECT count(*) FROM node WHERE until > clock_timestamp()") ?? 1)
    }

    /// Cuts leases that lie further ahead than a lease lasts: the database's clock has gone back since they were renewed. A
    /// node that lives renews its own long before the end. What it said of its own clock is put as that is to the database's
    /// now.
    func shortenLeases() throws(StoreError) {
        try execute(
            """
            UPDATE node SET until = \(leaseEnd),
                clock_ahead = clock_ahead + CAST(extract(epoch FROM until - \(leaseEnd)) * 1000 AS BIGINT)
            WHERE until > \(leaseEnd)
            """)
    }

    /// Shortens leases that end too far ahead, and doubts the clock if leases of nodes that knew another time of the database
    /// have ended. The database's clock may have gone ahead then, and living nodes have not renewed their leases yet. A
    /// running node sees the jump by itself (``TakeOverPatience``).
    func judgeLeases() throws(StoreError) {
        try shortenLeases()
        let ahead = "\(EventLoop.machineMilliseconds) - \(DatabaseSchema.clock)"
        let doubtful = try firstInteger(
            """
            SELECT count(*) FROM node WHERE owner <> '\\x\(Hex.encode(place.owner))' AND until < clock_timestamp()
                AND abs(clock_ahead - (\(ahead))) > \(Database.clockStep)
            """)
        if let doubtful, doubtful > 0 { doubt = LeaseDoubt(for: .seconds(place.lease)) }
    }

    /// Milliseconds by which a node's word about the database's clock may differ from what is so.
    private static let clockStep = 5000

    /// Takes shards that nobody has, until this node has `most`.
    ///
    /// - Parameter burying: Whether those of nodes whose lease has ended are among them.
    /// - Returns: Whether it has any.
    @discardableResult
    func takeFree(_ most: Int, burying: Bool = true) throws(StoreError) -> Bool {
        try begin()
        do throws(StoreError) {
            var given = Shards.none
            let count = try translated { () throws(PostgreSQLError) in
                _ = try nextEpoch(burying: burying)
                let take = PostgreSQLStatement(
                    """
                    WITH free AS (SELECT number, owner IS NULL AS is_given FROM shard
                        WHERE NOT EXISTS (SELECT 1 FROM node WHERE node.owner = shard.owner) ORDER BY number
                        LIMIT greatest(0, ?2 - (SELECT count(*) FROM shard WHERE owner = ?1)))
                    UPDATE shard SET owner = ?1 FROM free WHERE shard.number = free.number
                    RETURNING shard.number, is_given
                    """, on: connection)
                bindOwner(1, to: take)
                take.bind(2, Int64(most))
                while try take.step() {
                    if take.integer(1) != 0 { given[Int(take.integer(0))] = true }
                }
                let mine = PostgreSQLStatement("SELECT count(*) FROM shard WHERE owner = ?", on: connection)
                bindOwner(1, to: mine)
                return try mine.step() ? mine.integer(0) : 0
            }
            try commit()
            givenUp = givenUp.union(given)
            return count > 0
        } catch {
            rollback()
            throw error
        }
    }

    // MARK: Messages to other nodes

    private static let channel = "onionbell_"

    var listening: String {
        "LISTEN \(Database.channel)\(Hex.encode(place.owner))"
    }

    /// Wakes the nodes that have these shards: something was put there for them. The word may get lost; they
    /// look anyway, now and then.
    ///
    /// After the commit, in a transaction of its own: PostgreSQL lets those that notify commit one after the other, and this
    /// one waits for no disk.
    func tellOwners(of shards: Shards) {
        guard !shards.isEmpty, notified.takeTurn(at: EventLoop.now) else { return }
        let telling =
            self.telling
            ?? PostgreSQLStatement(
                """
                SELECT pg_notify('\(Database.channel)' || encode(owner, 'hex'), '') FROM (SELECT DISTINCT owner FROM shard
                    WHERE owner <> ?1 AND get_bit(CAST(?2 AS BYTEA), number) = 1) AS target
                """, on: connection)
        self.telling = telling
        bindOwner(1, to: telling)
        shards.bits.withUnsafeBytes { telling.bind(2, bytes: $0) }
        connection.post(telling)
    }

    /// Forgets that these shards were given up: what new shards need was done for them.
    func settled(_ shards: Shards) { givenUp = givenUp.subtracting(shards) }
}

/// The time after a start in which a lease that seems to have ended may be that of a node that lives.
struct LeaseDoubt {
    private var endsAt = MonotonicTime.longAgo

    init() {}
    init(for time: Duration) { endsAt = EventLoop.now + time }

    var isOver: Bool { EventLoop.now >= endsAt }
}
