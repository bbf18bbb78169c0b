import Foundation
import Synchronization
import Testing
import Vectors

@testable import Persistence
@testable import Relay

/// What nodes tell one another by the database, which asks nobody.
extension SharedStoreTests {
    /// How often a node was told of something.
    final class Words: Sendable {
        private let heard = Atomic(0)

        var count: Int { heard.load(ordering: .relaxed) }
        func hear() { heard.add(1, ordering: .relaxed) }

        /// Within a while.
        func come(to count: Int) async throws -> Bool {
            for _ in 0..<500 {
                if self.count >= count { return true }
                try await Task.sleep(for: .milliseconds(10))
            }
            return false
        }
    }

    private func store(_ requests: [StoreRequest], by outbox: SQLiteOutbox) async throws {
        for result in try await outbox.commit(requests.map { .store($0) }) {
            #expect({ if case .stored = result { true } else { false } }(), "\(result)")
        }
    }

    @Test func aNodeThatAsksNothingIsToldWhatAnotherHasStoredForIt() async throws {
        let (first, second) = try await pair()
        let words = Words()
        await first.listen { words.hear() }
        try await store([one(1, 3, .elsewhere(room: 9))], by: second)
        #expect(try await words.come(to: 1))
        let share = try await first.divide(ShareRequest())
        #expect(share.arrived.map(\.waiting) == [1])
        // Once for all that one commit has stored, and not of what is another's.
        try await store((3...9).map { one($0, UInt64($0), .elsewhere(room: 9)) }, by: second)
        #expect(try await words.come(to: 2))
        try await store([one(11, 200)], by: second)
        try await store([one(13, 3)], by: first)
        try await Task.sleep(for: .milliseconds(200))
        #expect(words.count == 2)
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
            for _ in 0..<100 where (try? await outbox.commit([.proof])) == nil {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        try await store([one(1, 3, .elsewhere(room: 9))], by: second)
        #expect(try await words.come(to: 1))
        await first.close()
        await second.close()
    }
}
