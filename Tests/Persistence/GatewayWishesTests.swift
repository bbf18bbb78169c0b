import Clocks
import Relay
import TestedStores
import Testing

@testable import Persistence

/// What gateways asked for, and how lanes stand, on disk.
@Suite struct GatewayWishesTests {
    let directory: Directory
    private let origin = LaneID(app: "web", host: LaneHost("https://push.example:8443"))
    private let app = LaneID(app: "app", host: .production)

    init() throws { directory = try Directory() }

    private func wish(_ token: UInt64, _ lane: LaneID, until: UnixTime) -> DeviceWish {
        DeviceWish(token: Digest(high: token, low: token), lane: lane, since: 5, until: until)
    }

    private func record(failures: Int, reason: String? = nil) -> LaneRecord {
        LaneRecord(
            writtenAt: 4, pausedAt: 3, pausedUntil: 60_000, askedUntil: 50_000, failures: failures,
            block: reason.map { LaneRecord.Block(reason: $0, since: 2) })
    }

    @Test(arguments: TestedEngine.allCases) func theyComeBackAsTheyWere(on engine: TestedEngine) async throws
    {
        try directory.use(engine)
        let first = try await directory.open()
        _ = try await first.commit([
            .spare(wish(1, app, until: 100)), .spare(wish(2, origin, until: 200)),
            .spare(wish(1, app, until: 300)), .lane(app, record(failures: 2)),
            .lane(origin, record(failures: 1, reason: "Forbidden")), .lane(app, record(failures: 3)),
        ])
        await first.close()
        let second = try await directory.open()
        let content = try await second.content()
        #expect(
            content.wishes.sorted { $0.until < $1.until } == [
                wish(2, origin, until: 200), wish(1, app, until: 300),
            ])
        #expect(
            content.lanes == [app: record(failures: 3), origin: record(failures: 1, reason: "Forbidden")])
        _ = try await second.commit([.forgetWishes([Digest(high: 2, low: 2)]), .lane(origin, nil)])
        await second.close()
        let third = try await directory.open()
        #expect(try await third.content().wishes == [wish(1, app, until: 300)])
        #expect(try await third.content().lanes == [app: record(failures: 3)])
        await third.close()
    }

    /// `onionbell outbox retry` means now.
    @Test(arguments: TestedEngine.allCases) func whatTheOperatorMakesDueWaitsForNoWish(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        _ = try await outbox.commit([
            .store(request(1, token: 1)), .store(request(2, token: 2)),
            .postpone(sequence: 1, attempts: 1, notBefore: 900), .spare(wish(1, app, until: 900)),
            .spare(wish(2, app, until: 900)), .lane(app, record(failures: 1)),
        ])
        await outbox.close()
        let makeDue = { [directory] selection throws(StoreError) in
            try OperatorsOutbox(directory.place, isReadOnly: false).makeDue(selection)
        }
        #expect(try makeDue(.sequences([1])) == 1)
        #expect(try await left() == ([wish(2, app, until: 900)], 1))
        // Put off by its gateway's wish alone.
        #expect(try makeDue(.lanes(app: nil, host: nil)) == 1)
        #expect(try await left() == ([], 0))
    }

    private func left() async throws -> ([DeviceWish], Int) {
        let outbox = try await directory.open()
        let content = try await outbox.content()
        await outbox.close()
        return (content.wishes, content.lanes.count)
    }
}
