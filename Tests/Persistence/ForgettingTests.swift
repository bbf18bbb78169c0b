import Clocks
import Relay
import TestedStores
import Testing

@testable import Persistence

/// Identities and times of clocks that were wrong.
@Suite(.serialized) struct ForgettingTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    /// The identities that are in the store.
    private func identities() throws -> Int64 {
        try Connection(directory.place, for: .reading).firstInteger("SELECT count(*) FROM identity") ?? 0
    }

    /// Stored, and delivered.
    private func deliver(
        _ numbers: ClosedRange<Int64>, acceptedAt: UnixTime, in outbox: OutboxStore
    ) async throws {
        let changes: [OutboxChange] = numbers.flatMap {
            [.store(request($0, acceptedAt: acceptedAt)), .finish(sequence: $0, .delivered)]
        }
        let stored = try await outbox.commit(changes)
        #expect(stored.last == .stored(sequence: numbers.upperBound))
    }

    @Test(arguments: TestedEngine.allCases) func aRowFromAClockThatWasAheadKeepsNoOther(
        on engine: TestedEngine
    ) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        try await deliver(1...1, acceptedAt: 1_000_000, in: outbox)
        try await deliver(2...200, acceptedAt: 100, in: outbox)
        try await deliver(201...210, acceptedAt: 300, in: outbox)
        _ = try await outbox.commit([.forget(acceptedBefore: 200, buriedBefore: 0)])
        #expect(try identities() == 11)
        #expect(
            try await outbox.commit([
                .store(request(211, identity: 150)), .store(request(212, identity: 1)),
                .lookUp(request(213, identity: 201).digests),
            ]) == [.stored(sequence: 211), .alreadyEnded(.delivered), .alreadyEnded(.delivered)])
        // A clock that has been right for long knows that the time has not come.
        _ = try await outbox.commit([.forget(acceptedBefore: 200, buriedBefore: 0, latest: 999_999)])
        #expect(try await outbox.commit([.lookUp(request(214, identity: 1).digests)]) == [.unknown])
        #expect(try identities() == 11)
        await outbox.close()
    }

    /// The other way round: what a clock that was behind has set down is as old as it says only to a clock that was there.
    @Test(arguments: TestedEngine.allCases) func whatCameAfterTheClocksWordIsNotJudgedByIt(
        on engine: TestedEngine
    ) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        try await deliver(1...1, acceptedAt: 300, in: outbox)
        _ = try await outbox.commit([.forget(acceptedBefore: 200, buriedBefore: 0, latest: 400)])
        try await deliver(2...2, acceptedAt: 5, in: outbox)
        try await deliver(3...3, acceptedAt: 5000, in: outbox)
        // The clock was set: it is not trusted for a day.
        _ = try await outbox.commit([.forget(acceptedBefore: .min, buriedBefore: .min)])
        #expect(
            try await outbox.commit((1...3).map { .lookUp(request($0).digests) })
                == [.alreadyEnded(.delivered), .alreadyEnded(.delivered), .alreadyEnded(.delivered)])
        await outbox.close()
    }

    /// A commit takes no longer for it, and nobody hears of what is still to go.
    @Test(arguments: TestedEngine.allCases) func whoUsesAUidAgainAfterADayIsNewAlsoBeforeItsRowGoes(
        on engine: TestedEngine
    ) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        try await deliver(1...1, acceptedAt: 1_000_000, in: outbox)
        for page: Int64 in 0..<6 {
            try await deliver(2 + 2000 * page...2001 + 2000 * page, acceptedAt: 100, in: outbox)
        }
        try await deliver(12_002...12_002, acceptedAt: 300, in: outbox)
        let forget = OutboxChange.forget(acceptedBefore: 200, buriedBefore: 0)
        // What came since the last time is let go twice as fast.
        _ = try await outbox.commit([.forget(acceptedBefore: .min, buriedBefore: .min)])
        _ = try await outbox.commit([forget])
        #expect(try identities() > 6000, "a part of them")
        #expect(try await outbox.state(of: request(12_001).digests.identity) == nil)
        #expect(
            try await outbox.commit([
                .lookUp(request(12_001).digests), .store(request(12_003, identity: 12_001, content: 8)),
                .store(request(12_004, identity: 12_001, content: 8)), .lookUp(request(12_002).digests),
            ]) == [
                .unknown, .stored(sequence: 12_003), .alreadyWaiting(sequence: 12_003),
                .alreadyEnded(.delivered),
            ])
        for _ in 0..<4 { _ = try await outbox.commit([forget]) }
        #expect(try identities() == 3)
        await outbox.close()
    }

    /// What waits, and what a gateway keeps, is known however old it is, and goes with its time after its end.
    @Test(arguments: TestedEngine.allCases) func whatWaitedBehindAYoungRowGoesAfterItsEnd(
        on engine: TestedEngine
    ) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        try await deliver(1...1, acceptedAt: 1_000_000, in: outbox)
        _ = try await outbox.commit([
            .store(request(2, acceptedAt: 100)), .store(request(3, acceptedAt: 100)),
        ])
        let forget = OutboxChange.forget(acceptedBefore: 200, buriedBefore: 0)
        _ = try await outbox.commit([forget])
        #expect(
            try await outbox.commit([.lookUp(request(2).digests), .lookUp(request(3).digests)])
                == [.alreadyWaiting(sequence: 2), .alreadyWaiting(sequence: 3)])
        _ = try await outbox.commit([.finish(sequence: 2, .delivered)])
        #expect(
            try await outbox.commit([.lookUp(request(2).digests), .lookUp(request(3).digests)])
                == [.unknown, .alreadyWaiting(sequence: 3)])
        _ = try await outbox.commit([forget])
        #expect(try identities() == 2)
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func aTokenThatAClockAheadHasBuriedIsForgotten(
        on engine: TestedEngine
    ) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        _ = try await outbox.commit([
            .buryToken(Digest(high: 1, low: 1), DeadToken(since: 3, buriedAt: 501)),
            .buryToken(Digest(high: 2, low: 2), DeadToken(since: 3, buriedAt: 500)),
        ])
        _ = try await outbox.commit([.forget(acceptedBefore: 200, buriedBefore: 50, latest: 500)])
        #expect(try await outbox.content().deadTokens.keys.map(\.high) == [2])
        await outbox.close()
    }
}
