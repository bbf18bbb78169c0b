import Encodings
import Persistence
import Relay

/// The phones that self-hosted Bitwarden servers have registered, in the store. Each call is a transaction.
package struct StoredBitwardenDevices: Sendable {
    private let file: OutboxStore

    /// Makes the tables if they are not there, those of ``Installations`` as well.
    package init(in file: OutboxStore) async throws(OutboxError) {
        try await file.open(InstallationTables.self)
        try await file.open(BitwardenTables.self)
        self.file = file
    }

    /// Puts a device in the place of the one with its id. Durable when it returns.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - limit: devices of one installation.
    /// - Returns: `false` when there is no room for a further one.
    package func put(_ device: BitwardenDevice, at now: Int64, limit: Int) async throws(OutboxError) -> Bool {
        try await file.write(BitwardenTables.self) { tables throws(StoreError) in
            try tables.put(device, at: now, limit: limit)
        }
    }

    package func remove(_ device: Digest) async throws(OutboxError) {
        try await file.write(BitwardenTables.self) { tables throws(StoreError) in
            try tables.remove(device)
        }
    }

    /// Makes devices members of an organization, or ends that. Those that are not known are skipped.
    package func change(
        _ organization: Digest, of devices: [Digest], isMember: Bool
    ) async throws(OutboxError) {
        try await file.write(BitwardenTables.self) { tables throws(StoreError) in
            for device in devices { try tables.change(organization, of: device, isMember: isMember) }
        }
    }

    /// Returns the phones that something is for, each once, in the order of their registration.
    ///
    /// - Parameter acting: the app installation that is left out.
    package func phones(
        of target: BitwardenDevice.Target, except acting: Digest?
    ) async throws(OutboxError) -> [BitwardenDevice.Phone] {
        try await file.read(BitwardenTables.self) { tables throws(StoreError) in
            try tables.phones(of: target, except: acting)
        }
    }

    /// Forgets what was registered for a dead push token up to a time (milliseconds since 1970).
    package func forget(_ phone: BitwardenDevice.Phone, registeredUntil time: Int64) async throws(OutboxError)
    {
        try await file.write(BitwardenTables.self) { tables throws(StoreError) in
            try tables.forget(phone, registeredUntil: time)
        }
    }
}

/// The statements of ``StoredBitwardenDevices``.
final class BitwardenTables: DoorTables {
    static let name = "bitwarden"
    static let format: PerDialect<Int64> = 1
    private typealias Column = StoreTable.Column
    static let tables = [
        StoreTable(
            "bitwarden_device",
            [
                Column("number", .number, .numbered(.highest)), Column("device", .bytes, .unique),
                Column("installation", .text), Column("\"user\"", .bytes), Column("identifier", .bytes),
                Column("type"), Column("token", .sealedText(Sealed.token)), .proof("token_key"),
                Column("registered_at"),
            ],
            indices: [
                "bitwarden_user": "(\"user\")",
                "bitwarden_token": PerDialect(file: "(token)", database: "USING hash (token_key)"),
                "bitwarden_installation": "(installation)",
            ],
            rest: PerDialect(
                file: """
                    CREATE TRIGGER bitwarden_installation_removed AFTER DELETE ON installation BEGIN
                        DELETE FROM bitwarden_device WHERE installation = old.id;
                    END
                    """,
                database: """
                    CREATE FUNCTION bitwarden_installation_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                        DELETE FROM bitwarden_device WHERE installation = old.id;
                        RETURN NULL;
                    END $$;
                    CREATE TRIGGER bitwarden_installation_removed AFTER DELETE ON installation
                        FOR EACH ROW EXECUTE FUNCTION bitwarden_installation_removed()
                    """)),
        StoreTable(
            "bitwarden_member",
            [
                Column("organization", .bytes),
                Column(
                    "device", .bytes,
                    .goesWith(
                        table: "bitwarden_device", column: "device", trigger: "bitwarden_device_removed")),
            ], key: ["organization", "device"], indices: ["bitwarden_member_device": "(device)"]),
    ]
    static let views = [
        RegistrationView(
            kind: "bitwarden",
            query: """
                SELECT lower(hex(device)) AS id, installation,
                    CASE type WHEN 0 THEN 'android' WHEN 1 THEN 'ios' ELSE CAST(type AS TEXT) END AS type,
                    datetime(registered_at / 1000, 'unixepoch') AS registered
                FROM bitwarden_device ORDER BY number
                """,
            removal: ["DELETE FROM bitwarden_device WHERE lower(hex(device)) = ?1"])
    ]

    private let insert: Statement
    private let find: Statement
    private let room: Statement
    private let delete: Statement
    private let leaveAll: Statement
    private let join: Statement
    private let leave: Statement
    private let selectInstallation: Statement
    private let selectUser: Statement
    private let selectOrganization: Statement
    private let deleteToken: Statement
    /// Whether tokens are sealed. Several devices may have one token, which is sealed for each of them and once more for
    /// all.
    private let isSealed: Bool

    init(_ connection: borrowing Connection) throws(StoreError) {
        isSealed = connection.isSealed
        let (key, value) = isSealed ? (", token_key", ", ?8") : ("", "")
        insert = try Statement(
            """
            INSERT INTO bitwarden_device (device, installation, "user", identifier, type, token, registered_at\(key))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7\(value)) ON CONFLICT (device) DO UPDATE SET
                "user" = ?3, identifier = ?4, type = ?5, token = ?6, registered_at = ?7
                \(isSealed ? ", token_key = ?8" : "")
            """, on: connection)
        find = try Statement("SELECT 1 FROM bitwarden_device WHERE device = ?", on: connection)
        room = try Statement(
            "SELECT 1 FROM bitwarden_device WHERE installation = ? LIMIT 1 OFFSET ?", on: connection)
        delete = try Statement("DELETE FROM bitwarden_device WHERE device = ?", on: connection)
        leaveAll = try Statement("DELETE FROM bitwarden_member WHERE device = ?", on: connection)
        join = try Statement(
            """
            INSERT INTO bitwarden_member (organization, device)
            SELECT ?1, device FROM bitwarden_device WHERE device = ?2
            ON CONFLICT DO NOTHING
            """, on: connection)
        leave = try Statement(
            "DELETE FROM bitwarden_member WHERE organization = ? AND device = ?", on: connection)
        let phone = "SELECT type, token, identifier, registered_at, device FROM bitwarden_device"
        selectInstallation = try Statement("\(phone) WHERE installation = ? ORDER BY number", on: connection)
        selectUser = try Statement("\(phone) WHERE \"user\" = ? ORDER BY number", on: connection)
        selectOrganization = try Statement(
            """
            \(phone) WHERE device IN (SELECT device FROM bitwarden_member WHERE organization = ?)
            ORDER BY number
            """, on: connection)
        deleteToken = try Statement(
            """
            DELETE FROM bitwarden_device
            WHERE \(isSealed ? "token_key" : "token") = ? AND type = ? AND registered_at <= ?
            """, on: connection)
    }

    /// Fills in what a database has more, in rows that were copied from a file.
    static func complete(_ connection: borrowing Connection) throws(StoreError) {
        let select = try Statement("SELECT device, token FROM bitwarden_device", on: connection)
        let update = try Statement(
            "UPDATE bitwarden_device SET token_key = ? WHERE device = ?", on: connection)
        while try select.step() {
            let device = Digest(select.pair(0))
            let token = try select.sealedText(1, as: Sealed.token, of: .bitwarden(device: device))
            try update.bind(1, sealed: token, as: Sealed.token, of: .all)
            try update.bind(2, device)
            try update.run()
        }
    }

    func put(
        _ device: BitwardenDevice, at now: Int64, limit: Int
    ) throws(StoreError) -> Bool {
        let isKnown = try isKnown(device.id)
        guard try isKnown ? true : hasRoom(for: device.installation, limit: limit) else { return false }
        try insert.bind(1, device.id)
        try insert.bind(2, device.installation)
        try insert.bind(3, device.user)
        try insert.bind(4, device.identifier)
        try insert.bind(5, Int64(device.type))
        try insert.bind(6, sealed: device.pushToken, as: Sealed.token, of: .bitwarden(device: device.id))
        try insert.bind(7, now)
        if isSealed { try insert.bind(8, sealed: device.pushToken, as: Sealed.token, of: .all) }
        try insert.run()
        try leaveAll.bind(1, device.id)
        try leaveAll.run()
        for organization in device.organizations {
            try change(organization, of: device.id, isMember: true)
        }
        return true
    }

    private func isKnown(_ device: Digest) throws(StoreError) -> Bool {
        try find.bind(1, device)
        defer { find.reset() }
        return try find.step()
    }

    private func hasRoom(for installation: String, limit: Int) throws(StoreError) -> Bool {
        try room.bind(1, installation)
        try room.bind(2, Int64(limit - 1))
        defer { room.reset() }
        return try !room.step()
    }

    func remove(_ device: Digest) throws(StoreError) {
        try delete.bind(1, device)
        try delete.run()
    }

    func change(_ organization: Digest, of device: Digest, isMember: Bool) throws(StoreError) {
        func run(_ statement: borrowing Statement) throws(StoreError) {
            try statement.bind(1, organization)
            try statement.bind(2, device)
            try statement.run()
        }
        if isMember { try run(join) } else { try run(leave) }
    }

    func phones(
        of target: BitwardenDevice.Target, except acting: Digest?
    ) throws(StoreError) -> [BitwardenDevice.Phone] {
        switch target {
        case .installation(let id):
            try selectInstallation.bind(1, id)
            return try phones(selectInstallation, except: acting)
        case .user(let user):
            try selectUser.bind(1, user)
            return try phones(selectUser, except: acting)
        case .organization(let organization):
            try selectOrganization.bind(1, organization)
            return try phones(selectOrganization, except: acting)
        }
    }

    private func phones(
        _ statement: borrowing Statement, except acting: Digest?
    ) throws(StoreError) -> [BitwardenDevice.Phone] {
        defer { statement.reset() }
        var phones: [BitwardenDevice.Phone] = []
        // Several users of one phone share its token.
        var places: [ByteText: Int] = [:]
        while try statement.step() {
            guard acting == nil || Digest(statement.pair(2)) != acting else { continue }
            let phone = BitwardenDevice.Phone(
                type: Int(statement.integer(0)),
                pushToken: try statement.sealedText(
                    1, as: Sealed.token, of: .bitwarden(device: Digest(statement.pair(4)))),
                registeredAt: statement.time(3))
            let name = ByteText("\(phone.type) \(phone.pushToken)")
            if let place = places[name] {
                phones[place].registeredAt = max(phones[place].registeredAt, phone.registeredAt)
            } else {
                places[name] = phones.count
                phones.append(phone)
            }
        }
        return phones
    }

    func forget(_ phone: BitwardenDevice.Phone, registeredUntil time: Int64) throws(StoreError) {
        try deleteToken.bind(1, sealed: phone.pushToken, as: Sealed.token, of: .all)
        try deleteToken.bind(2, Int64(phone.type))
        try deleteToken.bind(3, time)
        try deleteToken.run()
    }
}

extension BitwardenTables {
    static let dates = [MovedDates("bitwarden_device", "registered_at")]

    static func owners(of table: StoreTable, in source: borrowing Connection) -> RowOwners {
        let isDevice = table.name == "bitwarden_device"
        return { _, row in isDevice ? .bitwarden(device: Digest(row.pair(1))) : .all }
    }
}

extension Sealed.Owner {
    fileprivate static func bitwarden(device: Digest) -> Sealed.Owner { .row(kind: 9, of: device) }
}
