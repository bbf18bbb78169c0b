import Registrations
import Relay

/// ``Registrations/BitwardenDevices`` in the outbox's file.
package struct SQLiteBitwardenDevices: BitwardenDevices {
    private let file: SQLiteOutbox

    /// Makes the tables if they are not there, those of ``Installations`` as well.
    package init(in file: SQLiteOutbox) async throws(OutboxError) {
        try await file.open(InstallationTables.self)
        try await file.open(BitwardenTables.self)
        self.file = file
    }

    package func put(_ device: BitwardenDevice, at now: Int64, limit: Int) async throws(OutboxError) -> Bool {
        try await file.write(BitwardenTables.self) { tables throws(SQLiteError) in
            try tables.put(device, at: now, limit: limit)
        }
    }

    package func remove(_ device: Digest) async throws(OutboxError) {
        try await file.write(BitwardenTables.self) { tables throws(SQLiteError) in
            try tables.remove(device)
        }
    }

    package func change(
        _ organization: Digest, of devices: [Digest], isMember: Bool
    ) async throws(OutboxError) {
        try await file.write(BitwardenTables.self) { tables throws(SQLiteError) in
            for device in devices { try tables.change(organization, of: device, isMember: isMember) }
        }
    }

    package func phones(
        of target: BitwardenDevice.Target, except acting: Digest?
    ) async throws(OutboxError) -> [BitwardenDevice.Phone] {
        try await file.read(BitwardenTables.self) { tables throws(SQLiteError) in
            try tables.phones(of: target, except: acting)
        }
    }

    package func forget(_ phone: BitwardenDevice.Phone, registeredUntil time: Int64) async throws(OutboxError)
    {
        try await file.write(BitwardenTables.self) { tables throws(SQLiteError) in
            try tables.forget(phone, registeredUntil: time)
        }
    }
}

/// The statements of ``SQLiteBitwardenDevices``.
final class BitwardenTables: DoorTables {
    static let name = "bitwarden"
    static let steps = [
        """
        CREATE TABLE bitwarden_device (
            number INTEGER PRIMARY KEY,
            device BLOB NOT NULL UNIQUE,
            installation TEXT NOT NULL,
            user BLOB NOT NULL,
            identifier BLOB NOT NULL,
            type INTEGER NOT NULL,
            token TEXT NOT NULL,
            registered_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX bitwarden_user ON bitwarden_device (user);
        CREATE INDEX bitwarden_token ON bitwarden_device (token);
        CREATE INDEX bitwarden_installation ON bitwarden_device (installation);
        CREATE TABLE bitwarden_member (
            organization BLOB NOT NULL,
            device BLOB NOT NULL,
            PRIMARY KEY (organization, device)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX bitwarden_member_device ON bitwarden_member (device);
        CREATE TRIGGER bitwarden_device_removed AFTER DELETE ON bitwarden_device BEGIN
            DELETE FROM bitwarden_member WHERE device = old.device;
        END;
        CREATE TRIGGER bitwarden_installation_removed AFTER DELETE ON installation BEGIN
            DELETE FROM bitwarden_device WHERE installation = old.id;
        END
        """
    ]
    static let views = [
        RegistrationView(
            kind: "bitwarden",
            query: """
                SELECT lower(hex(device)) AS id, installation,
                    CASE type WHEN 0 THEN 'android' WHEN 1 THEN 'ios' ELSE type END AS type,
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

    init(_ connection: borrowing Connection) throws(SQLiteError) {
        insert = try Statement(
            """
            INSERT INTO bitwarden_device (device, installation, user, identifier, type, token, registered_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (device) DO UPDATE SET
                user = ?3, identifier = ?4, type = ?5, token = ?6, registered_at = ?7
            """, on: connection)
        find = try Statement("SELECT 1 FROM bitwarden_device WHERE device = ?", on: connection)
        room = try Statement(
            "SELECT 1 FROM bitwarden_device WHERE installation = ? LIMIT 1 OFFSET ?", on: connection)
        delete = try Statement("DELETE FROM bitwarden_device WHERE device = ?", on: connection)
        leaveAll = try Statement("DELETE FROM bitwarden_member WHERE device = ?", on: connection)
        join = try Statement(
            """
            INSERT OR IGNORE INTO bitwarden_member (organization, device)
            SELECT ?1, device FROM bitwarden_device WHERE device = ?2
            """, on: connection)
        leave = try Statement(
            "DELETE FROM bitwarden_member WHERE organization = ? AND device = ?", on: connection)
        let phone = "SELECT type, token, identifier, registered_at FROM bitwarden_device"
        selectInstallation = try Statement("\(phone) WHERE installation = ? ORDER BY number", on: connection)
        selectUser = try Statement("\(phone) WHERE user = ? ORDER BY number", on: connection)
        selectOrganization = try Statement(
            """
            \(phone) WHERE device IN (SELECT device FROM bitwarden_member WHERE organization = ?)
            ORDER BY number
            """, on: connection)
        deleteToken = try Statement(
            "DELETE FROM bitwarden_device WHERE token = ? AND type = ? AND registered_at <= ?",
            on: connection)
    }

    func put(
        _ device: BitwardenDevice, at now: Int64, limit: Int
    ) throws(SQLiteError) -> Bool {
        let isKnown = try isKnown(device.id)
        guard try isKnown ? true : hasRoom(for: device.installation, limit: limit) else { return false }
        try insert.bind(1, device.id)
        try insert.bind(2, device.installation)
        try insert.bind(3, device.user)
        try insert.bind(4, device.identifier)
        try insert.bind(5, Int64(device.type))
        try insert.bind(6, device.pushToken)
        try insert.bind(7, now)
        try insert.run()
        try leaveAll.bind(1, device.id)
        try leaveAll.run()
        for organization in device.organizations {
            try change(organization, of: device.id, isMember: true)
        }
        return true
    }

    private func isKnown(_ device: Digest) throws(SQLiteError) -> Bool {
        try find.bind(1, device)
        defer { find.reset() }
        return try find.step()
    }

    private func hasRoom(for installation: String, limit: Int) throws(SQLiteError) -> Bool {
        try room.bind(1, installation)
        try room.bind(2, Int64(limit - 1))
        defer { room.reset() }
        return try !room.step()
    }

    func remove(_ device: Digest) throws(SQLiteError) {
        try delete.bind(1, device)
        try delete.run()
    }

    func change(_ organization: Digest, of device: Digest, isMember: Bool) throws(SQLiteError) {
        func run(_ statement: borrowing Statement) throws(SQLiteError) {
            try statement.bind(1, organization)
            try statement.bind(2, device)
            try statement.run()
        }
        if isMember { try run(join) } else { try run(leave) }
    }

    func phones(
        of target: BitwardenDevice.Target, except acting: Digest?
    ) throws(SQLiteError) -> [BitwardenDevice.Phone] {
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
    ) throws(SQLiteError) -> [BitwardenDevice.Phone] {
        defer { statement.reset() }
        var phones: [BitwardenDevice.Phone] = []
        // Several users of one phone share its token.
        var places: [String: Int] = [:]
        while try statement.step() {
            guard acting == nil || Digest(statement.pair(2)) != acting else { continue }
            let phone = BitwardenDevice.Phone(
                type: Int(statement.integer(0)), pushToken: statement.text(1),
                registeredAt: statement.integer(3))
            if let place = places["\(phone.type) \(phone.pushToken)"] {
                phones[place].registeredAt = max(phones[place].registeredAt, phone.registeredAt)
            } else {
                places["\(phone.type) \(phone.pushToken)"] = phones.count
                phones.append(phone)
            }
        }
        return phones
    }

    func forget(_ phone: BitwardenDevice.Phone, registeredUntil time: Int64) throws(SQLiteError) {
        try deleteToken.bind(1, phone.pushToken)
        try deleteToken.bind(2, Int64(phone.type))
        try deleteToken.bind(3, time)
        try deleteToken.run()
    }
}
