import Crypto
import Encodings
import Gateways
import JSONCoding
import Node
import Persistence
import Tor

/// All that makes a node this node, in one file that is sealed under a passphrase (``Crypto/PassphraseSeal``).
///
///     {"onionbell_backup": 1, "address": "….onion", "made": 1790000000, "version": "…", "settings": "<YAML>",
///      "keys": {"onion-key": "<base64>", …}, "peers": {"<name>.auth": "<base64>", …} or null,
///      "credentials": {"credentials/key.p8": "<base64>", …},
///      "tables": {"phone": "<a JSON array for each row, a line each>", …}}
///
/// Waiting notifications are not in it: it would ring a second time.
package struct NodeBackup: Sendable {
    package enum Fault: SealedFileFault {
        /// The file is no backup, or somebody has written it who did not know how.
        case unreadable
        case newer
        /// The passphrase is another one, or the file was changed or cut.
        case wrongPassphrase
        case tooLong
        /// The file of this name in it is none that a node could start with.
        case unfit(String)
        case crypto(CryptoError)
    }

    /// Bytes of the text that is sealed: a full phone book of browsers has some 2 MB.
    package static let longest = 4 << 20
    /// Bytes of the sealed file.
    package static let longestFile = longest + PassphraseSeal.overhead
    /// Bytes: the passphrase guards all keys, and the file may lie anywhere.
    package static let passphraseLengths = 12...1024

    private static let head = "onionbell_backup"
    private static let formatVersion: Int64 = 1
    /// Files of the state directory.
    static let keyNames = ["onion-key", "digest-key", "status-key", "vapid-key"]

    package let address: String
    /// Seconds since 1970.
    package let madeAt: Int64
    /// The version of the program that made it.
    package let version: String
    /// The file's text; `nil`: the node keeps those that it has.
    package var settings: String?
    var keys: [ByteText: Secret] = [:]
    /// Files of the directory; `nil`: the node is public.
    var peers: [ByteText: [UInt8]]?
    /// The files of credentials by their paths: relative to the settings' directory, or absolute.
    var credentials: [ByteText: Secret] = [:]
    package var tables: [BackupTable] = []

    init(address: String, madeAt: Int64, version: String, settings: String?) {
        (self.address, self.madeAt, self.version) = (address, madeAt, version)
        self.settings = settings
    }

    func rows(of table: String) -> Int { tables.first { $0.name == table }?.rows.count ?? 0 }

    // MARK: Sealed

    package func sealed(under passphrase: Secret) throws(Fault) -> [UInt8] {
        let text = text
        guard text.count <= NodeBackup.longest else { throw .tooLong }
        do throws(CryptoError) {
            return try PassphraseSeal(passphrase: passphrase).seal(text)
        } catch {
            throw .crypto(error)
        }
    }

    package init(sealed file: [UInt8], passphrase: Secret, of kinds: DoorKinds) throws(Fault) {
        guard file.count <= NodeBackup.longestFile else { throw .tooLong }
        try self.init(
            text: PassphraseSeal.text(of: file, passphrase: passphrase, orThrow: Fault.self), of: kinds)
    }

    // MARK: The text

    var text: [UInt8] {
        func base64(_ files: [ByteText: Secret]) -> JSON {
            .object(
                JSON.Object(files.map { ($0.key.wrappedValue, JSON.string(Base64.encode($0.value.bytes))) }))
        }
        let peers = peers.map { base64($0.mapValues { Secret($0) }) } ?? .null
        let tables = JSON.Object(self.tables.map { ($0.name, JSON.string($0.lines)) })
        var text: [UInt8] = []
        text.append(
            json: [
                NodeBackup.head: .integer(NodeBackup.formatVersion), "address": .string(address),
                "made": .integer(madeAt), "version": .string(version),
                "settings": settings.map { .string($0) } ?? .null, "keys": base64(keys), "peers": peers,
                "credentials": base64(credentials), "tables": .object(tables),
            ])
        return text
    }

    /// Reads a backup. Anyone who has the passphrase may have written it: everything is looked at.
    ///
    /// - Parameter kinds: The kinds of tables that the program knows.
    init(text: [UInt8], of kinds: DoorKinds) throws(Fault) {
        guard let json = try? JSON(text, maximumDepth: 3), let version = json[NodeBackup.head]?.integer
        else {
            throw .unreadable
        }
        guard version == NodeBackup.formatVersion else {
            throw version > NodeBackup.formatVersion ? .newer : .unreadable
        }
        guard let address = json["address"]?.string, let madeAt = json["made"]?.integer,
            let program = json["version"]?.string, program.utf8.count <= 64,
            let keys = json["keys"]?.object, let credentials = json["credentials"]?.object,
            let tables = json["tables"]?.object, keys.count <= NodeBackup.keyNames.count,
            credentials.count <= 1000
        else { throw .unreadable }
        self.init(address: address, madeAt: madeAt, version: program, settings: json["settings"]?.string)
        for (name, value) in keys {
            guard NodeBackup.keyNames.contains(where: { $0.hasSameBytes(as: name) }),
                let bytes = value.string.flatMap({ Base64.decode($0) }), bytes.count <= 16_384
            else { throw .unreadable }
            guard NodeBackup.isKey(bytes, named: name) else { throw .unfit(name) }
            self.keys[ByteText(name)] = Secret(bytes)
        }
        guard let onionKey = self.keys[ByteText("onion-key")],
            let key = OnionKeyFile.parse(String(decoding: onionKey.bytes, as: UTF8.self)),
            key.address.description.hasSameBytes(as: address)
        else { throw .unreadable }
        if let files = json["peers"]?.object { peers = try NodeBackup.peers(files) }
        for (path, value) in credentials {
            guard NodeBackup.isPath(path), let bytes = value.string.flatMap({ Base64.decode($0) }) else {
                throw .unreadable
            }
            self.credentials[ByteText(path)] = Secret(bytes)
        }
        for name in BackupTable.names(of: kinds) {
            guard let lines = tables[name]?.string else { continue }
            guard let table = BackupTable(name, lines: lines, of: kinds) else { throw .unreadable }
            self.tables.append(table)
        }
    }

    private static func peers(_ files: JSON.Object) throws(Fault) -> [ByteText: [UInt8]] {
        guard files.count <= Invitations.limit else { throw .unreadable }
        var peers: [ByteText: [UInt8]] = [:]
        for (name, value) in files {
            guard name.hasSuffix(".auth"), Invitations.isName(String(name.dropLast(".auth".utf8.count))),
                let bytes = value.string.flatMap({ Base64.decode($0) })
            else { throw .unreadable }
            guard Invitations.key(of: bytes) != nil else { throw .unfit(name) }
            peers[ByteText(name)] = bytes
        }
        return peers
    }

    /// Whether a start could read a key, by the reader that the start has for it.
    private static func isKey(_ file: [UInt8], named name: String) -> Bool {
        switch name {
        case "digest-key", "status-key": StateDirectory.key(of: file) != nil
        case "vapid-key": (try? VAPIDKey(pem: file)) != nil
        case _: true  // The address is looked at with the onion key's.
        }
    }

    /// Whether a path may be written to: no way up, and nothing that ends a line.
    private static func isPath(_ path: String) -> Bool {
        guard (1...1024).contains(path.utf8.count), path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return false }
        return !path.split(separator: "/").contains("..")
    }
}

extension BackupTable {
    /// The rows as text: a JSON array for each, a line each.
    var lines: String {
        rows.map { row in
            JSON.array(
                row.map { value in
                    switch value {
                    case .null: .null
                    case .integer(let number): .integer(number)
                    case .text(let text): .string(text)
                    case .bytes(let bytes): ["base64": .string(Base64.encode(bytes))]
                    }
                }
            ).text
        }.joined(separator: "\n")
    }

    init?(_ name: String, lines: String, of kinds: DoorKinds) {
        var rows: [[BackupValue]] = []
        for line in lines.utf8.split(separator: UInt8(ascii: "\n")) {
            guard let values = (try? JSON(Array(line), maximumDepth: 2))?.array, values.count <= 32 else {
                return nil
            }
            var row: [BackupValue] = []
            for value in values {
                switch value {
                case .null: row.append(.null)
                case .integer(let number): row.append(.integer(number))
                case .string(let text): row.append(.text(text))
                case .object(let object):
                    guard let bytes = object["base64"]?.string.flatMap({ Base64.decode($0) }) else {
                        return nil
                    }
                    row.append(.bytes(bytes))
                case .bool, .number, .array: return nil
                }
            }
            rows.append(row)
        }
        self.init(name, rows: rows, of: kinds)
    }
}
