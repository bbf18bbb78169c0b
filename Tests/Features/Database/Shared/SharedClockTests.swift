import Foundation
import Synchronization
import TestedStores
import Testing
import Vectors

@testable import DatabaseEndpoint
@testable import Persistence
@testable import Relay

/// Nodes of one real database whose clock has jumped, or of which somebody else has locked a table.
extension SharedStoreTests {
    /// Two hours back, as the rows show it: what was written before lies ahead by as much.
    private func putBack(_ owners: String) throws {
        _ = try directory.psql(
            "UPDATE onionbell.node SET until = until + interval '2 hours' WHERE owner IN (\(owners))")
    }

    private func milliseconds(_ expression: String, of owner: String) throws -> Int64 {
        let query = "SELECT CAST(\(expression) AS BIGINT) FROM onionbell.node WHERE owner = \(owner)"
        return try #require(Int64(directory.psql(query)))
    }

    private func known(_ outbox: OutboxStore) async throws -> SharedNodes {
        while true {
            if let known = try await outbox.divide(ShareRequest()).known { return known }
            try Task.checkCancellation()
        }
    }

    /// Its shards waited for as long as the clock had gone back.
    @Test func aLeaseAheadOfItsLengthEndsAfterItsLength() async throws {
        let (first, second) = try await pair()
        try putBack("'\\x02'")
        _ = try await first.divide(ShareRequest())
        let left = try milliseconds("extract(epoch FROM until - clock_timestamp()) * 1000", of: "'\\x02'")
        #expect((1...86_400_000).contains(left))
        // A node that lives renews it.
        _ = try await second.commit([.proof])
        #expect(try await second.divide(ShareRequest()).owned == Self.otherHalf)
        await first.close()
        await second.close()
    }

    /// The node that was right took the dead one's word for the database's clock, and Apple refused what it signed.
    @Test func aNodeFromBeforeTheJumpIsNoWitness() async throws {
        let (first, second) = try await pair()
        _ = try await first.commit([.proof])
        try putBack("'\\x02'")
        var known = try await known(first)
        // The database's clock has not really jumped: this node sees its own as right.
        for index in known.nodes.indices where known.nodes[index].isHere {
            known.nodes[index].clockAhead = .seconds(7200)
        }
        #expect(known.nodes.count == 2)
        #expect(known.nodes.allSatisfy { (7100...7300).contains($0.clockAhead.components.seconds) })
        #expect(known.clockError == .zero)
        await first.close()
        await second.close()
    }

    /// A command, which wants the database alone, waited in vain.
    @Test func aCommandWaitsForALeaseAheadNoLongerThanForOthers() async throws {
        let first = try await open(1)
        _ = try directory.psql(
            """
            INSERT INTO onionbell.node SELECT '\\x02', 2, 'gone', '1', 0, clock_timestamp() + interval '2 hours', 0, false
            FROM onionbell.node
            """)
        await first.close()
        let url = server.url(try #require(directory.database))
        let place = StorePlace.database(Directory.place(at: url, node: 3, lease: 1))
        let connection = try Connection(place, for: .owning)
        #expect(try connection.firstInteger("SELECT count(*) FROM node WHERE name = 'gone'") == 0)
    }

    /// It buried a node that had not renewed its lease yet, and both sent what was under way.
    @Test func aNodeThatStartsRightAfterAJumpTakesNothingOfOneThatLives() async throws {
        let first = try await open(1)
        _ = try await first.commit([.proof])
        // Two days ahead, as the rows show it: longer than the leases of these nodes.
        _ = try directory.psql(
            "UPDATE onionbell.node SET until = until - interval '2 days', clock_ahead = clock_ahead + 172800000"
        )
        #expect(try milliseconds("extract(epoch FROM clock_timestamp() - until)", of: "'\\x01'") > 0)
        let place = try place(2)
        async let opening = OutboxStore(place)
        while try directory.psql("SELECT count(*) FROM onionbell.node WHERE owner = '\\x02'") == "0" {
            try Task.checkCancellation()
        }
        _ = try await first.commit([.giveUp(Self.otherHalf)])
        let second = try await opening
        let share = try await first.divide(ShareRequest())
        #expect(share.owned == Self.half && share.nodes == 2)
        #expect(try await second.divide(ShareRequest()).owned == Self.otherHalf)
        await first.close()
        await second.close()
    }

    /// Nobody renews its lease in the time of one.
    @Test func whoWasDeadBeforeAJumpIsBuriedAfterTheTimeOfALease() async throws {
        let first = try await open(1)
        _ = try directory.psql(
            """
            INSERT INTO onionbell.node SELECT '\\x02', 2, 'gone', '1', 0, clock_timestamp() - interval '2 hours', 0, false
            FROM onionbell.node;
            UPDATE onionbell.node SET clock_ahead = 7200000 WHERE name = 'gone';
            UPDATE onionbell.shard SET owner = '\\x02'
            """)
        await first.close()
        let url = server.url(try #require(directory.database))
        let second = try await OutboxStore(Directory.place(at: url, node: 3, lease: 1))
        #expect(try await second.divide(ShareRequest()).owned == .all)
        await second.close()
    }

    // MARK: Locks

    /// Locks a table as VACUUM FULL does.
    private func lock(_ table: String, _ mode: String = "ACCESS EXCLUSIVE") async throws {
        let (server, database) = (server, try #require(directory.database))
        // A thread of its own: those of tasks are few.
        Thread.detachNewThread {
            _ = try? server.psql(
                database, "BEGIN; LOCK TABLE onionbell.\(table) IN \(mode) MODE; SELECT pg_sleep(600)")
        }
        while try directory.psql("SELECT count(*) FROM pg_stat_activity WHERE \(Self.holder)") == "0" {
            try Task.checkCancellation()
        }
    }

    private static let holder = "datname = current_database() AND wait_event = 'PgSleep'"

    /// Ends those who hold tables, and waits until they are gone: until then they are listed.
    private func unlock() throws {
        _ = try directory.psql(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE \(Self.holder)")
    }

    /// Nobody had renewed it, and another node took all that this one had.
    @Test func aLockedTableIsNamedAndEndsNoLease() async throws {
        let (first, second) = try await pair()
        let end = "extract(epoch FROM until) * 1000000"
        let before = try milliseconds(end, of: "'\\x01'")
        try await lock("identity")
        do throws(OutboxError) {
            _ = try await first.commit([.store(one(1, 3))])
            Issue.record("it was stored")
        } catch {
            guard case .locked(let reason) = error else { return #expect(Bool(false), "\(error)") }
            #expect(reason.contains("holds the table identity"))
        }
        #expect(try milliseconds(end, of: "'\\x01'") > before)
        try unlock()
        #expect(try await first.commit([.store(one(1, 3))]).count == 1)
        await first.close()
        await second.close()
    }

    /// Who waits for a table to have it alone has nothing yet, and all wait behind.
    @Test func whoWaitsForATableIsNamedWithWhoHoldsIt() async throws {
        let (first, second) = try await pair()
        try await lock("identity", "ACCESS SHARE")
        let (server, database) = (server, try #require(directory.database))
        Thread.detachNewThread {
            _ = try? server.psql(database, "BEGIN; LOCK TABLE onionbell.identity; SELECT pg_sleep(600)")
        }
        while try directory.psql("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0" {
            try Task.checkCancellation()
        }
        do throws(OutboxError) {
            _ = try await first.commit([.store(one(1, 3))])
            Issue.record("it was stored")
        } catch {
            guard case .locked(let reason) = error else { return #expect(Bool(false), "\(error)") }
            #expect(reason.contains("psql) waits for the table identity, which this one holds: process "))
        }
        // The one, and then the other, which has the table now.
        try unlock()
        while try directory.psql("SELECT count(*) FROM pg_stat_activity WHERE \(Self.holder)") == "0" {
            try Task.checkCancellation()
        }
        try unlock()
        #expect(try await first.commit([.store(one(1, 3))]).count == 1)
        await first.close()
        await second.close()
    }

    /// It ended with status 69, and its service started it again, until the lock was gone.
    @Test func aStartWaitsForALock() async throws {
        let first = try await open(1)
        _ = try await first.commit([.store(one(1, 3))])
        await first.close()
        try await lock("notification")
        let place = try place(1)
        let end = End()
        async let opening = {
            defer { end.hasCome.store(true, ordering: .relaxed) }
            let outbox = try await OutboxStore(place)
            let waiting = try await outbox.content().waiting.count
            await outbox.close()
            return waiting
        }()
        // One try after the other: each has a connection, and asks anew.
        let waits = """
            SELECT coalesce(string_agg(CAST(query_start AS TEXT), ','), '') FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        var tries: Set<String> = []
        while tries.count < 2, !end.hasCome.load(ordering: .relaxed) {
            let seen = try directory.psql(waits)
            if !seen.isEmpty { tries.insert(seen) }
            try Task.checkCancellation()
        }
        try unlock()
        #expect(try await opening == 1)
    }
}

/// Whether something that goes on by itself has come to its end.
private final class End: Sendable {
    let hasCome = Atomic(false)
}
