import Relay

/// Identities in a database, to which other nodes add some at the same time: each commit asks once for all that it stores,
/// and gets new numbers by the way. If another node is faster all the same, the database refuses the commit, which is made
/// once more.
final class SharedIdentities {
    private let known: Statement
    private let knownOne: Statement
    private let nextNumber: Statement
    private let estimate: Statement
    private let places: Statement
    private let insert: Statement
    private let revive: Statement

    /// What is known of those that the running commit stores, by identity, and new numbers in their order.
    private var sequences: [Digest: Int64?] = [:]
    private var numbers: ArraySlice<Int64> = []
    /// How many a device has in the backlog, and the highest rank of them.
    private var devices: [Digest: (count: Int, rank: Int64)] = [:]

    init(_ connection: borrowing Connection) throws(SQLiteError) {
        known = try Statement(
            """
            WITH known AS (SELECT digest, sequence FROM identity WHERE digest = ANY(CAST(?1 AS BYTEA[])))
            SELECT digest, sequence FROM known
            UNION ALL SELECT NULL, nextval('number') FROM generate_series(1, CAST(?3 AS BIGINT)
                - (SELECT count(*) FROM known WHERE digest = ANY(CAST(?2 AS BYTEA[]))))
            """, on: connection)
        knownOne = try Statement("SELECT sequence FROM identity WHERE digest = ?", on: connection)
        nextNumber = try Statement("SELECT nextval('number')", on: connection)
        estimate = try Statement(
            "SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE oid = CAST('identity' AS regclass)",
            on: connection)
        places = try Statement(
            """
            SELECT token_digest, count(*), max(rank) FROM backlog WHERE token_digest = ANY(CAST(? AS BYTEA[]))
            GROUP BY token_digest
            """, on: connection)
        insert = try Statement(
            """
            INSERT INTO backlog (sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at,
                host, collapse_id, android, rank, late)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, true)
            """, on: connection)
        // Whoever has the shard holds it in memory, and is told.
        revive = try Statement(
            """
            WITH gone AS (DELETE FROM dead_token WHERE digest = ?1 AND since < ?2 RETURNING digest)
            INSERT INTO revived SELECT digest FROM gone ON CONFLICT DO NOTHING
            """, on: connection)
    }

    /// Asks once for all that a commit needs to know of what it stores.
    func prepare(_ changes: [OutboxChange]) throws(SQLiteError) {
        forget()
        numbers = []
        devices = [:]
        var stored: [Digest] = []
        var asked: [Digest] = []
        var tokens: [Digest] = []
        for change in changes {
            switch change {
            case .store(let request):
                stored.append(request.digests.identity)
                if case .elsewhere = request.place { tokens.append(request.digests.token) }
            case .remember(let digests, _): stored.append(digests.identity)
            case .lookUp(let digests): asked.append(digests.identity)
            default: break
            }
        }
        guard !stored.isEmpty || !asked.isEmpty else { return }
        for digest in stored + asked { sequences[digest] = .some(nil) }
        try known.bind(1, SharedIdentities.array(stored + asked))
        try known.bind(2, SharedIdentities.array(stored))
        try known.bind(3, Int64(stored.count))
        defer { known.reset() }
        while try known.step() {
            if known.isNull(0) {
                numbers.append(known.integer(1))
            } else {
                sequences[Digest(known.pair(0))] = known.integer(1)
            }
        }
        guard !tokens.isEmpty else { return }
        try places.bind(1, SharedIdentities.array(tokens))
        defer { places.reset() }
        while try places.step() {
            devices[Digest(places.pair(0))] = (Int(places.integer(1)), places.integer(2))
        }
    }

    /// As PostgreSQL writes an array of bytes.
    private static func array(_ digests: [Digest]) -> String {
        var text: [UInt8] = [UInt8(ascii: "{")]
        text.reserveCapacity(digests.count * 38 + 2)
        let digits = Array("0123456789abcdef".utf8)
        for digest in digests {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text += "\"\\\\x".utf8
            for word in [digest.high, digest.low] {
                for shift in stride(from: UInt64(60), through: 0, by: -4) {
                    text.append(digits[Int(word >> shift & 15)])
                }
            }
            text.append(UInt8(ascii: "\""))
        }
        return String(decoding: text + "}".utf8, as: UTF8.self)
    }

    /// One of those that the commit has got, or a new one: it may have forgotten what it knew at its beginning.
    func takeNumber() throws(SQLiteError) -> Int64 {
        if let number = numbers.popFirst() { return number }
        defer { nextNumber.reset() }
        guard try nextNumber.step() else { throw SQLiteError.noRow }
        return nextNumber.integer(0)
    }

    /// It is for the next one of the commit.
    func giveBack(_ number: Int64) { numbers.insert(number, at: numbers.startIndex) }

    func sequence(of identity: Digest) throws(SQLiteError) -> Int64? {
        if let known = sequences[identity] { return known }
        try knownOne.bind(1, identity)
        defer { knownOne.reset() }
        return try knownOne.step() ? knownOne.integer(0) : nil
    }

    func enter(_ identity: Digest, at sequence: Int64) { sequences[identity] = sequence }

    /// About how many identities there are.
    func remembered() throws(SQLiteError) -> Int {
        defer { estimate.reset() }
        return try estimate.step() ? max(0, Int(estimate.integer(0))) : 0
    }

    /// Puts one there for the node that has its shard.
    ///
    /// - Returns: `false`: there are as many of the device as may be.
    func add(_ request: StoreRequest, room: Int, at sequence: Int64) throws(SQLiteError) -> Bool {
        var device = devices[request.digests.token] ?? (0, 0)
        guard device.count < room else { return false }
        device = (device.count + 1, max(device.rank, request.notification.content.isUrgent ? 0 : 1))
        devices[request.digests.token] = device
        try insert.bind(11, nil)
        try insert.bind(12, nil)
        try insert.bind(request, at: sequence)
        try insert.bind(13, device.rank)
        try insert.run()
        guard request.registeredAt > 0 else { return true }
        try revive.bind(1, request.digests.token)
        try revive.bind(2, request.registeredAt)
        try revive.run()
        return true
    }

    /// The commit has come to its end.
    func forget() { sequences = [:] }
}
