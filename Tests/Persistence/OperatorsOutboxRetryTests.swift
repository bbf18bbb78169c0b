import Clocks
import Relay
import TestedStores
import Testing

@testable import Persistence

/// What the operator makes due in place of a stopped node: the same as the running one would.
@Suite struct OperatorsOutboxRetryTests {
    let directory: Directory
    private let later = UnixTime(milliseconds: 8_000_000_000_000)

    init() throws { directory = try Directory() }

    private func due(_ file: borrowing OperatorsOutbox) throws -> [Int64] {
        var due: [Int64] = []
        try file.forEach(app: nil) { if $0.notBefore == 0 { due.append($0.sequence) } }
        return due
    }

    /// The first of a device is put off, and those behind it wait for that. They lie in either table.
    @Test(arguments: TestedEngine.allCases) func whatWaitsBehindAnotherIsMadeDueByItsNumber(
        on engine: TestedEngine
    ) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        let requests = [
            request(1), request(2), request(3, token: 2), request(4, token: 2), request(5, token: 3),
        ]
        _ = try await outbox.commit(requests.map { .store($0) })
        _ = try await outbox.commit([
            .postpone(sequence: 1, attempts: 1, notBefore: later),
            .shelve(requests[2].digests.token, [3, 4], notBefore: later),
            .postpone(sequence: 5, attempts: 1, notBefore: later),
        ])
        await outbox.close()
        let file = try OperatorsOutbox(directory.place, isReadOnly: false)
        #expect(try due(file) == [2])
        #expect(try file.makeDue(.sequences([2, 99])) == 2)
        #expect(try due(file) == [1, 2])
        #expect(try file.makeDue(.sequences([4])) == 2)
        #expect(try due(file) == [1, 2, 3, 4])
        #expect(try file.makeDue(.sequences([1, 2, 3, 4])) == 0)
        #expect(try file.makeDue(.lanes(app: "app", host: nil)) == 1)
        #expect(try file.faults() == [])
    }

    /// Apple has asked for patience at both hosts, and one of them is retried.
    @Test(arguments: TestedEngine.allCases) func theWaitThatAnotherHostAskedForStays(
        on engine: TestedEngine
    ) async throws {
        try directory.use(engine)
        let hosts = [LaneHost.production, .sandbox]
        let lanes = hosts.map { LaneID(app: "app", host: $0) }
        let record = LaneRecord(
            writtenAt: 5, pausedAt: 5, pausedUntil: later, askedUntil: later, failures: 1)
        var outbox = try await directory.open()
        _ = try await outbox.commit(
            [.store(request(1)), .store(request(2, token: 2))] + lanes.map { .lane($0, record) })
        _ = try await outbox.commit([
            .postpone(sequence: 1, attempts: 1, notBefore: later),
            .postpone(sequence: 2, attempts: 1, notBefore: later),
        ])
        await outbox.close()
        let file = try OperatorsOutbox(directory.place, isReadOnly: false)
        #expect(try file.makeDue(.sequences([2])) == 1)
        #expect(try file.makeDue(.lanes(app: "app", host: .sandbox)) == 0)
        outbox = try await directory.open()
        #expect(try await outbox.content().lanes == [lanes[0]: record])
        await outbox.close()
    }

    /// A gateway wants a device spared, and what came since is due but for that.
    @Test(arguments: TestedEngine.allCases) func whoseGatewayWantsItSparedIsPutOff(
        on engine: TestedEngine
    ) async throws {
        try directory.use(engine)
        var outbox = try await directory.open()
        let requests = [request(1), request(3, token: 2)]
        _ = try await outbox.commit(requests.map { .store($0) })
        _ = try await outbox.commit(
            requests.map {
                .spare(
                    DeviceWish(token: $0.digests.token, lane: $0.notification.lane, since: 5, until: later))
            })
        await outbox.close()
        let file = try OperatorsOutbox(directory.place, isReadOnly: false)
        #expect(try file.makeDue(.sequences([1])) == 1)
        outbox = try await directory.open()
        #expect(try await outbox.content().wishes.map(\.token) == [requests[1].digests.token])
        await outbox.close()
    }
}
