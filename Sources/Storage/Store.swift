import CSQLite
import Relay

/// The statements of the outbox over one connection. SQLite closes it when the last statement is finalized, so the
/// order in which they are let go doesn't matter.
final class Store {
    private let insertIdentity: Statement
    private let findIdentity: Statement
    private let insertNotification: Statement
    private let deleteNotification: Statement
    private let endIdentity: Statement
    private let postpone: Statement
    private let bury: Statement
    private let forgetIdentities: Statement
    private let forgetTokens: Statement
    private let selectNotification: Statement
    private let connection: Connection

    /// How many identities one commit forgets, so that no commit is held up for long.
    private static let forgottenAtOnce = 5000

    init(path: String) throws(SQLiteError) {
        let connection = try Connection(path: path)
        try Schema.prepare(connection)
        insertIdentity = try Statement(
            """
            INSERT INTO identity (sequence, digest, content, accepted_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (digest) DO NOTHING
            """, on: connection)
        findIdentity = try Statement(
            "SELECT sequence, content, ending, reason, detail FROM identity WHERE digest = ?", on: connection)
        insertNotification = try Statement(
            """
            INSERT INTO notification (sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: connection)
        deleteNotification = try Statement("DELETE FROM notification WHERE sequence = ?", on: connection)
        endIdentity = try Statement(
            "UPDATE identity SET ending = ?, reason = ?, detail = ? WHERE sequence = ?", on: connection)
        postpone = try Statement(
            "UPDATE notification SET attempts = ?, not_before = ? WHERE sequence = ?", on: connection)
        bury = try Statement(
            "INSERT OR REPLACE INTO dead_token (digest, since) VALUES (?, ?)", on: connection)
        forgetIdentities = try Statement(
            """
            DELETE FROM identity WHERE sequence IN (
                SELECT sequence FROM (
                    SELECT sequence, accepted_at FROM identity WHERE ending IS NOT NULL
                    ORDER BY sequence LIMIT \(Store.forgottenAtOnce))
                WHERE accepted_at < ?)
            """, on: connection)
        forgetTokens = try Statement("DELETE FROM dead_token WHERE since < ?", on: connection)
        selectNotification = try Statement(
            """
            SELECT id, app, flags, token, message, accepted_at, expires_at FROM notification WHERE sequence = ?
            """, on: connection)
        self.connection = connection
    }

    func commit(_ changes: [OutboxChange]) throws(SQLiteError) -> [StoreResult] {
        var results: [StoreResult] = []
        var hasForgotten = false
        try connection.execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            for change in changes {
                switch change {
                case .store(let request): results.append(try add(request))
                case .finish(let sequence, let ending): try end(sequence, ending)
                case .postpone(let sequence, let attempts, let notBefore):
                    try postpone.bind(1, Int64(attempts))
                    try postpone.bind(2, notBefore)
                    try postpone.bind(3, sequence)
                    try postpone.run()
                case .buryToken(let token, let since):
                    try bury.bind(1, high: token.high, low: token.low)
                    try bury.bind(2, since)
                    try bury.run()
                case .forget(let acceptedBefore, let buriedBefore):
                    try forgetIdentities.bind(1, acceptedBefore)
                    try forgetIdentities.run()
                    try forgetTokens.bind(1, buriedBefore)
                    try forgetTokens.run()
                    hasForgotten = true
                }
            }
            try connection.execute("COMMIT")
        } catch {
            // Some errors have rolled back by themselves; then there is nothing left to roll back.
            if sqlite3_get_autocommit(connection.handle) == 0 { try? connection.execute("ROLLBACK") }
            throw error
        }
        // Deleted rows live on in the write-ahead log until it is emptied: now and then it is. That it can't be just
        // now (a reader is there) does no harm.
        if hasForgotten {
            sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        }
        return results
    }

    private func add(_ request: StoreRequest) throws(SQLiteError) -> StoreResult {
        let digests = request.digests
        let notification = request.notification
        try insertIdentity.bind(1, request.sequence)
        try insertIdentity.bind(2, high: digests.identity.high, low: digests.identity.low)
        try insertIdentity.bind(3, high: digests.content.high, low: digests.content.low)
        try insertIdentity.bind(4, notification.acceptedAt)
        try insertIdentity.run()
        guard sqlite3_changes(connection.handle) == 1 else { return try known(digests) }
        try insertNotification.bind(1, request.sequence)
        try insertNotification.bind(2, high: notification.id.high, low: notification.id.low)
        try insertNotification.bind(3, notification.app)
        try insertNotification.bind(4, notification.flags)
        try insertNotification.bind(5, notification.deviceToken)
        try insertNotification.bind(6, notification.message)
        try insertNotification.bind(7, high: digests.token.high, low: digests.token.low)
        try insertNotification.bind(8, notification.acceptedAt)
        try insertNotification.bind(9, notification.expiresAt)
        try insertNotification.run()
        return .stored
    }

    private func known(_ digests: SubmissionDigests) throws(SQLiteError) -> StoreResult {
        try findIdentity.bind(1, high: digests.identity.high, low: digests.identity.low)
        defer { findIdentity.reset() }
        guard try findIdentity.step() else {
            throw SQLiteError(
                code: SQLITE_CORRUPT, operation: .step, message: "an identity is there and is not")
        }
        guard findIdentity.pair(1) == (digests.content.high, digests.content.low) else { return .conflict }
        if findIdentity.isNull(2) { return .alreadyWaiting(sequence: findIdentity.integer(0)) }
        let detail = findIdentity.isNull(4) ? nil : findIdentity.text(4)
        guard
            let ending = Ending(code: findIdentity.integer(2), reason: findIdentity.text(3), detail: detail)
        else {
            throw SQLiteError(code: SQLITE_CORRUPT, operation: .step, message: "an unknown ending")
        }
        return .alreadyEnded(ending)
    }

    private func end(_ sequence: Int64, _ ending: Ending) throws(SQLiteError) {
        try deleteNotification.bind(1, sequence)
        try deleteNotification.run()
        try endIdentity.bind(1, ending.code)
        try endIdentity.bind(2, ending.reason)
        try endIdentity.bind(3, ending.detail)
        try endIdentity.bind(4, sequence)
        try endIdentity.run()
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
        return Notification(
            id: NotificationID(high: id.high, low: id.low), app: selectNotification.text(1),
            flags: selectNotification.integer(2), deviceToken: selectNotification.text(3),
            message: selectNotification.text(4), acceptedAt: selectNotification.integer(5),
            expiresAt: selectNotification.integer(6))
    }

    func content() throws(SQLiteError) -> OutboxContent {
        var content = OutboxContent()
        let waiting = try Statement(
            """
            SELECT sequence, app, flags, token_digest, length(token) + length(message), attempts, not_before,
                expires_at FROM notification ORDER BY sequence
            """, on: connection)
        while try waiting.step() {
            let flags = Flags(rawValue: waiting.integer(2))
            let token = waiting.pair(3)
            content.waiting.append(
                WaitingRow(
                    sequence: waiting.integer(0),
                    lane: LaneID(app: waiting.text(1), isSandbox: flags.contains(.sandbox)),
                    token: Digest(high: token.high, low: token.low), isUrgent: flags.contains(.urgent),
                    size: Int(waiting.integer(4)), attempts: Int(waiting.integer(5)),
                    notBefore: waiting.integer(6),
                    expiresAt: waiting.integer(7)))
        }
        let tokens = try Statement("SELECT digest, since FROM dead_token", on: connection)
        while try tokens.step() {
            let digest = tokens.pair(0)
            content.deadTokens[Digest(high: digest.high, low: digest.low)] = tokens.integer(1)
        }
        let last = try connection.firstInteger(
            "SELECT max(coalesce((SELECT max(sequence) FROM notification), 0), coalesce((SELECT max(sequence) FROM identity), 0))"
        )
        content.nextSequence = (last ?? 0) + 1
        return content
    }
}
