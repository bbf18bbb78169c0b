import Persistence
import PostgreSQL
import Relay

/// Identities in a database, to which other nodes add some at the same time: each commit asks once for all that it stores,
/// and gets new numbers by the way. If another node is faster all the same, the database refuses the commit, which is made
/// once more.
final class SharedIdentities {
    private let known: DatabaseStatement
    private let knownOne: Statement
    private let nextNumber: Statement
    private let estimate: Statement
    private let places: DatabaseStatement
    private let rows: SharedRows
    private let revive: Statement

    /// The numbers of what the running commit stores or looks up, by identity, as far as known; ``numbers``
    /// has new numbers in their order.
    private var sequences: [Digest: Int64?] = [:]
    private var numbers: ArraySlice<Int64> = []
    /// The number of rows that a device has in the backlog, and the highest rank of them.
    private var devices: [Digest: (count: Int, rank: Int64)] = [:]

    init(
        _ database: Database, _ connection: borrowing Connection, _ rows: SharedRows
    ) throws(StoreError) {
        self.rows = rows
        known = DatabaseStatement(
            """
            WITH known AS (SELECT digest, sequence FROM identity WHERE digest = ANY(CAST(?1 AS BYTEA[])))
            SELECT digest, sequence FROM known
            UNION ALL SELECT NULL, nextval('number') FROM generate_series(1, CAST(?3 AS BIGINT)
                - (SELECT count(*) FROM known WHERE digest = ANY(CAST(?2 AS BYTEA[]))))
            """, on: database)
        knownOne = try Statement("SELECT sequence FROM identity WHERE digest = ?", on: connection)
        nextNumber = try Statement("SELECT nextval('number')", on: connection)
        estimate = try Statement(
            "SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE oid = CAST('identity' AS regclass)",
            on: connection)
        places = DatabaseStatement(
            """
            SELECT token_digest, count(*), max(rank) FROM backlog WHERE token_digest = ANY(CAST(? AS BYTEA[]))
            GROUP BY token_digest
            """, on: database)
        // The node that has the shard holds it in memory, and hears of it.
        revive = try Statement(
            """
            WITH gone AS (DELETE FROM dead_token WHERE digest = ?1 AND since < ?2 RETURNING digest)
            INSERT INTO revived SELECT digest FROM gone ON CONFLICT DO NOTHING
            """, on: connection)
    }

    /// Asks once for all that a commit needs to know of what it stores.
    func prepare(_ changes: [OutboxChange]) throws(StoreError) {
        forget()
        rows.drop()
        numbers = []
        devices = [:]
        var stored: [Digest] = []
        var asked: [Digest] = []
        var tokens: [Digest] = []
        for change in changes {
            switch change {
            case .store(let request):
                stored.append(request.digests.identity)
                if case .elsewhere = request.destination { tokens.append(request.digests.token) }
            case .remember(let digests, _): stored.append(digests.identity)
            case .lookUp(let digests): asked.append(digests.identity)
            case .finish, .postpone, .shelve, .spare, .forgetWishes, .lane, .move, .retry, .buryToken,
                .reviveToken,
                .forget, .clock, .giveUp, .proof:
                break
            }
        }
        guard !stored.isEmpty || !asked.isEmpty else { return }
        for digest in stored + asked { sequences[digest] = .some(nil) }
        known.bind(1, SharedIdentities.array(stored + asked))
        known.bind(2, SharedIdentities.array(stored))
        known.bind(3, Int64(stored.count))
        defer { known.reset() }
        while try known.step() {
            if known.isNull(0) {
                numbers.append(known.integer(1))
            } else {
                sequences[Digest(known.pair(0))] = known.integer(1)
            }
        }
        guard !tokens.isEmpty else { return }
        places.bind(1, SharedIdentities.array(tokens))
        defer { places.reset() }
        while try places.step() {
            devices[Digest(places.pair(0))] = (Int(places.integer(1)), places.integer(2))
        }
    }

    private static func array(_ digests: [Digest]) -> PostgreSQLArray {
        var array = PostgreSQLArray(.bytes)
        for digest in digests { array.append(high: digest.high, low: digest.low) }
        return array
    }

    /// Takes one of the commit's numbers, or a new one if the commit has too few.
    func takeNumber() throws(StoreError) -> Int64 {
        if let number = numbers.popFirst() { return number }
        defer { nextNumber.reset() }
        guard try nextNumber.step() else { throw StoreError.noRow }
        return nextNumber.integer(0)
    }

    /// Gives a number back: it is for the next one of the commit.
    func giveBack(_ number: Int64) { numbers.insert(number, at: numbers.startIndex) }

    func sequence(of identity: Digest) throws(StoreError) -> Int64? {
        if let known = sequences[identity] { return known }
        try knownOne.bind(1, identity)
        defer { knownOne.reset() }
        return try knownOne.step() ? knownOne.integer(0) : nil
    }

    func enter(_ identity: Digest, at sequence: Int64) { sequences[identity] = sequence }

    /// Returns about how many identities there are.
    func remembered() throws(StoreError) -> Int {
        defer { estimate.reset() }
        return try estimate.step() ? max(0, Int(estimate.integer(0))) : 0
    }

    /// Puts a notification into the backlog for the node that has its shard.
    ///
    /// - Returns: `false`: there are as many of the device as may be.
    func add(_ request: StoreRequest, room: Int, at sequence: Int64) throws(StoreError) -> Bool {
        var device = devices[request.digests.token] ?? (0, 0)
        guard device.count < room else { return false }
        device = (device.count + 1, max(device.rank, request.notification.content.isUrgent ? 0 : 1))
        devices[request.digests.token] = device
        try rows.store(request, rank: device.rank, at: sequence)
        guard request.registeredAt > 0 else { return true }
        try revive.bind(1, request.digests.token)
        try revive.bind(2, time: request.registeredAt)
        try revive.run()
        return true
    }

    /// Forgets the commit's identities, at its end.
    func forget() { sequences = [:] }
}
