import Clocks
import Persistence
import Reactor
import Relay

/// The owners of what lies in a shared store, as one look finds them.
struct Standing {
    /// Nodes whose lease has not ended, this one among them.
    var nodes: Int
    /// The number of shards that no node has, or one whose lease seems to have ended.
    var free: Int
    /// The shards of this node.
    var mine: Shards
    /// Whether others have put something into this node's shards that it has not seen.
    var hasLate: Bool
    /// Whether a lease lies further ahead than it lasts.
    var hasFarLease: Bool
    /// Whether a lease that seems to have ended has ended.
    var mayTake: Bool
}

/// The question who has what.
final class StandingLook {
    private let look: Statement
    private let owner: [UInt8]
    private var patience: TakeOverPatience
    /// The number up to which polls for the rows of other nodes skip all.
    var pollFloor = PollFloor()

    init(_ database: Database, _ connection: borrowing Connection) throws(StoreError) {
        owner = database.place.owner
        patience = TakeOverPatience(lease: .seconds(database.place.lease))
        look = try Statement(
            """
            SELECT (SELECT count(*) FROM node WHERE until > clock_timestamp()),
                (SELECT count(*) FROM shard WHERE NOT EXISTS (SELECT 1 FROM node
                    WHERE node.owner = shard.owner AND until > clock_timestamp())),
                (SELECT string_agg(CAST(number AS TEXT), ',') FROM shard WHERE owner = ?1),
                (SELECT min(sequence) FROM backlog WHERE late AND sequence > ?3 AND \(PostgreSQLDialect.isOf(2))),
                (SELECT last_value FROM number),
                (SELECT count(*) FROM node WHERE until > \(database.leaseEnd)), \(DatabaseSchema.clock)
            """, on: connection)
    }

    /// Takes a look.
    ///
    /// - Parameter held: The shards of which something may be claimed.
    func take(_ held: Shards) throws(StoreError) -> Standing {
        let asked = EventLoop.now
        try look.bind(1, bytes: owner)
        try look.bind(2, bytes: held.bits)
        try look.bind(3, pollFloor.begin(at: asked))
        defer { look.reset() }
        guard try look.step() else { throw StoreError.noRow }
        let mine = Shards(listed: look.isNull(2) ? "" : look.text(2))
        pollFloor.end(lowestFound: look.isNull(3) ? nil : look.integer(3), highestGiven: look.integer(4))
        let seen = TakeOverPatience.Look(
            storeTime: look.time(6), askedAt: asked, answeredAt: EventLoop.now)
        return Standing(
            nodes: max(1, Int(look.integer(0))), free: Int(look.integer(1)), mine: mine,
            hasLate: !look.isNull(3), hasFarLease: look.integer(5) > 0, mayTake: patience.note(seen))
    }
}
