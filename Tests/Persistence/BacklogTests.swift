import Clocks
import Foundation
import Relay
import TestedStores
import Testing
import Vectors

@testable import Persistence

private typealias Notification = Relay.Notification

/// What waits on disk only: handed out as the model that the simulation uses hands it out, over restarts and commits
/// that fail.
@Suite struct BacklogTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    /// A walk through all that a node may ask of its outbox, in step with the model.
    @Test(
        arguments: (1...(isLong ? 6 : 2)).map { ($0, TestedEngine.file) }
            + (7...(isLong ? 8 : 7)).map { ($0, TestedEngine.database) }
            + (9...(isLong ? 12 : 9)).map { ($0, TestedEngine.memory) })
    func itIsAsTheModel(seed: UInt64, on engine: TestedEngine) async throws {
        try directory.use(engine)
        var walk = Walk(
            seed: seed, outbox: try await directory.open(), reserves: engine == .database)
        for _ in 0..<400 { try await walk.step(directory) }
        #expect(walk.claims > 20)
        await walk.outbox.close()
        #expect(try OperatorsOutbox(directory.place, isReadOnly: true).faults() == [])
    }

    private struct Walk {
        static let lanes = [
            LaneID(app: "app", host: .production), LaneID(app: "app", host: .sandbox),
            LaneID(app: "web", host: LaneHost(origin: "https://a.example")!),
        ]
        static let devices: UInt64 = 5

        var random: SeededRandom
        var outbox: OutboxStore
        var model = ModelOutbox()
        var now: UnixTime = 1_000_000
        /// In memory, as the node would have it.
        var memory: Set<Int64> = []
        var identities: UInt64 = 0
        var claims = 0

        /// See ``ModelOutbox/reserve(for:)``.
        let reserves: Bool

        init(seed: UInt64, outbox: OutboxStore, reserves: Bool) {
            self.reserves = reserves
            random = SeededRandom(state: seed)
            self.outbox = outbox
        }

        mutating func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

        mutating func step(_ directory: Directory) async throws {
            now = now + .milliseconds(draw(2000))
            switch draw(20) {
            case 0..<8: try await commit(stores())
            case 8..<12: try await claim(.due(Walk.lanes[draw(Walk.lanes.count)]))
            case 12: try await claim(.expired)
            case 13..<16: try await commit(ends())
            case 16..<18: try await commit(shelving())
            case 18: try await commit(draw(3) == 0 ? retrying() : postponing())
            default: if draw(3) == 0 { try await restart(directory) }
            }
        }

        private mutating func stores() -> [OutboxChange] {
            (0...draw(4)).map { _ in
                let device = UInt64(draw(Int(Walk.devices)))
                let lane = Int(device) % Walk.lanes.count
                identities += 1
                let isRepetition = identities > 2 && draw(8) == 0
                let identity = isRepetition ? identities - 2 : identities
                // The node never goes past what its device has on disk.
                let isOnDisk = model.rows.values.contains {
                    $0.token == Digest(high: device, low: 1) && $0.isShelved && !memory.contains($0.sequence)
                }
                return .store(
                    StoreRequest(
                        notification: Notification(
                            id: NotificationID(high: identity, low: 1), lane: Walk.lanes[lane],
                            deviceToken: DeviceToken("token\(device)"), message: "QUJD",
                            isUrgent: draw(2) == 0,
                            hasSound: true, isMutableContent: false, isContentAvailable: false,
                            expiresAt: now + .milliseconds(draw(100_000)), acceptedAt: now),
                        digests: SubmissionDigests(
                            token: Digest(high: device, low: 1),
                            identity: Digest(high: identity &* 0x9e37_79b9_7f4a_7c15, low: 1),
                            content: Digest(high: 1, low: 1)),
                        destination: isOnDisk || draw(2) == 0 ? .backlog(room: 12) : .window))
            }
        }

        private mutating func some() -> [ModelOutbox.Row] {
            memory.sorted().compactMap { model.rows[$0] }.filter { _ in draw(4) == 0 }
        }

        private mutating func ends() -> [OutboxChange] {
            some().map {
                memory.remove($0.sequence)
                return .finish(sequence: $0.sequence, draw(2) == 0 ? .delivered : .expired)
            }
        }

        private mutating func postponing() -> [OutboxChange] {
            some().map {
                .postpone(
                    sequence: $0.sequence, attempts: $0.attempts + 1,
                    notBefore: draw(3) == 0 ? 0 : now + .milliseconds(draw(20_000)))
            }
        }

        private mutating func retrying() -> [OutboxChange] {
            [.retry(Walk.lanes[draw(Walk.lanes.count)], at: now)]
        }

        private mutating func shelving() -> [OutboxChange] {
            let token = Digest(high: UInt64(draw(Int(Walk.devices))), low: 1)
            let sequences = memory.filter { model.rows[$0]?.token == token }.sorted()
            guard !sequences.isEmpty else { return [] }
            memory.subtract(sequences)
            return [.shelve(token, sequences, notBefore: now + .milliseconds(1 + draw(5000)))]
        }

        private mutating func commit(_ changes: [OutboxChange]) async throws {
            guard !changes.isEmpty else { return }
            let results = try await outbox.commit(changes)
            var wrongs: [String] = []
            #expect(
                results
                    == model.commit(changes, numbers: reserves ? model.reserve(for: changes) : []) {
                        wrongs.append($0)
                    })
            #expect(wrongs == [])
            let requests = changes.compactMap { if case .store(let request) = $0 { request } else { nil } }
            for (request, result) in zip(requests, results) {
                if case .stored(let sequence) = result, request.destination == .window {
                    memory.insert(sequence)
                }
            }
        }

        private mutating func claim(_ kind: Claim.Kind) async throws {
            let highest = model.rows.keys.max() ?? 0
            let claim = Claim(kind, at: now, last: highest - Int64(draw(3)), limit: 1 + draw(8))
            let claimed = try await outbox.claim(claim)
            #expect(claimed == model.claim(claim))
            claims += claimed.rows.count
            memory.formUnion(claimed.rows.map(\.row.sequence))
        }

        private mutating func restart(_ directory: Directory) async throws {
            await outbox.close()
            outbox = try await directory.open()
            model.restart()
            let (real, wanted) = (try await outbox.content(), model.content)
            #expect(real.waiting == wanted.waiting)
            #expect(real.lastSequence >= wanted.waiting.last?.sequence ?? 0)
            let sums = { (backlog: [LaneBacklog]) in
                Dictionary(uniqueKeysWithValues: backlog.map { ($0.lane, [$0.waiting, $0.bytes]) })
            }
            #expect(sums(real.backlog) == sums(wanted.backlog))
            memory = Set(real.waiting.map(\.sequence))
        }
    }

    /// What a commit would have changed of what was handed out is as before.
    @Test(arguments: TestedEngine.allCases) func aFailedCommitTakesNothingBack(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let lane = LaneID(app: "app", host: .production)
        let outbox = try await directory.open()
        func store(_ sequence: Int64, app: String = "app") -> OutboxChange {
            let request = request(sequence, token: UInt64(sequence), app: app)
            return .store(
                StoreRequest(
                    notification: request.notification, digests: request.digests,
                    destination: .backlog(room: 9)))
        }
        _ = try await outbox.commit([store(1), store(3), store(5)])
        try directory.refuseBacklog(app: "bad")
        let claim = Claim(.due(lane), at: 5000, last: 99, limit: 1)
        #expect(try await outbox.claim(claim).rows.map(\.row.sequence) == [1])
        await #expect(throws: OutboxError.self) {
            try await outbox.commit([
                .shelve(Digest(high: 1, low: 1), [1], notBefore: 1), store(7, app: "bad"),
            ])
        }
        #expect(try await outbox.claim(claim).rows.map(\.row.sequence) == [2])
        #expect(try await outbox.claim(claim).rows.map(\.row.sequence) == [3])
        _ = try await outbox.commit([.shelve(Digest(high: 1, low: 1), [1], notBefore: 1)])
        #expect(try await outbox.claim(claim).rows.map(\.row.sequence) == [1])
        await outbox.close()
    }

    @Test func identitiesAreFoundAmongMany() throws {
        var known = KnownIdentities()
        var random = SeededRandom(state: 5)
        let digests = (1...20_000).map { _ in Digest(high: random.next(), low: random.next()) }
        for (index, digest) in digests.enumerated() { known.enter(digest, at: Int64(index + 1)) }
        known.committed()
        for index in stride(from: 0, to: digests.count, by: 3) {
            known.leave(digests[index], at: Int64(index + 1))
        }
        known.committed()
        for (index, digest) in digests.enumerated() {
            let found = try known.first(of: digest) { $0 == Int64(index + 1) }
            #expect((found != nil) == (index % 3 != 0))
        }
        #expect(known.count == 20_000 - 6667)
        known.enter(digests[0], at: 99_999)
        known.rolledBack()
        #expect(try known.first(of: digests[0]) { _ in true } == nil)
    }
}
