import Foundation
import TestedStores
import Testing
import Vectors

@testable import DatabaseEndpoint
@testable import Persistence
@testable import Relay

/// A database whose file system is really full.
@Suite(.serialized) struct FullDatabaseTests {
    @Test func aFullFileSystemRefusesWhatIsNewUntilThereIsRoom() async throws {
        let server = try PostgreSQLServer(small: .tables(40))
        let outbox = try await OutboxStore(Directory.place(at: server.url(try server.makeSmallDatabase())))
        let large = String(repeating: "x", count: 3000)
        var next: Int64 = 1
        var stored = 0
        func store() async throws {
            let requests = (0..<50).map { request(next + $0, message: large) }
            _ = try await outbox.commit(requests.map { .store($0) })
            next += 50
            stored += 50
        }
        try await store()
        try server.fillSmall(true)
        // Rooms that the tables have already are filled first.
        var fault: OutboxError?
        for _ in 0..<200 where fault == nil {
            do throws(any Error) { try await store() } catch { fault = error as? OutboxError }
        }
        #expect(fault == .full)
        // As long as nothing else can be written, nothing is: health says so, although there is nothing to store.
        for _ in 0..<3 { await #expect(throws: OutboxError.full) { try await outbox.commit([.proof]) } }
        #expect(try await outbox.content().waiting.count == stored)
        try server.fillSmall(false)
        _ = try await outbox.commit([.proof])
        try await store()
        #expect(try await outbox.content().waiting.count == stored)
        await outbox.close()
    }
}
