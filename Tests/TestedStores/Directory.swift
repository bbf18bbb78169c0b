import Bitwarden
import Crypto
import DatabaseEndpoint
import Foundation
import MailboxEndpoint
import MemoryStore
import Persistence
import PostgreSQL
import StatusIMEndpoint
import Testing
import Vectors

/// The engines of a store: most of what it promises holds in each.
package enum TestedEngine: CaseIterable, CustomTestStringConvertible {
    case file, database, memory

    package var testDescription: String {
        switch self {
        case .file: "SQLite"
        case .database: "PostgreSQL"
        case .memory: "memory"
        }
    }
}

extension DoorKinds {
    /// The kinds of a node with all features.
    package static let tested = DoorKinds(
        of: BitwardenFeature.tables + StatusIMFeature.tables + MailboxFeature.tables)
}

extension OutboxStore {
    package init(_ engine: some Engine) async throws(StoreError) { try await self.init(StorePlace(engine)) }
}

/// A state directory of one test, removed with it, and a database of its own if the test asks for one.
package final class Directory {
    package let path: String
    package var outbox: String { path + "/outbox.sqlite" }
    package private(set) var database: String?
    package private(set) var place: StorePlace

    package init() throws {
        path = FileManager.default.temporaryDirectory.path + "/onionbell-storage-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        place = .file(path + "/outbox.sqlite", .tested)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// From now on the store lies there.
    package func use(_ engine: TestedEngine) throws {
        if engine == .memory { place = StorePlace(try MemoryEngine(), .tested) }
        guard engine == .database else { return }
        let server = try PostgreSQLServer.shared.get()
        let name = try server.makeDatabase()
        database = name
        place = .database(Directory.place(at: server.url(name)), .tested)
    }

    /// - Parameters:
    ///   - node: One of several.
    ///   - lease: Seconds. However slow the machine is, none ends by itself.
    package static func place(
        at url: String, node: UInt8 = 1, key: UInt8 = 7, lease: Int = 86_400
    ) -> DatabasePlace {
        DatabasePlace(
            PostgreSQLAddress(url: url), key: self.key(key), owner: [node], name: "node \(node)",
            version: "1", lease: lease)
    }

    package static func key(_ byte: UInt8) -> Secret { Secret([UInt8](repeating: byte, count: 32)) }

    package func open() async throws(StoreError) -> OutboxStore {
        try await OutboxStore(place)
    }

    package func psql(_ sql: String) throws -> String {
        try PostgreSQLServer.shared.get().psql(try #require(database), sql)
    }

    /// The same of the backlog.
    package func refuseBacklog(app: String) throws { try refuse(app: app, in: "backlog") }

    /// From now on the store takes no notification for that app: the commit that holds one fails.
    package func refuse(app: String, in table: String = "notification") throws {
        if database != nil {
            _ = try psql("ALTER TABLE onionbell.\(table) ADD CHECK (app <> '\(app)')")
            return
        }
        let trigger = """
            CREATE TRIGGER refusal BEFORE INSERT ON \(table) WHEN new.app = '\(app)'
            BEGIN SELECT RAISE(ABORT, 'refused'); END
            """
        try Connection(place, for: .changing).execute(trigger)
    }
}
