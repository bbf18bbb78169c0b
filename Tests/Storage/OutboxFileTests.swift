import Foundation
import Relay
import Testing

@testable import Storage

/// The outbox as the operator's commands see it.
@Suite struct OutboxFileTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    /// A list that nobody reads on must not keep the node's log from being emptied.
    @Test func whoeverTakesLongOverAListHoldsNoTransaction() async throws {
        let outbox = try await SQLiteOutbox(path: directory.outbox)
        let count = Int64(2 * OutboxFile.page + 1)
        _ = try await outbox.commit((1...count).map { .store(request($0)) })
        let log = directory.outbox + "-wal"
        let (path, empty) = (directory.outbox, OutboxChange.forget(acceptedBefore: .min, buriedBefore: .min))
        _ = try await outbox.commit([empty])
        var sizes: [Int] = []
        var listed: [Int64] = []
        let file = try OutboxFile(path: path, isReadOnly: true)
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

    /// What the operator reads is what the node's limits count.
    @Test func bytesAreCountedAsTheNodeCountsThem() async throws {
        let push = PreparedPush(
            .exact(fields: [.init("apns-topic", "a")], body: "body"), isUrgent: true, expiry: .atOnce,
            collapseID: "collapse")
        let prepared = StoreRequest(
            notification: Notification(
                id: NotificationID(high: 2, low: 2), lane: LaneID(app: "app", host: .sandbox),
                deviceToken: DeviceToken("token"), content: .prepared(push), expiresAt: 9000, acceptedAt: 5),
            digests: request(2).digests)
        let outbox = try await SQLiteOutbox(path: directory.outbox)
        _ = try await outbox.commit([.store(request(1)), .store(prepared)])
        let counted = try await outbox.content().waiting.map(\.size)
        let file = try OutboxFile(path: directory.outbox, isReadOnly: true)
        var listed: [Int] = []
        try file.forEach(app: "app") { listed.append($0.size) }
        #expect(listed == counted)
        #expect(listed == [request(1).notification.size, prepared.notification.size])
        #expect(try file.summary().bytes == listed.reduce(0, +))
        await outbox.close()
    }
}
