import Foundation
import Testing
import Vectors

@testable import Persistence
@testable import Relay

/// What nodes tell one another by the database, which asks nobody.
extension SharedStoreTests {
    /// How often a node was told of something.
    final class Words: Sendable {
        private let words: AsyncStream<Void>
        private let said: AsyncStream<Void>.Continuation

        init() { (words, said) = AsyncStream.makeStream() }

        func hear() { said.yield() }

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
        // Once for all that one commit has stored, and not of what is another's.
        try await store((3...9).map { one($0, UInt64($0), .elsewhere(room: 9)) }, by: second)
        await words.next()
        #expect(try await first.divide(ShareRequest()).arrived.count == 7)
        try await store([one(11, 200)], by: second)
        try await store([one(13, 3)], by: first)
        // The database tells in the order of commits: what it tells next is of this one.
        try await store([one(15, 4, .elsewhere(room: 9))], by: second)
        await words.next()
        #expect(try await first.divide(ShareRequest()).arrived.count == 1)
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
}
