import Crypto
import Foundation
import Relay
import TestedStores
import Testing

@testable import Bitwarden
@testable import DatabaseEndpoint
@testable import Persistence

private typealias Notification = Relay.Notification

/// Files of other formats, and what a row keeps.
@Suite struct SchemaTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    /// After a downgrade, and from before the first release: in words that say what to do, and nothing is changed.
    @Test(arguments: [
        (
            Schema.version + 1,
            "a newer onionbell has made it (format 5; this one knows 4). Install the newer one again; or put back a "
                + "copy from before the upgrade."
        ),
        (
            Schema.version - 1,
            "an onionbell from before the first release has made it (format 3; this one knows 4). Start that one until "
                + "nothing waits."
        ),
    ])
    func aFileOfAnotherFormatIsRefusedWithASentenceAndLeftAsItIs(
        format: Int64, words: String
    )
        async throws
    {
        let outbox = try await OutboxStore(path: directory.outbox)
        _ = try await outbox.commit([.store(request(1))])
        await outbox.close()
        try Connection(.file(directory.outbox), for: .owning).execute("PRAGMA user_version = \(format)")
        let bytes = try Data(contentsOf: URL(filePath: directory.outbox))
        let sentence =
            "outbox: \(directory.outbox): \(words) To begin empty, keep the file in another folder, together with its -wal "
            + "and -shm: what waits in it is then not delivered"
        let error = await #expect(throws: StoreError.self) {
            _ = try await OutboxStore(path: directory.outbox)
        }
        #expect(error?.description == sentence)
        for isReadOnly in [true, false] {
            for open in [
                { _ = try OperatorsOutbox(path: $0, isReadOnly: isReadOnly) },
                { _ = try RegistrationFile(path: $0, isReadOnly: isReadOnly) },
            ] as [(String) throws -> Void] {
                let error = #expect(throws: StoreError.self) { try open(directory.outbox) }
                #expect(error?.explained(path: directory.outbox).description == sentence)
            }
        }
        #expect(try Data(contentsOf: URL(filePath: directory.outbox)) == bytes)
    }

    /// Stores of a format have all the same tables: whoever changes a table takes the next number, and puts it here.
    @Test func aTableIsChangedOnlyWithItsFormat() {
        func sum(_ tables: [StoreTable]) -> [String] {
            ([SQLiteDialect(), PostgreSQLDialect()] as [any Dialect]).map { dialect in
                let text = tables.map { $0.statements(in: dialect) }.joined()
                return Hash.sha256(Array(text.utf8)).prefix(4).map { String($0, radix: 16) }.joined(
                    separator: ".")
            }
        }
        var sums = ["outbox \(Schema.version), \(DatabaseSchema.version)": sum(Schema.tables)]
        for door in DoorKinds.tested.all {
            sums["\(door.name) \(door.format.file), \(door.format.database)"] = sum(door.tables)
        }
        #expect(
            sums == [
                "outbox 4, 4": ["9b.28.ec.a5", "42.4.c6.37"],
                "installations 1, 1": ["7.88.bd.4b", "13.36.5d.f7"],
                "status 2, 1": ["14.db.d1.54", "25.3c.f.7f"],
                "bitwarden 1, 1": ["71.e1.ae.d4", "93.2c.bd.88"],
                "phone_book 1, 1": ["81.50.3.c4", "89.f4.2.78"],
                "clock 1, 1": ["2f.73.13.7b", "70.9c.6d.68"],
                "mailboxes 6, 6": ["f7.2d.f8.e6", "bf.e.a8.1b"],
            ])
    }

    @Test func aLaneToAnOriginComesBackAsItWas() async throws {
        let origin = try #require(LaneHost(origin: "https://push.example:8443"))
        let lane = LaneID(app: "app", host: origin)
        let requests = [PreparedPush(.members("x")), nil].enumerated().map { index, push in
            StoreRequest(
                notification: Notification(
                    id: NotificationID(high: 2, low: UInt64(index)), lane: lane,
                    deviceToken: DeviceToken("token"),
                    content: push.map { .prepared($0) } ?? request(1).notification.content, expiresAt: 9000,
                    acceptedAt: 5),
                digests: request(Int64(index)).digests)
        }
        let first = try await OutboxStore(path: directory.outbox)
        _ = try await first.commit(requests.map { .store($0) })
        await first.close()
        let second = try await OutboxStore(path: directory.outbox)
        #expect(try await second.content().waiting.map(\.lane) == [lane, lane])
        #expect(
            try await second.notifications([1, 2]) == [
                1: requests[0].notification, 2: requests[1].notification,
            ])
        await second.close()
        var listed: [LaneID] = []
        try OperatorsOutbox(path: directory.outbox, isReadOnly: true).forEach(app: "app") {
            listed.append($0.lane)
        }
        #expect(listed == [lane, lane])
    }

    @Test(arguments: [
        PreparedPush(.object(#"{"aps":{"alert":"🎺"}}"#)),
        PreparedPush(
            .object("{}", isAlert: false), isUrgent: false, expiry: .unsaid, collapseID: "c"),
        PreparedPush(.members(#""data":{}"#), expiry: .atOnce),
        PreparedPush(
            exactly: "x", fields: [.init("apns-topic", "t"), .init("apns-id", "1: 2")], isUrgent: false),
    ])
    func preparedPushesComeBackAsTheyWere(push: PreparedPush) async throws {
        let bisq = request(1)
        var requests = [bisq]
        for sequence: Int64 in 2...3 {
            requests.append(
                StoreRequest(
                    notification: Notification(
                        id: NotificationID(high: 2, low: UInt64(sequence)),
                        lane: LaneID(app: "app", host: .sandbox),
                        deviceToken: DeviceToken("token"), content: .prepared(push), expiresAt: 9000,
                        acceptedAt: 5),
                    digests: request(sequence).digests))
        }
        let first = try await OutboxStore(path: directory.outbox)
        #expect(try await first.commit(requests.map { .store($0) }) == (1...3).map { .stored(sequence: $0) })
        await first.close()
        let second = try await OutboxStore(path: directory.outbox)
        let found = try await second.notifications([1, 2, 3])
        #expect(found == [1: bisq.notification, 2: requests[1].notification, 3: requests[2].notification])
        #expect(try await second.content().waiting.map(\.size)[1] == requests[1].notification.size)
        #expect(try await second.content().waiting.map(\.isUrgent) == [true, push.isUrgent, push.isUrgent])
        await second.close()
    }
}
