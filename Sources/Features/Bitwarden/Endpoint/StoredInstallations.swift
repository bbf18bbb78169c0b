import Clocks
import Persistence
import Relay

/// The installations in the store. Each call is a transaction.
package struct StoredInstallations: Sendable {
    private let file: OutboxStore

    /// Makes the tables if they are not there.
    package init(in file: OutboxStore) async throws(OutboxError) {
        try await file.open(InstallationTables.self)
        self.file = file
    }

    /// Adds an installation, or puts it in the place of the one with its id. Durable when it returns.
    package func put(_ installation: Installation) async throws(OutboxError) {
        try await file.write(InstallationTables.self) { tables throws(StoreError) in
            try tables.put(installation)
        }
    }

    package func installation(_ id: String) async throws(OutboxError) -> Installation? {
        try await file.read(InstallationTables.self) { tables throws(StoreError) in try tables.find(id) }
    }
}

/// The statements of ``StoredInstallations``.
final class InstallationTables: DoorTables {
    static let name = "installations"
    static let format: PerDialect<Int64> = 1
    static let tables = [
        StoreTable(
            "installation",
            [
                StoreTable.Column("id", .text, .key), StoreTable.Column("key_digest", .bytes),
                StoreTable.Column("enabled"), StoreTable.Column("added_at"),
            ])
    ]
    static let views = [
        RegistrationView(
            kind: "installation",
            query: """
                SELECT id, iif(enabled, 'yes', 'no') AS enabled, datetime(added_at / 1000, 'unixepoch') AS added
                FROM installation ORDER BY id
                """,
            removal: ["DELETE FROM installation WHERE id = ?1"])
    ]

    private let insert: Statement
    private let select: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        insert = try Statement(
            """
            INSERT INTO installation (id, key_digest, enabled, added_at) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
                SET key_digest = excluded.key_digest, enabled = excluded.enabled, added_at = excluded.added_at
            """, on: connection)
        select = try Statement(
            "SELECT key_digest, enabled, added_at FROM installation WHERE id = ?", on: connection)
    }

    package func put(_ installation: Installation) throws(StoreError) {
        try insert.bind(1, installation.id)
        try insert.bind(2, high: installation.keyDigest.high, low: installation.keyDigest.low)
        try insert.bind(3, installation.isEnabled ? 1 : 0)
        try insert.bind(4, time: installation.addedAt)
        try insert.run()
    }

    func find(_ id: String) throws(StoreError) -> Installation? {
        try select.bind(1, id)
        defer { select.reset() }
        guard try select.step() else { return nil }
        return Installation(
            id: id, keyDigest: Digest(select.pair(0)), isEnabled: select.integer(1) != 0,
            addedAt: select.time(2))
    }
}

extension InstallationTables {
    static let backedUp = [BackedUpTable("installation", most: 10_000)]

    static func take(
        _ backup: BackupRows, into file: borrowing RegistrationFile
    ) throws(StoreError) -> [BackupConflict] {
        let rows = backup["installation"]
        guard !rows.isEmpty else { return [] }
        let tables = try InstallationTables(file.connection)
        var conflicts: [BackupConflict] = []
        for row in rows {
            let installation = Installation(
                id: row.text("id"), keyDigest: row.digest("key_digest"),
                isEnabled: row.integer("enabled") != 0,
                addedAt: UnixTime(milliseconds: row.integer("added_at")))
            switch try tables.find(installation.id) {
            case nil: try tables.put(installation)
            case let present? where present.keyDigest == installation.keyDigest: break
            case _?: conflicts.append(row.conflict(BackupConflict.Kind("installation"), .taken, named: "id"))
            }
        }
        return conflicts
    }
}

extension RegistrationFile {
    /// Adds an installation, or puts it in the place of the one with its id.
    package func put(_ installation: Installation) throws(StoreError) {
        try change(InstallationTables.self) { tables throws(StoreError) in try tables.put(installation) }
    }

    func installation(_ id: String) throws(StoreError) -> Installation? {
        try look(InstallationTables.self) { tables throws(StoreError) in try tables.find(id) } ?? nil
    }
}
