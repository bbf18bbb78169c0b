import CSQLite
import Foundation
import Relay
import TestedStores
import Testing

@testable import Persistence

/// The outbox as the operator's commands see it.
@Suite struct OperatorsOutboxTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    @Test func aFullDiskIsToldWithWhatToDo() {
        let full = StoreError(code: SQLITE_FULL, operation: .step, message: "database or disk is full")
        let words = full.explained(path: "/state/outbox.sqlite").description
        #expect(words.contains("/state/outbox.sqlite: the disk is full") && words.contains("make room on it"))
        #expect(!words.contains("SQLite code"), "\(words)")
    }

    /// A list that nobody reads on must not keep the node's log from being emptied.
    @Test func whoeverTakesLongOverAListHoldsNoTransaction() async throws {
        let outbox = try await OutboxStore(path: directory.outbox)
        let count = Int64(2 * OperatorsOutbox.page + 1)
        _ = try await outbox.commit((1...count).map { .store(request($0)) })
        let log = directory.outbox + "-wal"
        let (path, empty) = (directory.outbox, OutboxChange.forget(acceptedBefore: .min, buriedBefore: .min))
        _ = try await outbox.commit([empty])
        var sizes: [Int] = []
        var listed: [Int64] = []
        let file = try OperatorsOutbox(path: path, isReadOnly: true)
        try file.forEach(app: nil) { row in
            listed.append(row.sequence)
            guard row.sequence == 1500 else { return }
            // The node goes on meanwhile; in a process of its own it would wait for nobody.
            let emptied = DispatchSemaphore(value: 0)
            Task {
                _ = try await outbox.commit([.finish(sequence: 1, .delivered)])
                _ = try await outbox.commit([empty])
                emptied.signal()
            }
            emptied.wait()
            sizes.append((try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int) ?? -1)
        }
        #expect(listed == Array(1...count))
        #expect(sizes == [0])
        await outbox.close()
    }

    /// By the node that runs, and in its place.
    @Test(arguments: [true, false], TestedEngine.allCases)
    func whatIsMovedIsClaimedForTheOther(whileTheNodeRuns: Bool, on engine: TestedEngine) async throws {
        try directory.use(engine)
        let (app, other) = (LaneID(app: "app", host: .production), LaneID(app: "other", host: .production))
        var outbox = try await directory.open()
        // Odd ones are for the first host.
        let requests = [request(1), request(3), request(5, token: 2), request(7, token: 2)]
        let lane = requests[0].notification.lane
        #expect(lane == app)
        let token = requests[0].digests.token
        _ = try await outbox.commit(requests.map { .store($0) })
        _ = try await outbox.commit([.shelve(token, [1, 2], notBefore: 5)])
        if whileTheNodeRuns {
            let others = requests[2].digests.token
            _ = try await outbox.commit([
                .shelve(others, [3, 4], notBefore: 5), .move(app, toApp: "other"),
            ])
        } else {
            await outbox.close()
            let file = try OperatorsOutbox(directory.place, isReadOnly: false)
            #expect(try file.move(app: "app", toApp: "other") == 4)
            #expect(try file.faults() == [])
            #expect(try file.makeDue(.lanes(app: "other", host: .production)) == 2)
            #expect(try file.drop(.lanes(app: nil, host: .sandbox)) == 0)
            outbox = try await directory.open()
            let content = try await outbox.content()
            #expect(content.waiting.map(\.lane) + content.backlog.map(\.lane) == [other, other, other])
        }
        let claim = { Claim(.due($0), at: 100, last: 9, limit: 9) }
        let claimed = try await outbox.claim(claim(other)).rows.map(\.row.sequence)
        #expect(claimed == (whileTheNodeRuns ? [1, 2, 3, 4] : [1, 2]))
        #expect(try await outbox.claim(claim(app)).rows.isEmpty)
        await outbox.close()
    }

    /// What the operator reads is what the node's limits count.
    @Test(arguments: TestedEngine.allCases) func bytesAreCountedAsTheNodeCountsThem(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let push = PreparedPush(
            .exact(fields: [.init("apns-topic", "a")], body: "body"), isUrgent: true, expiry: .atOnce,
            collapseID: "collapse")
        let prepared = StoreRequest(
            notification: Notification(
                id: NotificationID(high: 2, low: 2), lane: LaneID(app: "app", host: .sandbox),
                deviceToken: DeviceToken("token"), content: .prepared(push), expiresAt: 9000, acceptedAt: 5),
            digests: request(2).digests)
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1)), .store(prepared)])
        let counted = try await outbox.content().waiting.map(\.size)
        let file = try OperatorsOutbox(directory.place, isReadOnly: true)
        var listed: [Int] = []
        try file.forEach(app: "app") { listed.append($0.size) }
        #expect(listed == counted)
        #expect(listed == [request(1).notification.size, prepared.notification.size])
        #expect(try file.summary().bytes == listed.reduce(0, +))
        await outbox.close()
    }
}

extension OperatorsOutbox {
    /// Page by page, as the node's call and whoever asks it.
    borrowing func forEach(app: String?, _ body: (Row) -> Void) throws(StoreError) {
        var last: Int64 = 0
        while true {
            let rows = try page(after: last, app: app)
            for row in rows { body(row) }
            guard rows.count == OperatorsOutbox.page, let end = rows.last else { return }
            last = end.sequence
        }
    }
}
