import Clocks
import Crypto
import Encodings
import Persistence
import PostgreSQL
import Relay

/// The rows that a commit adds to a database and takes away from it: many rows in one statement, since each statement costs
/// both sides more than a row does.
final class SharedRows {
    private let database: Database
    private let insert: PostgreSQLStatement
    private let insertLate: PostgreSQLStatement
    private let insertIdentities: PostgreSQLStatement
    private let delete: PostgreSQLStatement
    private let deleteFromBacklog: PostgreSQLStatement

    private var stored = WaitingArrays()
    private var late = WaitingArrays()
    /// Written in the order of their digests: so two nodes that write the same don't wait for each other.
    private var identities: [(digests: SubmissionDigests, acceptedAt: UnixTime, sequence: Int64)] = []
    private var gone: [Int64] = []
    private var goneFromBacklog: [Int64] = []

    /// The rows after which a statement takes no more: a connection keeps room for its largest statement.
    private static let page = 512
    /// The bytes of rows after which a statement takes no more.
    private static let pageBytes = 128 << 10

    init(_ database: Database) {
        self.database = database
        let names = WaitingArrays.names
        insert = database.statement(
            """
            INSERT INTO notification (\(names)) SELECT * FROM \(SharedRows.rows(WaitingArrays.kinds))
            """)
        insertLate = database.statement(
            """
            INSERT INTO backlog (\(names), rank, late)
            SELECT *, true FROM \(SharedRows.rows(WaitingArrays.kinds + [.integer]))
            """)
        insertIdentities = database.statement(
            """
            INSERT INTO identity (sequence, digest, content, accepted_at)
            SELECT * FROM \(SharedRows.rows([.integer, .bytes, .bytes, .integer]))
            """)
        delete = database.statement("DELETE FROM notification WHERE sequence = ANY(CAST(? AS BIGINT[]))")
        deleteFromBacklog = database.statement(
            "DELETE FROM backlog WHERE sequence = ANY(CAST(? AS BIGINT[]))")
    }

    private static func rows(_ kinds: [PostgreSQLArray.Element]) -> String {
        "unnest(\(kinds.map { "CAST(? AS \($0.name)[])" }.joined(separator: ", ")))"
    }

    // MARK: Gathering

    /// Drops what is left of an earlier commit.
    func drop() {
        stored.removeAll()
        late.removeAll()
        identities = []
        gone.empty()
        goneFromBacklog.empty()
    }

    func store(_ request: StoreRequest, at sequence: Int64) throws(StoreError) {
        try stored.append(request, at: sequence, sealedBy: database.rowSeal)
        if stored.isFull(SharedRows.page, SharedRows.pageBytes) { try writeStored() }
    }

    /// Stores a notification for the node that has its shard.
    func store(_ request: StoreRequest, rank: Int64, at sequence: Int64) throws(StoreError) {
        try late.append(request, rank: rank, at: sequence, sealedBy: database.rowSeal)
        if late.isFull(SharedRows.page, SharedRows.pageBytes) { try writeLate() }
    }

    func remember(_ digests: SubmissionDigests, acceptedAt: UnixTime, at sequence: Int64) {
        identities.append((digests, acceptedAt, sequence))
    }

    func leave(_ sequence: Int64) { gone.append(sequence) }

    func leaveBacklog(_ sequence: Int64) { goneFromBacklog.append(sequence) }

    // MARK: Writing

    /// Writes all rows to the database, with the running commit. Called before anything is asked of it that
    /// depends on these rows.
    func write() throws(StoreError) {
        try writeStored()
        try writeLate()
        // One of a commit may end with it.
        try run(delete, &gone)
        try run(deleteFromBacklog, &goneFromBacklog)
        try writeIdentities()
    }

    private func writeStored() throws(StoreError) {
        guard stored.count > 0 else { return }
        stored.bind(to: insert)
        try run(insert)
        stored.removeAll()
    }

    private func writeLate() throws(StoreError) {
        guard late.count > 0 else { return }
        late.bind(to: insertLate)
        late.bindRanks(to: insertLate)
        try run(insertLate)
        late.removeAll()
    }

    private func writeIdentities() throws(StoreError) {
        guard !identities.isEmpty else { return }
        identities.sort {
            ($0.digests.identity.high, $0.digests.identity.low)
                < ($1.digests.identity.high, $1.digests.identity.low)
        }
        for start in stride(from: 0, to: identities.count, by: SharedRows.page) {
            var arrays = [PostgreSQLArray(.integer), PostgreSQLArray(.bytes), PostgreSQLArray(.bytes)]
            var acceptedAt = PostgreSQLArray(.integer)
            for one in identities[start..<min(start + SharedRows.page, identities.count)] {
                arrays[0].append(one.sequence)
                arrays[1].append(high: one.digests.identity.high, low: one.digests.identity.low)
                arrays[2].append(high: one.digests.content.high, low: one.digests.content.low)
                acceptedAt.append(one.acceptedAt.milliseconds)
            }
            for (index, array) in zip(Int32(1)..., arrays + [acceptedAt]) {
                insertIdentities.bind(index, array)
            }
            try run(insertIdentities)
        }
        identities.empty()
    }

    private func run(_ statement: PostgreSQLStatement, _ sequences: inout [Int64]) throws(StoreError) {
        guard !sequences.isEmpty else { return }
        for start in stride(from: 0, to: sequences.count, by: SharedRows.page) {
            var array = PostgreSQLArray(.integer)
            for sequence in sequences[start..<min(start + SharedRows.page, sequences.count)] {
                array.append(sequence)
            }
            statement.bind(1, array)
            try run(statement)
        }
        sequences.empty()
    }

    private func run(_ statement: PostgreSQLStatement) throws(StoreError) {
        try database.translated { () throws(PostgreSQLError) in try statement.run() }
    }
}

/// Notifications by column, as `Statement.bind(_:at:)` binds a single notification.
private struct WaitingArrays {
    static let names = """
        sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at, host, collapse_id, android
        """
    static let kinds: [PostgreSQLArray.Element] = [
        .integer, .bytes, .text, .integer, .bytes, .bytes, .bytes, .integer, .integer, .text, .bytes, .bytes,
    ]
    private static let (token, message, collapseID, fields) = (4, 5, 10, 11)

    private var columns = kinds.map { PostgreSQLArray($0) }
    private var ranks = PostgreSQLArray(.integer)
    private(set) var count = 0
    private var bytes = 0

    func isFull(_ rows: Int, _ bytes: Int) -> Bool { count >= rows || self.bytes >= bytes }

    mutating func append(
        _ request: StoreRequest, rank: Int64 = 0, at sequence: Int64, sealedBy seal: AES256SIV
    ) throws(StoreError) {
        let notification = request.notification
        let owner = request.owner(at: sequence).bytes
        do throws(CryptoError) {
            try append(notification.deviceToken.text, to: WaitingArrays.token, as: Sealed.token, owner, seal)
            switch notification.content {
            case .bisq(let content):
                try append(content.message, to: WaitingArrays.message, as: Sealed.message, owner, seal)
                columns[WaitingArrays.collapseID].appendNull()
                columns[WaitingArrays.fields].appendNull()
            case .prepared(let push):
                try append(push.body, to: WaitingArrays.message, as: Sealed.message, owner, seal)
                if let collapseID = push.collapseID {
                    try append(collapseID, to: WaitingArrays.collapseID, as: Sealed.collapse, owner, seal)
                } else {
                    columns[WaitingArrays.collapseID].appendNull()
                }
                try append(push.fieldLines, to: WaitingArrays.fields, as: Sealed.fields, owner, seal)
            }
        } catch {
            throw StoreError(.other, .bind, "\(error)")
        }
        columns[0].append(sequence)
        columns[1].append(high: notification.id.high, low: notification.id.low)
        columns[2].append(notification.lane.app)
        columns[3].append(notification.flags)
        columns[6].append(high: request.digests.token.high, low: request.digests.token.low)
        columns[7].append(notification.acceptedAt.milliseconds)
        columns[8].append(notification.expiresAt.milliseconds)
        if let host = notification.lane.host.column {
            columns[9].append(host)
        } else {
            columns[9].appendNull()
        }
        ranks.append(rank)
        count += 1
    }

    private mutating func append(
        _ text: String, to column: Int, as context: String, _ owner: [UInt8], _ seal: AES256SIV
    ) throws(CryptoError) {
        let byteCount = text.utf8.count + AES256SIV.overhead
        bytes += byteCount
        try columns[column].append(byteCount: byteCount) { (bytes: inout [UInt8]) throws(CryptoError) in
            try seal.seal(text.utf8, as: context, of: owner, into: &bytes)
        }
    }

    func bind(to statement: PostgreSQLStatement) {
        for (index, column) in zip(Int32(1)..., columns) { statement.bind(index, column) }
    }

    /// Binds the ranks, behind the other columns.
    func bindRanks(to statement: PostgreSQLStatement) { statement.bind(Int32(columns.count) + 1, ranks) }

    mutating func removeAll() {
        for index in columns.indices { columns[index].removeAll() }
        ranks.removeAll()
        (count, bytes) = (0, 0)
    }
}

extension OutboxChange {
    /// Whether ``SharedRows`` may write later all that it changes. It asks for nothing that these rows change, or writes
    /// them first.
    var isGathered: Bool {
        switch self {
        case .store, .lookUp, .remember, .finish(_, .delivered): true
        case .finish, .postpone, .shelve, .move, .retry, .spare, .forgetWishes, .lane, .buryToken,
            .reviveToken,
            .forget,
            .clock, .giveUp, .proof:
            false
        }
    }
}
