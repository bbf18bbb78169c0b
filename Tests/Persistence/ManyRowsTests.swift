import Clocks
import Relay
import TestedStores
import Testing

private typealias Notification = Relay.Notification

/// A commit with more than a database gets in one statement.
@Suite struct ManyRowsTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    /// One of every form: long and short, prepared or not, with each column that may be empty.
    private func one(_ sequence: Int64) -> StoreRequest {
        let simple = request(
            sequence, token: UInt64(sequence),
            message: String(repeating: "m", count: sequence.isMultiple(of: 100) ? 60_000 : 10))
        let content: Content
        switch sequence % 4 {
        case 0: return simple
        case 1: content = .prepared(PreparedPush(.object("{}"), isUrgent: true, expiry: .atOnce))
        case 2:
            content = .prepared(
                PreparedPush(
                    .exact(fields: [PreparedPush.Field("name", "value")], body: ""), isUrgent: false,
                    expiry: .withNotification))
        default:
            content = .prepared(
                PreparedPush(
                    .members("\"a\":\(sequence)"), isUrgent: true, expiry: .withNotification,
                    collapseID: "id-\(sequence)"))
        }
        let host = sequence.isMultiple(of: 3) ? LaneHost("https://example.org") : .production
        return StoreRequest(
            notification: Notification(
                id: simple.notification.id, lane: LaneID(app: "app-ä", host: host),
                deviceToken: DeviceToken("token-\(sequence)"), content: content,
                expiresAt: UnixTime(milliseconds: 9_000_000_000_000 + sequence),
                acceptedAt: UnixTime(milliseconds: sequence)),
            digests: simple.digests)
    }

    @Test(arguments: TestedEngine.allCases) func eachRowIsThereAsItCameAndGoesWithItsEnd(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        let all = (1...1500).map { one($0) }
        // What is repeated in its commit was stored before it.
        let results = try await outbox.commit(all.map { .store($0) } + [.store(all[700])])
        #expect(results == (1...1500).map { .stored(sequence: $0) } + [.alreadyWaiting(sequence: 701)])
        let found = try await outbox.notifications(Array(1...1500))
        #expect(found.count == 1500)
        for (index, request) in all.enumerated() {
            #expect(found[Int64(index) + 1] == request.notification, "\(index)")
        }
        // All but each hundredth end; one of those that did is asked for in the same commit.
        let ended = (1...1500).filter { !$0.isMultiple(of: 100) }
        #expect(
            try await outbox.commit(
                ended.map { .finish(sequence: Int64($0), .delivered) } + [.store(all[4]), .store(all[99])])
                == [.alreadyEnded(.delivered), .alreadyWaiting(sequence: 100)])
        #expect(
            try await outbox.content().waiting.map(\.sequence)
                == stride(from: Int64(100), through: 1500, by: 100).map { $0 })
        await outbox.close()
        let second = try await directory.open()
        let states = try await second.commit(all.map { .lookUp($0.digests) })
        for (sequence, state) in zip(Int64(1)..., states) {
            let isWaiting = sequence.isMultiple(of: 100)
            #expect(
                state == (isWaiting ? .alreadyWaiting(sequence: sequence) : .alreadyEnded(.delivered)),
                "\(sequence)")
        }
        await second.close()
    }

    /// Of a commit that failed nothing is in the next one.
    @Test(arguments: TestedEngine.allCases) func aCommitThatFailedLeavesNothing(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1)), .store(request(2))])
        try directory.refuseBacklog(app: "refused")
        let backlog = { (sequence: Int64, app: String) in
            let one = request(sequence, app: app)
            return OutboxChange.store(
                StoreRequest(
                    notification: one.notification, digests: one.digests, destination: .backlog(room: 9)))
        }
        for changes: [OutboxChange] in [
            [.finish(sequence: 1, .delivered), .store(request(3)), backlog(4, "refused")],
            // It is heard of before the others were written.
            [
                backlog(4, "refused"), .store(request(3)), .finish(sequence: 1, .delivered),
                backlog(5, "app"),
            ],
        ] { await #expect(throws: OutboxError.self) { try await outbox.commit(changes) } }
        let stored = try await outbox.commit([.finish(sequence: 2, .delivered), .store(request(6))])
        guard case .stored(let sequence) = stored.first else {
            Issue.record("\(stored)")
            return
        }
        #expect(try await outbox.notifications(Array(0...sequence)).keys.sorted() == [1, sequence])
        #expect(try await outbox.commit([.lookUp(request(3).digests)]) == [.unknown])
        await outbox.close()
    }
}
