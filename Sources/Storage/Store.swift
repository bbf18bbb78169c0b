import CSQLite
import Relay

/// The statements of the outbox over one connection. SQLite closes it when the last statement is finalized, so the
/// order in which they are let go doesn't matter.
final class Store {
    private let begin: Statement
    private let end: Statement
    private let savepoint: Statement
    private let release: Statement
    private let undo: Statement
    private let insertIdentity: Statement
    private let findIdentity: Statement
    private let endIdentity: Statement
    private let oldestIdentities: Statement
    private let deleteIdentities: Statement
    private let insertNotification: Statement
    private let insertPrepared: Statement
    private let deleteNotifications: Statement
    private let postpone: Statement
    private let selectNotification: Statement
    private let bury: Statement
    private let revive: Statement
    private let forgetTokens: Statement
    private let prove: Statement
    private let connection: Connection

    private var known = KnownIdentities()
    /// Whose rows the running commit takes away: together, since most follow one another.
    private var delivered: [Int64] = []
    /// Of all identities up to here only those of waiting notifications are left.
    private var forgottenUpTo: Int64 = 0
    private var storedSinceForgetting = 0
    /// Higher than that of every row and identity still there.
    private var nextSequence: Int64 = 1
    private var doors: [ObjectIdentifier: any DoorTables] = [:]

    /// How many identities one commit forgets, so that no commit is held up for long; or twice as many as came since.
    private static let forgottenAtOnce = 5000
    /// Beyond that many the oldest are forgotten before their time: 86 MB of memory at most.
    private static let mostIdentities = 2_000_000

    init(path: String) throws(SQLiteError) {
        let connection = try Connection(path: path)
        try Schema.prepare(connection)
        begin = try Statement("BEGIN IMMEDIATE", on: connection)
        end = try Statement("COMMIT", on: connection)
        savepoint = try Statement("SAVEPOINT door", on: connection)
        release = try Statement("RELEASE door", on: connection)
        undo = try Statement("ROLLBACK TO door", on: connection)
        insertIdentity = try Statement(
            "INSERT INTO identity (sequence, digest, content, accepted_at) VALUES (?, ?, ?, ?)",
            on: connection, room: 64)
        findIdentity = try Statement(
            """
            SELECT digest, content, ending, reason, detail,
                EXISTS (SELECT 1 FROM notification WHERE notification.sequence = identity.sequence)
            FROM identity WHERE sequence = ?
            """, on: connection)
        endIdentity = try Statement(
            "UPDATE identity SET ending = ?, reason = ?, detail = ? WHERE sequence = ?", on: connection)
        oldestIdentities = try Statement(
            """
            SELECT sequence, digest, accepted_at,
                EXISTS (SELECT 1 FROM notification WHERE notification.sequence = identity.sequence)
            FROM identity WHERE sequence > ? ORDER BY sequence LIMIT ?
            """, on: connection)
        deleteIdentities = try Statement(
            """
            DELETE FROM identity WHERE sequence > ? AND sequence <= ?
                AND NOT EXISTS (SELECT 1 FROM notification WHERE notification.sequence = identity.sequence)
            """, on: connection)
        insertNotification = try Statement(
            """
            INSERT INTO notification (sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at,
                host)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: connection, room: 16_384)
        insertPrepared = try Statement(
            """
            INSERT INTO notification (sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at,
                host, collapse_id, android)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: connection, room: 16_384)
        deleteNotifications = try Statement(
            "DELETE FROM notification WHERE sequence BETWEEN ? AND ?", on: connection)
        postpone = try Statement(
            "UPDATE notification SET attempts = ?, not_before = ? WHERE sequence = ?", on: connection)
        selectNotification = try Statement(
            """
            SELECT id, app, flags, token, message, accepted_at, expires_at, collapse_id, android, host
            FROM notification WHERE sequence = ?
            """, on: connection)
        bury = try Statement(
            "INSERT OR REPLACE INTO dead_token (digest, since, buried_at) VALUES (?, ?, ?)", on: connection)
        revive = try Statement("DELETE FROM dead_token WHERE digest = ?", on: connection)
        forgetTokens = try Statement("DELETE FROM dead_token WHERE buried_at < ?", on: connection)
        // It is that already, and the page that it stands on is written anew.
        prove = try Statement("PRAGMA user_version = \(Schema.version)", on: connection)
        self.connection = connection
        try recall()
    }

    /// Reads the identities of the last process.
    private func recall() throws(SQLiteError) {
        known.reserveCapacity(Int(try connection.firstInteger("SELECT count(*) FROM identity") ?? 0))
        let identities = try Statement(
            "SELECT sequence, digest FROM identity ORDER BY sequence", on: connection)
        while try identities.step() {
            known.enter(Digest(identities.pair(1)), at: identities.integer(0))
        }
        known.committed()
        let last = try connection.firstInteger(
            """
            SELECT max(coalesce((SELECT max(sequence) FROM notification), 0),
                coalesce((SELECT max(sequence) FROM identity), 0))
            """)
        nextSequence = (last ?? 0) + 1
    }

    /// Makes the changes of the outbox and those of doors that wait with them, in one transaction.
    ///
    /// - Returns: A result for each `store`, and for each of `writes` why nothing of it was done, or `nil`.
    func commit(
        _ changes: [OutboxChange], _ writes: [DoorWrite] = []
    ) throws(SQLiteError) -> (results: [StoreResult], failures: [SQLiteError?]) {
        var results: [StoreResult] = []
        var failures: [SQLiteError?] = []
        var hasForgotten = false
        let forgottenBefore = forgottenUpTo
        let firstSequence = nextSequence
        try begin.run()
        do throws(SQLiteError) {
            for change in changes {
                switch change {
                case .store(let request): results.append(try add(request))
                case .finish(let sequence, let ending): try finish(sequence, ending)
                case .postpone(let sequence, let attempts, let notBefore):
                    try postpone.bind(1, Int64(attempts))
                    try postpone.bind(2, notBefore)
                    try postpone.bind(3, sequence)
                    try postpone.run()
                case .buryToken(let token, let told):
                    try bury.bind(1, high: token.high, low: token.low)
                    try bury.bind(2, told.since)
                    try bury.bind(3, told.buriedAt)
                    try bury.run()
                case .reviveToken(let token):
                    try revive.bind(1, high: token.high, low: token.low)
                    try revive.run()
                case .forget(let acceptedBefore, let buriedBefore):
                    try deleteDelivered()
                    try forgetIdentities(acceptedBefore: acceptedBefore)
                    try forgetTokens.bind(1, buriedBefore)
                    try forgetTokens.run()
                    hasForgotten = true
                case .proof: try prove.run()
                }
            }
            try deleteDelivered()
            for write in writes { failures.append(try failure(of: write)) }
            try end.run()
        } catch {
            // Some errors have rolled back by themselves; then there is nothing left to roll back.
            if sqlite3_get_autocommit(connection.handle) == 0 { try? connection.execute("ROLLBACK") }
            known.rolledBack()
            delivered = []
            forgottenUpTo = forgottenBefore
            nextSequence = firstSequence
            throw error
        }
        known.committed()
        // Deleted rows live on in the write-ahead log until it is emptied: now and then it is.
        if hasForgotten { connection.emptyLog() }
        return (results, failures)
    }

    // MARK: Doors

    /// Makes a door's tables, or brings them up to date.
    func open<Tables: DoorTables>(_ kind: Tables.Type) throws(SQLiteError) {
        try DoorSchema.prepare(kind, on: connection)
        doors[ObjectIdentifier(kind)] = try kind.init(connection)
    }

    /// Those of a door that has been opened.
    func tables<Tables: DoorTables>(_ kind: Tables.Type) -> Tables {
        guard let tables = doors[ObjectIdentifier(kind)] as? Tables else {
            preconditionFailure("the tables of \(kind.name) have not been opened")
        }
        return tables
    }

    private func failure(of write: DoorWrite) throws(SQLiteError) -> SQLiteError? {
        try savepoint.run()
        do throws(SQLiteError) {
            try write.run(self)
            try release.run()
            return nil
        } catch {
            // A full disk undoes all that was to be committed.
            guard sqlite3_get_autocommit(connection.handle) == 0 else { throw error }
            try undo.run()
            try release.run()
            return error
        }
    }

    private func add(_ request: StoreRequest) throws(SQLiteError) -> StoreResult {
        let digests = request.digests
        let notification = request.notification
        let sequence = nextSequence
        if let first = known[digests.identity], let result = try state(of: first, as: digests) {
            return result
        }
        try insertIdentity.bind(1, sequence)
        try insertIdentity.bind(2, high: digests.identity.high, low: digests.identity.low)
        try insertIdentity.bind(3, high: digests.content.high, low: digests.content.low)
        try insertIdentity.bind(4, notification.acceptedAt)
        try insertIdentity.run()
        switch notification.content {
        case .bisq(let content): try insert(request, content.message, at: sequence, by: insertNotification)
        case .prepared(let push):
            try insertPrepared.bind(11, push.collapseID)
            try insertPrepared.bind(12, push.fieldLines)
            try insert(request, push.body, at: sequence, by: insertPrepared)
        }
        known.enter(digests.identity, at: sequence)
        storedSinceForgetting += 1
        nextSequence += 1
        return .stored(sequence: sequence)
    }

    private func insert(
        _ request: StoreRequest, _ message: String, at sequence: Int64, by statement: borrowing Statement
    ) throws(SQLiteError) {
        let notification = request.notification
        let token = request.digests.token
        try statement.bind(1, sequence)
        try statement.bind(2, high: notification.id.high, low: notification.id.low)
        try statement.bind(3, notification.lane.app)
        try statement.bind(4, notification.flags)
        try statement.bind(5, notification.deviceToken.text)
        try statement.bind(6, message)
        try statement.bind(7, high: token.high, low: token.low)
        try statement.bind(8, notification.acceptedAt)
        try statement.bind(9, notification.expiresAt)
        try statement.bind(10, notification.lane.host.column)
        try statement.run()
    }

    /// What became of the one that was stored there; `nil` when that was another one.
    private func state(of sequence: Int64, as digests: SubmissionDigests) throws(SQLiteError) -> StoreResult?
    {
        try deleteDelivered()
        try findIdentity.bind(1, sequence)
        defer { findIdentity.reset() }
        guard try findIdentity.step(), Digest(findIdentity.pair(0)) == digests.identity else { return nil }
        guard Digest(findIdentity.pair(1)) == digests.content else { return .conflict }
        switch try presentState() {
        case .waiting: return .alreadyWaiting(sequence: sequence)
        case .ended(let ending): return .alreadyEnded(ending)
        }
    }

    func state(of identity: Digest) throws(SQLiteError) -> NotificationState? {
        guard let sequence = known[identity] else { return nil }
        try findIdentity.bind(1, sequence)
        defer { findIdentity.reset() }
        guard try findIdentity.step(), Digest(findIdentity.pair(0)) == identity else { return nil }
        return try presentState()
    }

    /// Of the row that `findIdentity` stands on.
    private func presentState() throws(SQLiteError) -> NotificationState {
        if findIdentity.integer(5) != 0 { return .waiting }
        // Nothing is written down for the usual end.
        guard !findIdentity.isNull(2) else { return .ended(.delivered) }
        let detail = findIdentity.isNull(4) ? nil : findIdentity.text(4)
        guard
            let ending = Ending(code: findIdentity.integer(2), reason: findIdentity.text(3), detail: detail)
        else {
            throw SQLiteError(code: SQLITE_CORRUPT, operation: .step, message: "an unknown ending")
        }
        return .ended(ending)
    }

    private func finish(_ sequence: Int64, _ ending: Ending) throws(SQLiteError) {
        guard ending != .delivered || sequence <= forgottenUpTo else { return delivered.append(sequence) }
        try deleteNotifications(sequence...sequence)
        if ending != .delivered {
            try endIdentity.bind(1, ending.code)
            try endIdentity.bind(2, ending.reason)
            try endIdentity.bind(3, ending.detail)
            try endIdentity.bind(4, sequence)
            try endIdentity.run()
        }
        // It waited for longer than identities are remembered.
        if sequence <= forgottenUpTo {
            try forgetIdentities(after: sequence - 1, upTo: sequence, limit: 1) { _, _ in true }
        }
    }

    private func deleteDelivered() throws(SQLiteError) {
        guard !delivered.isEmpty else { return }
        delivered.sort()
        var run = delivered[0]...delivered[0]
        for sequence in delivered.dropFirst() {
            if sequence != run.upperBound + 1 {
                try deleteNotifications(run)
                run = sequence...sequence
            } else {
                run = run.lowerBound...sequence
            }
        }
        try deleteNotifications(run)
        delivered.removeAll(keepingCapacity: delivered.capacity <= 4096)
    }

    private func deleteNotifications(_ sequences: ClosedRange<Int64>) throws(SQLiteError) {
        try deleteNotifications.bind(1, sequences.lowerBound)
        try deleteNotifications.bind(2, sequences.upperBound)
        try deleteNotifications.run()
    }

    private func forgetIdentities(acceptedBefore: Int64) throws(SQLiteError) {
        let limit = max(Store.forgottenAtOnce, 2 * storedSinceForgetting)
        var excess = known.count - Store.mostIdentities
        storedSinceForgetting = 0
        forgottenUpTo = try forgetIdentities(after: forgottenUpTo, upTo: .max, limit: limit) {
            acceptedAt, isWaiting in
            excess -= isWaiting ? 0 : 1
            return acceptedAt < acceptedBefore || excess >= 0
        }
    }

    /// Forgets the identities from the oldest on as long as `isOver` says so, but for those that wait.
    ///
    /// - Returns: The sequence number up to which it came.
    @discardableResult
    private func forgetIdentities(
        after first: Int64, upTo last: Int64, limit: Int,
        while isOver: (_ acceptedAt: Int64, _ isWaiting: Bool) -> Bool
    ) throws(SQLiteError) -> Int64 {
        var reached = first
        do {
            try oldestIdentities.bind(1, first)
            try oldestIdentities.bind(2, Int64(limit))
            defer { oldestIdentities.reset() }
            while try oldestIdentities.step(), oldestIdentities.integer(0) <= last {
                let isWaiting = oldestIdentities.integer(3) != 0
                guard isOver(oldestIdentities.integer(2), isWaiting) else { break }
                reached = oldestIdentities.integer(0)
                if !isWaiting { known.leave(Digest(oldestIdentities.pair(1)), at: reached) }
            }
        }
        try deleteIdentities.bind(1, first)
        try deleteIdentities.bind(2, reached)
        try deleteIdentities.run()
        return reached
    }

    func notifications(_ sequences: [Int64]) throws(SQLiteError) -> [Int64: Notification] {
        var found: [Int64: Notification] = [:]
        defer { selectNotification.reset() }
        for sequence in sequences {
            try selectNotification.bind(1, sequence)
            if try selectNotification.step() { found[sequence] = presentNotification }
            selectNotification.reset()
        }
        return found
    }

    private var presentNotification: Notification {
        let id = selectNotification.pair(0)
        let flags = Flags(rawValue: selectNotification.integer(2))
        let text = selectNotification.text(4)
        let content: Content =
            flags.contains(.prepared)
            ? .prepared(
                PreparedPush(
                    flags: flags, body: text, fields: selectNotification.text(8),
                    collapseID: selectNotification.isNull(7) ? nil : selectNotification.text(7)))
            : .bisq(BisqContent(flags: flags, message: text))
        return Notification(
            id: NotificationID(high: id.high, low: id.low),
            lane: LaneID(
                app: selectNotification.text(1), flags: flags,
                host: selectNotification.isNull(9) ? nil : selectNotification.text(9)),
            deviceToken: DeviceToken(selectNotification.text(3)), content: content,
            expiresAt: selectNotification.integer(6), acceptedAt: selectNotification.integer(5))
    }

    func content() throws(SQLiteError) -> OutboxContent {
        var content = OutboxContent()
        let waiting = try Statement(
            """
            SELECT sequence, app, flags, token_digest,
                \(Notification.sizeColumn()),
                attempts, accepted_at, not_before, expires_at, host FROM notification ORDER BY sequence
            """, on: connection)
        while try waiting.step() {
            let flags = Flags(rawValue: waiting.integer(2))
            content.waiting.append(
                WaitingRow(
                    sequence: waiting.integer(0),
                    lane: LaneID(
                        app: waiting.text(1), flags: flags, host: waiting.isNull(9) ? nil : waiting.text(9)),
                    token: Digest(waiting.pair(3)), isUrgent: flags.contains(.urgent),
                    size: Int(waiting.integer(4)), attempts: Int(waiting.integer(5)),
                    acceptedAt: waiting.integer(6), notBefore: waiting.integer(7),
                    expiresAt: waiting.integer(8)))
        }
        let tokens = try Statement("SELECT digest, since, buried_at FROM dead_token", on: connection)
        while try tokens.step() {
            content.deadTokens[Digest(tokens.pair(0))] = DeadToken(
                since: tokens.integer(1), buriedAt: tokens.integer(2))
        }
        return content
    }
}

extension Digest {
    init(_ pair: (high: UInt64, low: UInt64)) { self.init(high: pair.high, low: pair.low) }
}
