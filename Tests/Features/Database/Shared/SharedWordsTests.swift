import Clocks
import Foundation
import Synchronization
import Testing
import Vectors

@testable import DatabaseEndpoint
@testable import Persistence
@testable import Relay

/// What nodes tell one another by the database, which asks nobody.
extension SharedStoreTests {
    /// How often a node was told of something.
    final class Words: Sendable {
        private let words: AsyncStream<Void>
        private let said: AsyncStream<Void>.Continuation
        private let heard = Mutex(0)

        init() { (words, said) = AsyncStream.makeStream() }

        var count: Int { heard.withLock { $0 } }

        func hear() {
            heard.withLock { $0 += 1 }
            said.yield()
        }

        /// Returns when it has been told once more.
        func next() async {
            for await _ in words { return }
        }
    }

    private func store(_ requests: [StoreRequest], by outbox: OutboxStore) async throws {
        for result in try await outbox.commit(requests.map { .store($0) }) {
            #expect({ if case .stored = result { true } else { false } }(), "\(result)")
        }
    }

    @Test func aNodeThatAsksNothingIsToldWhatAnotherHasStoredForIt() async throws {
        let (first, second) = try await pair()
        let words = Words()
        await first.listen { words.hear() }
        try await store([one(1, 3, .elsewhere(room: 9))], by: second)
        await words.next()
        let share = try await first.divide(ShareRequest())
        #expect(share.arrived.map(\.waiting) == [1])
        // What follows soon is there without a word: who was told looks again.
        try await store((3...9).map { one($0, UInt64($0), .elsewhere(room: 9)) }, by: second)
        #expect(try await first.divide(ShareRequest()).arrived.count == 7)
        // Not of what is another's.
        try await store([one(11, 200)], by: second)
        try await store([one(13, 3)], by: first)
        // What comes later is told again.
        let before = words.count
        var number: Int64 = 15
        while words.count == before {
            try await store([one(number, 4, .elsewhere(room: 1000))], by: second)
            number += 2
        }
        #expect(try await !first.divide(ShareRequest()).arrived.isEmpty)
        await first.close()
        await second.close()
    }

    @Test func aNodeIsToldByItsNextConnectionToo() async throws {
        let (first, second) = try await pair()
        let words = Words()
        await first.listen { words.hear() }
        _ = try directory.psql(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
        for outbox in [first, second] {
            while (try? await outbox.commit([.proof])) == nil { try Task.checkCancellation() }
        }
        try await store([one(1, 3, .elsewhere(room: 9))], by: second)
        await words.next()
        await first.close()
        await second.close()
    }

    /// Of two nodes the other one is told again once it looks no more; of more nobody knows here who was told of what.
    @Test func aNodeIsNotToldWithEachCommit() {
        var notified = NotifiedOwners()
        notified.nodes = 2
        #expect(NotifiedOwners.interval < Ownership.intervalNotified)
        let first: MonotonicTime = 5
        let later = first + NotifiedOwners.interval
        let asked = [
            first, first + .nanoseconds(1), later - .nanoseconds(1), later, later + .nanoseconds(1),
        ]
        var answers: [Bool] = []
        for time in asked { answers.append(notified.takeTurn(at: time)) }
        #expect(answers == [true, false, false, true, false])
        notified.nodes = 3
        let isNotified = notified.takeTurn(at: later + .nanoseconds(2))
        #expect(isNotified)
    }
}
