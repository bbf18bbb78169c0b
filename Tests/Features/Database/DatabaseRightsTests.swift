import Clocks
import Crypto
import Foundation
import PostgreSQL
import TestedStores
import Testing
import Vectors

@testable import DatabaseEndpoint
@testable import Persistence
@testable import Relay

/// A database that does not let the node do all: it works with what it needs, and says what is missing.
@Suite(.serialized) struct DatabaseRightsTests {
    let directory: Directory
    private let server: PostgreSQLServer
    private let role: String

    init() throws {
        directory = try Directory()
        try directory.use(.database)
        server = try PostgreSQLServer.shared.get()
        role = "role_\(UUID().uuidString.prefix(8).lowercased())"
    }

    private func place() throws -> DatabasePlace {
        let url = server.url(try #require(directory.database))
        return Directory.place(at: "postgresql://\(role)@" + url.dropFirst("postgresql://onionbell@".count))
    }

    private func reason(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "nothing was wrong"
        } catch {
            return "\(error)"
        }
    }

    /// The administrator makes the schema, and gives the role no right to make one.
    @Test func aRoleWithTheSchemaAloneIsEnough() async throws {
        _ = try directory.psql("CREATE ROLE \(role) LOGIN; CREATE SCHEMA onionbell")
        let refused = await reason { await (try await OutboxStore(place())).close() }
        #expect(refused.contains("GRANT USAGE, CREATE ON SCHEMA onionbell"), "\(refused)")
        _ = try directory.psql("GRANT USAGE, CREATE ON SCHEMA onionbell TO \(role)")
        let outbox = try await OutboxStore(place())
        #expect(try await outbox.commit([.store(request(1))]) == [.stored(sequence: 1)])
        // What it needs later is named as well.
        _ = try directory.psql(
            """
            REVOKE USAGE ON SCHEMA onionbell FROM \(role);
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '\(role)'
            """)
        var lost: [String] = []
        for number in 2...4 as ClosedRange<Int64> {
            lost.append(await reason { _ = try await outbox.commit([.store(request(number))]) })
        }
        #expect(lost.contains { $0.contains("GRANT USAGE, CREATE ON SCHEMA onionbell") }, "\(lost)")
        _ = try directory.psql("GRANT USAGE ON SCHEMA onionbell TO \(role)")
        let again = await reason { _ = try await outbox.commit([.store(request(5))]) }
        #expect(again == "nothing was wrong")
        await outbox.close()
    }

    @Test func aDatabaseThatTakesNoChangesIsNotCalledFull() async throws {
        await (try await directory.open()).close()
        let name = try #require(directory.database)
        _ = try server.psql("postgres", "ALTER DATABASE \(name) SET default_transaction_read_only = on")
        let words = await reason { await (try await directory.open()).close() }
        #expect(words.contains("This server takes no changes"), "\(words)")
        #expect(!words.contains("room"))
        let outbox = OutboxError.failed(words)
        #expect(!outbox.advice.contains("room") && OutboxError.full.advice.contains("room"))
    }

    /// Where a table of prepared statements is shared, the second node would fail later, in words about "s1".
    @Test func aPoolerThatSharesConnectionsIsRefused() async throws {
        let own = try PostgreSQLServer()
        try own.startPooler(mode: "transaction")
        let words = await reason {
            await (try await OutboxStore(Directory.place(at: own.poolerURL("postgres")))).close()
        }
        #expect(words.contains("pool_mode = session"), "\(words)")
        try own.stopPooler()
    }

    @Test func aNewPasswordIsUsedByTheNextConnection() async throws {
        let own = try PostgreSQLServer(withTLS: true)
        let url = own.url("postgres", host: "db.example", authority: "ca")
        func place(_ word: String) -> StorePlace {
            .database(
                DatabasePlace(
                    PostgreSQLAddress(url: url, password: Secret(word)), key: Directory.key(7),
                    owner: [1], name: "node 1", version: "1"))
        }
        let outbox = try await OutboxStore(place(PostgreSQLServer.password))
        _ = try await outbox.commit([.store(request(1))])
        try own.psql("postgres", "ALTER ROLE onionbell PASSWORD 'another'")
        try own.psql(
            "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        )
        await #expect(throws: OutboxError.self) { try await outbox.commit([.store(request(2))]) }
        await #expect(throws: OutboxError.self) { try await outbox.commit([.store(request(2))]) }
        await outbox.use(place("another"))
        #expect(try await outbox.commit([.store(request(2))]).count == 1)
        await outbox.close()
    }

    /// A backup holds one open, and what is gone stays.
    @Test func anOpenTransactionIsTold() async throws {
        let outbox = try await directory.open()
        let address = PostgreSQLAddress(url: server.url(try #require(directory.database)))
        let backup = try PostgreSQLConnection(address)
        try backup.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class")
        for number in 1...20 as ClosedRange<Int64> { _ = try await outbox.commit([.store(request(number))]) }
        let holder = try #require(try DatabaseReport.read(at: address).holder)
        #expect(holder.name.contains("process ") && holder.age >= 20 && holder.time != nil, "\(holder)")
        try backup.execute("COMMIT")
        await outbox.close()
    }
}

/// The number up to which a poll skips all.
@Suite struct PollFloorTests {
    @Test func whatCameSinceTheFullPollBeforeTheLastIsNeverSkipped() {
        var poll = PollFloor()
        #expect(poll.begin(at: 0) == 0)
        poll.end(lowestFound: nil, highestGiven: 100)
        #expect(poll.begin(at: 1) == 0, "one that had its number before may come yet")
        poll.end(lowestFound: nil, highestGiven: 200)
        #expect(poll.begin(at: .second(60)) == 0)
        poll.end(lowestFound: nil, highestGiven: 300)
        #expect(poll.begin(at: .second(60) + .nanoseconds(1)) == 100)
        poll.end(lowestFound: nil, highestGiven: 400)
        // The full poll of each minute finds one, which stays in sight.
        #expect(poll.begin(at: .second(120)) == 0)
        poll.end(lowestFound: 50, highestGiven: 500)
        #expect(poll.begin(at: .second(120) + .nanoseconds(1)) == 49)
    }
}
