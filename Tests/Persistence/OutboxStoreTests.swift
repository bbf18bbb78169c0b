import Clocks
import Foundation
import Persistence
import Relay
import TestedStores
import Testing
import Vectors

private typealias Notification = Relay.Notification

@Suite struct OutboxStoreTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    @Test(arguments: TestedEngine.allCases) func whatWasCommittedIsThereAfterAStartAnew(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let requests = (1...5).map { request($0, app: $0 == 3 ? "other" : "app") }
        let first = try await directory.open()
        #expect(try await first.commit(requests.map { .store($0) }) == (1...5).map { .stored(sequence: $0) })
        _ = try await first.commit([
            .finish(sequence: 2, .delivered), .postpone(sequence: 4, attempts: 3, notBefore: 77),
            .buryToken(Digest(high: 8, low: 9), DeadToken(since: 5, buriedAt: 6)),
        ])
        await first.close()

        let second = try await directory.open()
        let content = try await second.content()
        #expect(content.waiting.map(\.sequence) == [1, 3, 4, 5])
        #expect(content.waiting.map(\.lane.app) == ["app", "other", "app", "app"])
        #expect(content.waiting.map(\.lane.host) == [.production, .production, .sandbox, .production])
        #expect(content.waiting[2].attempts == 3)
        #expect(content.waiting[2].notBefore == 77)
        #expect(content.waiting[0].token == Digest(high: 1, low: 1))
        #expect(content.waiting[0].size == "token-1".count + "bWVzc2FnZQ==".count)
        #expect(content.deadTokens == [Digest(high: 8, low: 9): DeadToken(since: 5, buriedAt: 6)])
        #expect(requests.allSatisfy { content.known.mayHold($0.digests.identity) })
        // It is for whoever starts with it, and nobody else holds it.
        #expect(try await second.content().known == IdentityFilter())
        let found = try await second.notifications([5, 2, 1, 99])
        #expect(found == [1: requests[0].notification, 5: requests[4].notification])
        #expect(try await second.commit([.store(request(6))]) == [.stored(sequence: 6)])
        await second.close()
    }

    @Test(arguments: TestedEngine.allCases) func aRepetitionGetsThePresentStateOfTheFirst(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        let again = { (sequence: Int64) in OutboxChange.store(request(sequence, identity: 1)) }
        #expect(
            try await outbox.commit([.store(request(1)), again(2)]) == [
                .stored(sequence: 1), .alreadyWaiting(sequence: 1),
            ])
        for ending in [
            Ending.delivered, .tokenDead(reason: .gateway("Word")),
            .tokenDead(reason: .gateway("Gone"), detail: "Since then."),
        ] {
            #expect(
                try await outbox.commit([.finish(sequence: 1, ending), again(3)]) == [.alreadyEnded(ending)])
        }
        #expect(try await outbox.commit([.store(request(4, identity: 1, content: 8))]) == [.conflict])
        #expect(try await outbox.content().waiting.isEmpty)
        await outbox.close()
    }

    /// Somebody may have mended the topic, the host or the project, and what came too late may come in time.
    @Test(arguments: TestedEngine.allCases) func whatMayBeTheConfigurationsFaultIsTriedAgain(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        let store = OutboxChange.store(request(1))
        _ = try await outbox.commit([store])
        for (number, ending) in [
            Ending.refused(reason: .gateway("DeviceTokenNotForTopic")),
            .refused(reason: .gateway("SENDER_ID_MISMATCH"), detail: "Why."),
            .refused(reason: .gateway("BadDeviceToken")), .expired,
        ].enumerated() {
            let sequence = Int64(number + 1)
            #expect(
                try await outbox.commit([.finish(sequence: sequence, ending), store])
                    == [.stored(sequence: sequence + 1)])
        }
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func identitiesAreForgottenInTimeButNeverThoseOfWaitingOnes(
        on engine: TestedEngine
    ) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        _ = try await outbox.commit([
            .store(request(1, acceptedAt: 100)), .store(request(2, acceptedAt: 100)),
            .store(request(3, acceptedAt: 200)), .finish(sequence: 1, .delivered),
            .finish(sequence: 3, .delivered),
            .buryToken(Digest(high: 1, low: 1), DeadToken(since: 90, buriedAt: 49)),
            .buryToken(Digest(high: 2, low: 2), DeadToken(since: 3, buriedAt: 50)),
            .buryToken(Digest(high: 3, low: 3), DeadToken(since: 3, buriedAt: 60)),
            .reviveToken(Digest(high: 3, low: 3)),
        ])
        _ = try await outbox.commit([.forget(acceptedBefore: 200, buriedBefore: 50)])
        #expect(
            try await outbox.commit([
                .store(request(11, identity: 1)), .store(request(12, identity: 2)),
                .store(request(13, identity: 3)),
            ]) == [.stored(sequence: 4), .alreadyWaiting(sequence: 2), .alreadyEnded(.delivered)])
        #expect(try await outbox.content().deadTokens.keys.map(\.high) == [2])
        // Nothing is older than all times.
        _ = try await outbox.commit([.forget(acceptedBefore: .min, buriedBefore: .min)])
        #expect(try await outbox.commit([.store(request(14, identity: 3))]) == [.alreadyEnded(.delivered)])
        #expect(try await outbox.content().deadTokens.keys.map(\.high) == [2])
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func endsOfOneCommitTakeTheirOwnRowsInWhateverOrderTheyCome(
        on engine: TestedEngine
    ) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        _ = try await outbox.commit((1...12).map { .store(request($0)) })
        _ = try await outbox.commit(
            [7, 2, 3, 9, 1, 6, 12].map { .finish(sequence: $0, .delivered) }
                + [.finish(sequence: 4, .expired), .finish(sequence: 8, .delivered)])
        #expect(try await outbox.content().waiting.map(\.sequence) == [5, 10, 11])
        // What a commit ends it can forget.
        _ = try await outbox.commit([
            .finish(sequence: 5, .delivered), .forget(acceptedBefore: .max, buriedBefore: 0),
        ])
        #expect(
            try await outbox.commit([.store(request(21, identity: 5)), .store(request(22, identity: 10))])
                == [.stored(sequence: 13), .alreadyWaiting(sequence: 10)])
        await outbox.close()
    }

    /// On a full disk what is not written would not fail.
    @Test func aProofIsWrittenAndChangesNothing() async throws {
        let outbox = try await OutboxStore(path: directory.outbox)
        // A start writes what is known of the clock.
        _ = try await outbox.content()
        _ = try await outbox.commit([.store(request(1)), .forget(acceptedBefore: 0, buriedBefore: 0)])
        let log = directory.outbox + "-wal"
        func written() throws -> Int { try FileManager.default.attributesOfItem(atPath: log)[.size] as! Int }
        let before = try await outbox.content()
        _ = try await outbox.commit([])
        #expect(try written() == 0)
        _ = try await outbox.commit([.proof])
        #expect(try written() > 4096)
        #expect(try await outbox.content() == before)
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func anIdentityIsForgottenWithTheEndOfWhatWaitedForLonger(
        on engine: TestedEngine
    ) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        _ = try await outbox.commit([
            .store(request(1, acceptedAt: 100)), .store(request(2, acceptedAt: 300)),
        ])
        _ = try await outbox.commit([.forget(acceptedBefore: 200, buriedBefore: 0)])
        _ = try await outbox.commit([.finish(sequence: 1, .delivered), .finish(sequence: 2, .delivered)])
        #expect(
            try await outbox.commit([.store(request(3, identity: 1)), .store(request(4, identity: 2))])
                == [.stored(sequence: 3), .alreadyEnded(.delivered)])
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func identitiesAreKnownAfterAStartAnew(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let first = try await directory.open()
        _ = try await first.commit((1...4).map { .store(request($0)) })
        _ = try await first.commit([
            .finish(sequence: 1, .delivered), .finish(sequence: 2, .tokenDead(reason: .gateway("Word"))),
            .finish(sequence: 4, .delivered), .forget(acceptedBefore: 0, buriedBefore: 0),
        ])
        await first.close()
        let second = try await directory.open()
        #expect(
            try await second.commit([
                .store(request(11, identity: 1)), .store(request(12, identity: 2)),
                .store(request(13, identity: 3)), .store(request(14, identity: 4, content: 8)),
                .store(request(15, identity: 5)),
            ]) == [
                .alreadyEnded(.delivered), .alreadyEnded(.tokenDead(reason: .gateway("Word"))),
                .alreadyWaiting(sequence: 3), .conflict, .stored(sequence: 5),
            ])
        await second.close()
    }

    @Test(arguments: TestedEngine.allCases) func whatACommitForgotIsKnownAgainWhenItFails(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1)), .finish(sequence: 1, .delivered)])
        try directory.refuse(app: "refused")
        await #expect(throws: OutboxError.self) {
            try await outbox.commit([
                .forget(acceptedBefore: .max, buriedBefore: 0), .store(request(2)),
                .store(request(3, app: "refused")),
            ])
        }
        #expect(try await outbox.commit([.store(request(3, identity: 1))]) == [.alreadyEnded(.delivered)])
        _ = try await outbox.commit([.forget(acceptedBefore: .max, buriedBefore: 0)])
        // A database gives no number again that a commit had which failed.
        let number: Int64 = engine == .database ? 4 : 2
        #expect(try await outbox.commit([.store(request(4, identity: 1))]) == [.stored(sequence: number)])
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func identitiesThatShareHalfTheirBitsAreTwo(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        #expect(
            try await outbox.commit([
                .store(request(1, identity: 1)), .store(request(2, identity: 1, identityLow: 2)),
            ]) == [.stored(sequence: 1), .stored(sequence: 2)])
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func aCommitMakesAllChangesOrNone(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1))])
        try directory.refuse(app: "refused")
        await #expect(throws: OutboxError.self) {
            try await outbox.commit([
                .finish(sequence: 1, .delivered), .store(request(2)), .store(request(3, app: "refused")),
            ])
        }
        #expect(try await outbox.content().waiting.map(\.sequence) == [1])
        let number: Int64 = engine == .database ? 4 : 2
        #expect(try await outbox.commit([.store(request(2))]) == [.stored(sequence: number)])
        await outbox.close()
    }

    @Test func nothingOfAnEndedNotificationStaysOnDisk() async throws {
        let secret = "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlY3JldA=="
        let outbox = try await OutboxStore(path: directory.outbox)
        _ = try await outbox.commit([.store(request(1, token: 4711, message: secret))])
        #expect(try isOnDisk(secret))
        _ = try await outbox.commit([.finish(sequence: 1, .delivered)])
        _ = try await outbox.commit([.forget(acceptedBefore: 0, buriedBefore: 0)])
        #expect(try !isOnDisk(secret))
        #expect(try !isOnDisk("token-4711"))
        await outbox.close()
        #expect(try !isOnDisk(secret))
    }

    private func isOnDisk(_ text: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).contains { name in
            try Data(contentsOf: URL(filePath: directory.path + "/" + name)).range(of: Data(text.utf8)) != nil
        }
    }

    @Test func theFileIsTheOwnersAlone() async throws {
        let outbox = try await OutboxStore(path: directory.outbox)
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.outbox)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        await outbox.close()
    }

    @Test func aDamagedFileIsRefusedWithWhatToDo() async throws {
        let outbox = try await OutboxStore(path: directory.outbox)
        _ = try await outbox.commit((1...500).map { .store(request($0)) })
        await outbox.close()
        let file = try FileHandle(forWritingTo: URL(filePath: directory.outbox))
        try file.seek(toOffset: 4096 * 3)
        try file.write(contentsOf: Data(repeating: 0x5a, count: 4096 * 4))
        try file.close()
        do {
            _ = try await OutboxStore(path: directory.outbox)
            Issue.record("a damaged file was taken")
        } catch {
            #expect(error.description.contains("is damaged"))
            #expect(error.description.contains(".recover"))
        }
    }

    @Test func aFileThatIsNoDatabaseIsRefused() async throws {
        try Data("this is a text file, long enough to be no database header at all".utf8)
            .write(to: URL(filePath: directory.outbox))
        await #expect(throws: StoreError.self) { try await OutboxStore(path: directory.outbox) }
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "only root may mount a file system"))
    func aFullDiskRefusesTheCommitAndWorksAgainWhenThereIsRoom() async throws {
        let small = try SmallDisk(megabytes: 4)
        defer { small.remove() }
        let outbox = try await OutboxStore(path: small.path + "/outbox.sqlite")
        _ = try await outbox.commit([.store(request(1))])
        let ballast = URL(filePath: small.path + "/ballast")
        try Data(count: 3_800_000).write(to: ballast)
        let large = String(repeating: "bWVz", count: 900)
        await #expect(throws: OutboxError.full) {
            try await outbox.commit((2...200).map { .store(request($0, message: large)) })
        }
        #expect(try await outbox.content().waiting.map(\.sequence) == [1])
        try FileManager.default.removeItem(at: ballast)
        #expect(try await outbox.commit([.store(request(2))]) == [.stored(sequence: 2)])
        await outbox.close()
    }
}
