import Crypto
import Foundation
import PostgreSQL
import TestedStores
import Testing
import Vectors

@testable import DatabaseEndpoint
@testable import Persistence
@testable import Relay

/// What only a store in PostgreSQL has to promise: a lease, and nothing lost with a connection.
@Suite(.serialized) struct DatabaseTests {
    let directory: Directory
    private let server: PostgreSQLServer

    init() throws {
        directory = try Directory()
        try directory.use(.database)
        server = try PostgreSQLServer.shared.get()
    }

    private var url: String {
        get throws { server.url(try #require(directory.database)) }
    }

    /// What a dump shows, and so what the write-ahead log, standbys and backups may keep.
    @Test func aDumpShowsNoTokenAndNoMessage() async throws {
        let outbox = try await directory.open()
        let push = PreparedPush(
            .exact(fields: [.init("apns-topic", "secret-field")], body: "secret-body"), isUrgent: true,
            expiry: .atOnce, collapseID: "secret-collapse")
        let prepared = StoreRequest(
            notification: Notification(
                id: NotificationID(high: 2, low: 2), lane: LaneID(app: "app", host: .sandbox),
                deviceToken: DeviceToken("secret-token"), content: .prepared(push), expiresAt: 9000,
                acceptedAt: 5), digests: request(2).digests, destination: .backlog(room: 9))
        _ = try await outbox.commit([.store(request(1, message: "secret-message")), .store(prepared)])
        let found = try await outbox.notifications([1, 2])
        #expect(found[2] == prepared.notification)
        await outbox.close()
        var dump = ""
        for table in ["notification", "backlog", "identity", "node"] {
            dump += try directory.psql("SELECT * FROM onionbell.\(table)")
            dump += try directory.psql("SELECT encode(t::text::bytea, 'escape') FROM onionbell.\(table) t")
        }
        let hex = { (text: String) in text.utf8.map { String(format: "%02x", $0) }.joined() }
        #expect(dump.contains("app"))
        for secret in ["secret", "token-1"] {
            #expect(!dump.contains(secret) && !dump.contains(hex(secret)))
        }
    }

    @Test func aNodeWithAnotherKeyIsRefused() async throws {
        await (try await directory.open()).close()
        do {
            _ = try await OutboxStore(Directory.place(at: url, key: 8))
            Issue.record("another key was taken")
        } catch {
            #expect("\(error)".contains("another digest key"))
        }
    }

    /// Each in words that say what to do, and nothing is changed.
    @Test(arguments: [
        (
            DatabaseSchema.version + 1,
            "a newer onionbell has made the store in this database (format 5; this one knows 4)"
        ),
        (
            DatabaseSchema.version - 1,
            "an onionbell from before the first release has made the store in this database (format 3; this one knows 4). "
                + "Copy it to a file with that one, and back with this one"
        ),
    ])
    func aStoreOfAnotherFormatIsRefused(format: Int64, words: String) async throws {
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1))])
        await outbox.close()
        _ = try directory.psql("UPDATE onionbell.format SET version = \(format)")
        let before = try directory.psql(
            "SELECT count(*) FROM onionbell.notification; SELECT epoch FROM onionbell.cluster")
        do {
            _ = try await directory.open()
            Issue.record("another format was taken")
        } catch {
            #expect("\(error)".contains(words), "\(error)")
        }
        #expect(throws: StoreError.self) { _ = try OperatorsOutbox(directory.place, isReadOnly: true) }
        #expect(
            try directory.psql(
                "SELECT count(*) FROM onionbell.notification; SELECT epoch FROM onionbell.cluster") == before)
        _ = try directory.psql("UPDATE onionbell.format SET version = \(DatabaseSchema.version)")
        let again = try await directory.open()
        #expect(try await again.content().waiting.count == 1)
        await again.close()
    }

    /// The node counts its own from before a commit began, and stops sending first, whatever the clocks do.
    @Test func aNodesLeaseEndsBeforeTheDatabases() async throws {
        #expect(Lease.length + .seconds(1) <= .seconds(Database.lease))
        #expect(Lease.renewal * 2 < Lease.length)
        let outbox = try await OutboxStore(Directory.place(at: url, lease: Database.lease))
        _ = try await outbox.commit([.proof])
        let left = "SELECT until - clock_timestamp() <= interval '8 seconds' FROM onionbell.node"
        #expect(try directory.psql(left) == "t")
        await outbox.close()
    }

    /// A node that was stopped, or cut off, for longer than its lease.
    @Test func aNodeThatWasAwayWritesNothingMore() async throws {
        let first = try await directory.open()
        _ = try await first.commit([.store(request(1))])
        _ = try directory.psql("UPDATE onionbell.node SET until = clock_timestamp() - interval '1 second'")
        let second = try await OutboxStore(Directory.place(at: url, node: 2))
        do {
            _ = try await first.commit([.finish(sequence: 1, .delivered), .store(request(2))])
            Issue.record("a node without its lease has written")
        } catch {
            #expect("\(error)".contains("another node has had this database meanwhile"))
        }
        await #expect(throws: OutboxError.self) { try await first.content() }
        #expect(try await second.content().waiting.map(\.sequence) == [1])
        await second.close()
        // Nobody has it now: what the first knows is old all the same.
        await #expect(throws: OutboxError.self) { try await first.commit([.store(request(2))]) }
        await first.close()
    }

    /// The database's clock says when a lease ends, and not the node's.
    @Test func aNodeThatWasKilledNeedNotWaitForItself() async throws {
        let first = try await directory.open()
        _ = try await first.commit([.store(request(1))])
        let again = try await directory.open()
        #expect(try await again.content().waiting.map(\.sequence) == [1])
        await #expect(throws: OutboxError.self) { try await first.commit([.store(request(2))]) }
        await first.close()
        #expect(try await again.commit([.store(request(2))]) == [.stored(sequence: 3)])
        await again.close()
    }

    /// The answer to a commit is lost with the connection: the next one sees what became of it.
    @Test(arguments: [LineCutter.Cut.before, .after], [true, false])
    func aCommitWhoseAnswerWasLostIsLookedUp(_ cut: LineCutter.Cut, isBackAtOnce: Bool) async throws {
        let cutter = try LineCutter(to: server.directory)
        defer { cutter.close() }
        let name = try #require(directory.database)
        let outbox = try await OutboxStore(Directory.place(at: cutter.url(name)))
        _ = try await outbox.commit([.store(request(1))])
        if !isBackAtOnce { try allowConnections(false) }
        cutter.cut(cut)
        let changes: [OutboxChange] = [
            .finish(sequence: 1, .delivered), .store(request(2)), .store(request(3)),
        ]
        let results = try? await outbox.commit(changes)
        let isMade = cut == .after && isBackAtOnce
        #expect(results == (isMade ? [.stored(sequence: 2), .stored(sequence: 3)] : nil))
        if !isBackAtOnce {
            await #expect(throws: OutboxError.self) { try await outbox.commit([.store(request(4))]) }
            try allowConnections(true)
        }
        #expect(
            try directory.psql("SELECT count(*) FROM onionbell.notification") == (cut == .after ? "2" : "1"))
        // Whoever was told to come again comes again; what is stored is not stored twice, since another node may have called
        // it stored meanwhile.
        let again = try await outbox.commit(changes)
        if cut == .after {
            #expect(again == [.alreadyWaiting(sequence: 2), .alreadyWaiting(sequence: 3)])
        } else {
            #expect(again.allSatisfy { if case .stored = $0 { true } else { false } })
        }
        let arrived = try await outbox.divide(ShareRequest()).arrived.reduce(0) { $0 + $1.waiting }
        #expect(arrived == (cut == .after && !isBackAtOnce ? 2 : 0))
        #expect(try await outbox.content().waiting.count == 2 - arrived)
        #expect(try directory.psql("SELECT count(*) FROM onionbell.identity") == "3")
        await outbox.close()
        #expect(try OperatorsOutbox(directory.place, isReadOnly: true).faults() == [])
    }

    private func allowConnections(_ isAllowed: Bool) throws {
        _ = try server.psql(
            "postgres", "ALTER DATABASE \(try #require(directory.database)) ALLOW_CONNECTIONS \(isAllowed)")
    }

    /// A loss of PostgreSQL's power: nothing that was told is lost, and it comes back by itself.
    @Test func whatWasStoredOutlivesTheServer() async throws {
        let own = try PostgreSQLServer()
        let outbox = try await OutboxStore(Directory.place(at: own.url("postgres")))
        #expect(try await outbox.commit([.store(request(1))]) == [.stored(sequence: 1)])
        for round in 2...4 as ClosedRange<Int64> {
            try own.stopImmediately()
            await #expect(throws: OutboxError.self) { try await outbox.commit([.store(request(round))]) }
            await #expect(throws: OutboxError.self) { try await outbox.commit([.proof]) }
            try own.start()
            // Numbers that a lost commit may have used are not given again.
            let results = try await outbox.commit([.store(request(round)), .store(request(1))])
            #expect(results.last == .alreadyWaiting(sequence: 1))
        }
        #expect(try await outbox.content().waiting.count == 4)
        await outbox.close()
    }

    /// A standby server takes over for good, as `synchronous_standby_names` makes it able to.
    @Test func whatWasStoredOutlivesThePrimaryServer() async throws {
        let primary = try PostgreSQLServer()
        let standby = try PostgreSQLServer(standbyOf: primary)
        try primary.waitForStandby()
        let url =
            "postgresql://onionbell@/postgres?host=\(primary.directory),\(standby.directory)&target_session_attrs=read-write"
        let report = try DatabaseReport.read(at: PostgreSQLAddress(url: url))
        #expect(report.standbys == 1 && report.synchronousStandbys == 1)
        let outbox = try await OutboxStore(Directory.place(at: url))
        #expect(try await outbox.commit([.store(request(1))]) == [.stored(sequence: 1)])
        try primary.stopImmediately()
        await #expect(throws: OutboxError.self) { try await outbox.commit([.store(request(2))]) }
        try standby.promote()
        let results = try await outbox.commit([.store(request(1)), .store(request(2))])
        #expect(results.first == .alreadyWaiting(sequence: 1))
        #expect(try await outbox.content().waiting.count == 2)
        await outbox.close()
    }

    /// What the doctor judges.
    @Test func aDatabaseTellsHowItKeepsWhatItIsGiven() async throws {
        let address = PostgreSQLAddress(url: try url)
        #expect(try DatabaseReport.read(at: address).owner == nil)
        let outbox = try await OutboxStore(Directory.place(at: url, lease: Database.lease))
        let report = try DatabaseReport.read(at: address)
        #expect(report.owner == "node 1")
        #expect(!report.fsync, "the tests' server has it off")
        #expect(report.fullPageWrites && report.synchronousCommit == "on" && report.standbys == 0)
        await outbox.close()
        #expect(try DatabaseReport.read(at: address).owner == nil)
    }

    @Test func aFullDiskIsSaidToBeFull() {
        let full = StoreError(PostgreSQLError(state: "53100", message: "no space"), .step)
        #expect(full.kind == .full)
    }

    @Test(arguments: [
        ("postgresql:///bell?host=/run/postgresql", "prefer"), ("postgresql://a@localhost/bell", "prefer"),
        ("postgresql://a@127.0.0.1:5433/bell", "prefer"), ("postgresql://a@db.example/bell", "verify-full"),
        ("postgresql:///bell?hostaddr=192.0.2.1", "verify-full"), ("postgresql:///bell", "verify-full"),
        ("postgresql://localhost,db.example/bell", "verify-full"),
        ("postgresql://db.example/bell?sslmode=require", "require"),
    ])
    func otherHostsHaveToProveWhoTheyAre(_ url: String, mode: String) throws {
        let parameters = try PostgreSQLAddress(url: url, password: Secret("word")).parameters()
        #expect(parameters.last { $0.name == "sslmode" }?.value == mode)
        #expect(parameters.last { $0.name == "password" }?.value == "word")
    }

    @Test(arguments: ["postgresql://a:b@localhost/bell", "postgresql:///bell?password=b"])
    func aPasswordInTheAddressIsRefused(_ url: String) {
        #expect(throws: PostgreSQLError.self) { try PostgreSQLAddress(url: url).parameters() }
    }
}
