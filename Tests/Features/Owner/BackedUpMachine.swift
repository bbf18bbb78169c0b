import FeatureList
import Foundation
import MailboxEndpoint
import Persistence
import Reactor
import Relay
import Tor

@testable import Bitwarden
@testable import Node
@testable import Owner

/// The files of a node that does not run: settings with credentials beside them, state directory and store.
final class BackedUpMachine {
    let directory: String
    var configuration: String { directory + "/onionbell.yaml" }
    var state: String { directory + "/state" }
    /// The settings that the node has started with.
    let running: Settings

    init() async throws {
        directory = FileManager.default.temporaryDirectory.path + "/onionbell-backup-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory + "/credentials", withIntermediateDirectories: true)
        try Self.text(directory).write(
            toFile: directory + "/onionbell.yaml", atomically: true, encoding: .utf8)
        running = try Settings(file: directory + "/onionbell.yaml", environment: [:], features: .built)
        try PrivateFile.write("key one", to: directory + "/credentials/one.p8", replacing: false)
        try PrivateFile.makeDirectory(state)
        _ = try OnionKeyFile(path: StateDirectory.onionKey(in: state)).loadOrCreate()
        _ = try StateDirectory.digestKey(in: state)
        try await loseStore()
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private static func text(_ directory: String) -> String {
        """
        state_directory: "\(directory)/state"
        apps:
          - {name: ios, gateway: apns, topic: t, key_file: credentials/one.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}
        log: {level: info}

        """
    }

    /// The store is gone, and the node has begun an empty one.
    func loseStore() async throws {
        for ending in ["", "-wal", "-shm", "-run"] { unlink("\(state)/outbox.sqlite\(ending)") }
        await (try OutboxStore(.file(StateDirectory.outbox(in: state)))).close()
    }

    /// Another machine that is this node, as far as keys and settings go.
    func twin() async throws -> BackedUpMachine {
        let twin = try await BackedUpMachine()
        for name in NodeBackup.keyNames where access("\(state)/\(name)", F_OK) == 0 {
            let key = try PrivateFile.read("\(state)/\(name)", limit: 4096)
            try PrivateFile.write(key, to: "\(twin.state)/\(name)", replacing: true)
        }
        return twin
    }

    func store() throws -> RegistrationFile {
        try RegistrationFile(
            path: StateDirectory.outbox(in: state), of: Features.built.tables, isReadOnly: false)
    }

    func edit(_ old: String, _ new: String) throws {
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        try text.replacing(old, with: new).write(toFile: configuration, atomically: true, encoding: .utf8)
    }

    func addMailbox(_ name: String, readers: [String], number: UInt64) throws {
        let mailbox = Mailbox(
            name: name, show: .bell, isOpen: false, topic: Digest(high: number, low: 1),
            readers: readers.enumerated().map { index, reader in
                Mailbox.Reader(name: reader, token: Digest(high: number, low: 100 + UInt64(index)))
            })
        _ = try store().add(mailbox, address: Digest(high: number, low: 2), addedAt: 7)
    }

    func addPhone(_ name: String, token: String) throws {
        let phone = PhoneBook.Phone(
            number: 0, name: name, platform: .ios, deviceToken: DeviceToken(token))
        _ = try store().add(PhoneEntry(phone, model: "iPhone X", addedAt: 7))
    }

    // MARK: Copies

    /// The backup as it comes out of its file.
    func backup() throws -> NodeBackup {
        try NodeBackup(
            text: NodeBackup.read(running, from: configuration, at: 5000).text, of: Features.built.tables)
    }

    /// Takes a backup in, and starts.
    func open(_ backup: NodeBackup) throws {
        let plan = try MovePlan(
            backup, settingsFile: configuration, running: running, keepsSettings: false)
        try MovingIn.stage(plan.backup, in: state)
        _ = try MovingIn.finish(running, settingsFile: configuration)
    }

    /// All that a backup brings, each row with the names of what it belongs to; no numbers.
    func content() throws -> Set<String> {
        var content: Set<String> = []
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        content.insert("settings: " + text.replacing(directory, with: "DIR"))
        for name in NodeBackup.keyNames {
            guard let key = try? PrivateFile.read("\(state)/\(name)", limit: 4096) else { continue }
            content.insert("\(name): \(key)")
        }
        for name in try PrivateFile.names(in: directory + "/credentials") {
            let bytes = try PrivateFile.read("\(directory)/credentials/\(name)", limit: 4096)
            content.insert("\(name): \(String(decoding: bytes, as: UTF8.self))")
        }
        let invitations = try Invitations(path: StateDirectory.peers(in: state)).load()
        content.insert("private: \(invitations != nil)")
        for (name, key) in invitations ?? [:] { content.insert("\(name): \(key.line)") }
        try addRows(to: &content)
        return content
    }

    private func addRows(to content: inout Set<String>) throws {
        let store = try store()
        let (entries, book) = try store.phoneBook()
        for entry in entries {
            content.insert("phone: \(entry.phone.name) \(entry.phone.deviceToken.text) \(entry.model)")
            if let alias = book.alias(of: entry.phone.name) {
                content.insert("alias: \(entry.phone.name) \(alias.text)")
            }
        }
        for mailbox in try store.mailboxes() {
            content.insert("mailbox: \(mailbox.name) \(mailbox.topic) \(String(describing: mailbox.address))")
            for reader in mailbox.readers {
                content.insert("reader: \(mailbox.name) \(reader.name) \(reader.token)")
            }
            for publisher in mailbox.publishers {
                content.insert("publisher: \(mailbox.name) \(publisher.name) \(publisher.token)")
            }
        }
        if let one = try store.installation("one") { content.insert("installation: \(one)") }
    }
}
