import Crypto
import Encodings
import Persistence
import Relay

/// The statements of ``StoredStatusIMRegistrations``.
final class StatusIMTables: DoorTables {
    static let name = "status"
    static let format = PerDialect<Int64>(file: 2, database: 1)
    private typealias Column = StoreTable.Column
    static let tables = [
        StoreTable(
            "status_registration",
            [
                Column("number", .number, .numbered(.highest)), Column("installation", .bytes, .unique),
                Column("owner", .bytes), Column("version"), Column("changed_at"),
                Column("registration", .sealedBytes(Sealed.registration), .optional),
                Column("used_at", .number, .initially(0)),
            ],
            indices: [
                "status_owner": "(owner)",
                "status_age": PerDialect(
                    file: "(registration IS NOT NULL, used_at > 0, max(used_at, changed_at))",
                    database: "((registration IS NOT NULL), (used_at > 0), greatest(used_at, changed_at))"),
            ]),
        StoreTable(
            "status_message",
            [
                Column("number", .number, .numbered(.highest)), Column("digest", .bytes, .unique),
                Column("handled_at"), Column("results", .bytes),
            ]),
        StoreTable(
            "status_total", [Column("installations"), Column("bytes")],
            rest: PerDialect(
                file: """
                    INSERT INTO status_total VALUES (0, 0);
                    CREATE TRIGGER status_added AFTER INSERT ON status_registration BEGIN
                        UPDATE status_total SET installations = installations + 1,
                            bytes = bytes + coalesce(length(new.registration), 0);
                    END;
                    CREATE TRIGGER status_changed AFTER UPDATE OF registration ON status_registration BEGIN
                        UPDATE status_total SET
                            bytes = bytes + coalesce(length(new.registration), 0) - coalesce(length(old.registration), 0);
                    END;
                    CREATE TRIGGER status_removed AFTER DELETE ON status_registration BEGIN
                        UPDATE status_total SET installations = installations - 1,
                            bytes = bytes - coalesce(length(old.registration), 0);
                    END
                    """,
                database: """
                    INSERT INTO status_total VALUES (0, 0);
                    CREATE FUNCTION status_counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                        UPDATE status_total SET
                            installations = installations
                                + CASE TG_OP WHEN 'INSERT' THEN 1 WHEN 'DELETE' THEN -1 ELSE 0 END,
                            bytes = bytes
                                + CASE WHEN TG_OP = 'DELETE' THEN 0
                                    ELSE coalesce(length(new.registration) - \(AES256SIV.overhead), 0) END
                                - CASE WHEN TG_OP = 'INSERT' THEN 0
                                    ELSE coalesce(length(old.registration) - \(AES256SIV.overhead), 0) END;
                        RETURN NULL;
                    END $$;
                    CREATE TRIGGER status_counted AFTER INSERT OR DELETE OR UPDATE OF registration
                        ON status_registration FOR EACH ROW EXECUTE FUNCTION status_counted()
                    """),
            isCopied: false),
    ]
    static let views = [
        RegistrationView(
            kind: "status",
            query: """
                SELECT lower(hex(installation)) AS id, lower(hex(substr(owner, 1, 4))) AS client,
                    iif(registration IS NULL, 'no', 'yes') AS registered,
                    datetime(changed_at / 1000, 'unixepoch') AS changed
                FROM status_registration ORDER BY number
                """,
            removal: ["DELETE FROM status_registration WHERE lower(hex(installation)) = ?1"])
    ]

    private let select: Statement
    private let selectOwned: Statement
    private let countOwned: Statement
    private let selectTotal: Statement
    private let insert: Statement
    private let update: Statement
    private let clear: Statement
    private let use: Statement
    private let selectOldest: Statement
    private let remove: Statement
    private let selectUnused: Statement
    private let selectMessage: Statement
    private let insertMessage: Statement
    private let page: Statement
    private let forgetMessages: Statement
    private let forgetOldest: Statement
    /// The number up to which the round through the messages has come. Each that is remembered brings it on by a page.
    private var lookedUpTo: Int64 = 0
    private static let pageOfMessages: Int64 = 100

    init(_ connection: borrowing Connection) throws(StoreError) {
        select = try Statement(
            "SELECT version, registration, changed_at, used_at FROM status_registration WHERE installation = ?",
            on: connection)
        selectOwned = try Statement(
            """
            SELECT registration, installation FROM status_registration WHERE owner = ? AND registration IS NOT NULL
            ORDER BY number
            """, on: connection)
        countOwned = try Statement(
            "SELECT count(*) FROM status_registration WHERE owner = ? AND registration IS NOT NULL",
            on: connection)
        selectTotal = try Statement("SELECT installations, bytes FROM status_total", on: connection)
        insert = try Statement(
            """
            INSERT INTO status_registration (installation, owner, version, changed_at, registration)
            VALUES (?, ?, ?, ?, ?)
            """, on: connection)
        update = try Statement(
            """
            UPDATE status_registration SET version = ?, changed_at = ?, registration = ? WHERE installation = ?
            """, on: connection)
        clear = try Statement(
            "UPDATE status_registration SET registration = NULL WHERE installation = ? AND version = ?",
            on: connection)
        use = try Statement(
            "UPDATE status_registration SET used_at = ? WHERE installation = ?", on: connection)
        // Who unregistered, who was never pushed to, who was: each kind in the order of its age.
        let age = connection.dialect.larger("used_at", "changed_at")
        let columns =
            "number, owner, registration IS NOT NULL, coalesce(\(connection.dialect.size(of: "registration")), 0)"
        selectOldest = try Statement(
            """
            SELECT \(columns) FROM status_registration
            WHERE (registration IS NOT NULL) = ?1 AND (used_at > 0) = ?2 AND \(age) <= ?3
            ORDER BY \(age) LIMIT ?4
            """, on: connection)
        remove = try Statement("DELETE FROM status_registration WHERE number = ?", on: connection)
        selectUnused = try Statement(
            "SELECT \(columns) FROM status_registration WHERE installation = ? AND used_at = 0",
            on: connection)
        selectMessage = try Statement("SELECT results FROM status_message WHERE digest = ?", on: connection)
        insertMessage = try Statement(
            """
            INSERT INTO status_message (digest, handled_at, results) VALUES (?, ?, ?) ON CONFLICT DO NOTHING
            """, on: connection)
        page = try Statement(
            """
            SELECT max(number), count(*)
            FROM (SELECT number FROM status_message WHERE number > ? ORDER BY number LIMIT ?) AS page
            """, on: connection)
        // Row by row: clocks are set, so that numbers and times may rise apart.
        forgetMessages = try Statement(
            "DELETE FROM status_message WHERE number > ? AND number <= ? AND handled_at < ?", on: connection)
        forgetOldest = try Statement(
            "DELETE FROM status_message WHERE number <= (SELECT max(number) FROM status_message) - ?",
            on: connection)
    }

    func version(of key: StatusIMRegistration.Key) throws(StoreError) -> UInt64? {
        try select.bind(1, key.installation)
        defer { select.reset() }
        return try select.step() ? UInt64(bitPattern: select.integer(0)) : nil
    }

    func phone(of key: StatusIMRegistration.Key) throws(StoreError) -> StatusIMRegistration.Phone? {
        try select.bind(1, key.installation)
        defer { select.reset() }
        guard try select.step(), !select.isNull(1) else { return nil }
        return StatusIMRegistration.Phone(
            registration: try select.sealedBytes(1, as: Sealed.registration, of: key.row),
            registeredAt: select.time(2),
            usedAt: select.time(3))
    }

    /// Puts a registration in its place: see ``StoredStatusIMRegistrations``.
    func put(
        _ registration: [UInt8]?, of key: StatusIMRegistration.Key, version: UInt64, at now: Int64,
        insteadOf others: [StatusIMRegistration.Key], _ limits: StatusIMRegistration.Limits
    ) throws(StoreError) -> (
        result: StatusIMRegistration.PutResult, left: [StatusIMRegistration.Key]
    ) {
        let known = try self.version(of: key)
        if let known, known >= version { return (.stale, others) }
        guard known != nil || registration != nil else { return (.stored, others) }
        var left: [StatusIMRegistration.Key] = []
        if let registration {
            let old = try phone(of: key)?.registration
            var room = StatusIMRoom(try total(), limits)
            room.installations += known == nil ? 1 : 0
            room.bytes += registration.count - (old?.count ?? 0)
            for one in try leastUsed(room.excess, at: now, limits) { room.give(one) }
            for other in others {
                guard !room.suffices, other != key else {
                    left.append(other)
                    continue
                }
                if let one = try unused(other) { room.give(one, as: other) }
            }
            guard room.suffices else { return (.full, room.given + left) }
            if old == nil {
                let gone = room.leaving.values.count { $0.isRegistered && $0.owner == key.owner }
                guard try count(of: key.owner) - gone < limits.perOwner else {
                    return (.ownerFull, room.given + left)
                }
            }
            // Nobody goes for one that is refused.
            for number in room.leaving.keys {
                try remove.bind(1, number)
                try remove.run()
            }
        }
        if known == nil {
            try insert.bind(1, key.installation)
            try insert.bind(2, key.owner)
            try insert.bind(3, Int64(bitPattern: version))
            try insert.bind(4, now)
            try insert.bind(5, sealed: registration, as: Sealed.registration, of: key.row)
            try insert.run()
        } else {
            try update.bind(1, Int64(bitPattern: version))
            try update.bind(2, now)
            try update.bind(3, sealed: registration, as: Sealed.registration, of: key.row)
            try update.bind(4, key.installation)
            try update.run()
        }
        return (.stored, left)
    }

    /// Returns the registrations of the least use.
    private func leastUsed(
        _ count: Int, at now: Int64, _ limits: StatusIMRegistration.Limits
    ) throws(StoreError) -> [StatusIMRoom.Leaving] {
        var found: [StatusIMRoom.Leaving] = []
        let kinds: [(isRegistered: Int64, isUsed: Int64, latest: Int64)] = [
            (0, 0, now), (0, 1, now), (1, 0, now - limits.unused.milliseconds),
            (1, 1, now - limits.idle.milliseconds),
        ]
        for kind in kinds where found.count < count {
            try selectOldest.bind(1, kind.isRegistered)
            try selectOldest.bind(2, kind.isUsed)
            try selectOldest.bind(3, kind.latest)
            try selectOldest.bind(4, Int64(count - found.count))
            defer { selectOldest.reset() }
            while try selectOldest.step() { found.append(StatusIMRoom.Leaving(selectOldest)) }
        }
        return found
    }

    private func unused(_ key: StatusIMRegistration.Key) throws(StoreError) -> StatusIMRoom.Leaving? {
        try selectUnused.bind(1, key.installation)
        defer { selectUnused.reset() }
        return try selectUnused.step() ? StatusIMRoom.Leaving(selectUnused) : nil
    }

    func noteUse(of key: StatusIMRegistration.Key, at now: Int64) throws(StoreError) {
        try use.bind(1, now)
        try use.bind(2, key.installation)
        try use.run()
    }

    func forget(_ key: StatusIMRegistration.Key, version: UInt64) throws(StoreError) {
        try clear.bind(1, key.installation)
        try clear.bind(2, Int64(bitPattern: version))
        try clear.run()
    }

    /// Calls `body` with the registrations of an owner, while it wants more; returns whether it still does.
    func forEach(of owner: Digest, _ body: ([UInt8]) -> Bool) throws(StoreError) -> Bool {
        try selectOwned.bind(1, owner)
        defer { selectOwned.reset() }
        while try selectOwned.step() {
            let row = Sealed.Owner.status(installation: Digest(selectOwned.pair(1)), owner: owner)
            guard body(try selectOwned.sealedBytes(0, as: Sealed.registration, of: row)) else { return false }
        }
        return true
    }

    private func count(of owner: Digest) throws(StoreError) -> Int {
        try countOwned.bind(1, owner)
        defer { countOwned.reset() }
        return try countOwned.step() ? Int(countOwned.integer(0)) : 0
    }

    private func total() throws(StoreError) -> (installations: Int, bytes: Int) {
        defer { selectTotal.reset() }
        return try selectTotal.step() ? (Int(selectTotal.integer(0)), Int(selectTotal.integer(1))) : (0, 0)
    }

    // MARK: Messages

    func results(of message: Digest) throws(StoreError) -> [UInt8]? {
        try selectMessage.bind(1, message)
        defer { selectMessage.reset() }
        return try selectMessage.step() ? selectMessage.bytes(0) : nil
    }

    func remember(
        _ message: Digest, _ results: [UInt8], at now: Int64, forgettingBefore forgotten: Int64, most: Int
    ) throws(StoreError) {
        try insertMessage.bind(1, message)
        try insertMessage.bind(2, now)
        try insertMessage.bind(3, bytes: results)
        try insertMessage.run()
        try forgetOldest.bind(1, Int64(most))
        try forgetOldest.run()
        try forgetMessages(handledBefore: forgotten)
    }

    private func forgetMessages(handledBefore forgotten: Int64) throws(StoreError) {
        let first = lookedUpTo
        let (last, count) = try nextPage(after: first)
        lookedUpTo = count < StatusIMTables.pageOfMessages ? 0 : last
        try forgetMessages.bind(1, first)
        try forgetMessages.bind(2, last)
        try forgetMessages.bind(3, forgotten)
        try forgetMessages.run()
    }

    /// Returns the highest number of the next messages, and how many they are.
    private func nextPage(after first: Int64) throws(StoreError) -> (last: Int64, count: Int64) {
        try page.bind(1, first)
        try page.bind(2, StatusIMTables.pageOfMessages)
        defer { page.reset() }
        return try page.step() && !page.isNull(0) ? (page.integer(0), page.integer(1)) : (first, 0)
    }
}

extension StatusIMRegistration.Key {
    fileprivate var row: Sealed.Owner { .status(installation: installation, owner: owner) }
}
