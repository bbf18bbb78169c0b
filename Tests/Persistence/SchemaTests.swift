import Foundation
import Relay
import Testing

@testable import Persistence

private typealias Notification = Relay.Notification

/// Files of earlier versions, and what this version has added.
@Suite struct SchemaTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    /// As version 1 made it, with one notification that waits.
    private func leaveVersion1() throws {
        let connection = try Connection(.file(directory.outbox), for: .owning)
        try connection.execute(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE notification (
                sequence INTEGER PRIMARY KEY, id BLOB NOT NULL, app TEXT NOT NULL, flags INTEGER NOT NULL,
                token TEXT NOT NULL, message TEXT NOT NULL, token_digest BLOB NOT NULL, accepted_at INTEGER NOT NULL,
                expires_at INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, not_before INTEGER NOT NULL DEFAULT 0
            ) STRICT;
            CREATE TABLE identity (
                sequence INTEGER PRIMARY KEY, digest BLOB NOT NULL, content BLOB NOT NULL, accepted_at INTEGER NOT NULL,
                ending INTEGER, reason TEXT, detail TEXT
            ) STRICT;
            CREATE TABLE dead_token (
                digest BLOB PRIMARY KEY, since INTEGER NOT NULL, buried_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            INSERT INTO notification VALUES (4, x'00000000000000010000000000000002', 'app', \(1 + 2 + 8), 'token-1', 'QUJD',
                x'00000000000000030000000000000004', 5, 9000, 2, 77);
            INSERT INTO identity VALUES (4, x'00000000000000050000000000000006', x'00000000000000070000000000000008', 5,
                NULL, NULL, NULL);
            PRAGMA user_version = 1;
            """)
    }

    @Test func whatVersion1LeftIsDelivered() async throws {
        try leaveVersion1()
        let outbox = try await OutboxStore(path: directory.outbox)
        #expect(
            try await outbox.content().backlog == [
                LaneBacklog(
                    lane: LaneID(app: "app", host: .sandbox), waiting: 1, bytes: 11, oldestAcceptedAt: 5)
            ])
        let claim = Claim(.due(LaneID(app: "app", host: .sandbox)), at: 100, last: 4, limit: 5)
        let row = try #require(try await outbox.claim(claim).rows.first).row
        #expect(row.attempts == 2 && row.notBefore == 77 && row.isUrgent && row.size == 11)
        #expect(
            try await outbox.notifications([4])[4]
                == Notification(
                    id: NotificationID(high: 1, low: 2), lane: LaneID(app: "app", host: .sandbox),
                    deviceToken: DeviceToken("token-1"),
                    message: "QUJD", isUrgent: true, hasSound: false, isMutableContent: true,
                    isContentAvailable: false, expiresAt: 9000, acceptedAt: 5))
        let repeated = StoreRequest(
            notification: request(5).notification,
            digests: SubmissionDigests(
                token: Digest(high: 3, low: 4), identity: Digest(high: 5, low: 6),
                content: Digest(high: 7, low: 8)))
        #expect(try await outbox.commit([.store(repeated)]) == [.alreadyWaiting(sequence: 4)])
        await outbox.close()
        let again = try await OutboxStore(path: directory.outbox)
        #expect(try await again.claim(claim).rows.map(\.row.sequence) == [4])
        await again.close()
    }

    /// As version 2 made it, with so many that wait.
    private func leaveVersion2(waiting count: Int) throws {
        try leaveVersion1()
        let connection = try Connection(.file(directory.outbox), for: .owning)
        try connection.execute(
            """
            ALTER TABLE notification ADD COLUMN collapse_id TEXT;
            ALTER TABLE notification ADD COLUMN android TEXT;
            CREATE TABLE door (name TEXT PRIMARY KEY, steps INTEGER NOT NULL) STRICT;
            DELETE FROM notification;
            DELETE FROM identity;
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(count))
            INSERT INTO notification
                SELECT n, CAST(printf('%016d', n) AS BLOB), iif(n % 3, 'app', 'other'), 8 + n % 2, printf('token-%d', n % 100),
                    'QUJD', CAST(printf('%016d', n % 100) AS BLOB), 5, 9000000000000, 0, 0, NULL, NULL
                FROM number;
            INSERT INTO identity SELECT sequence, id, id, 5, NULL, NULL, NULL FROM notification;
            PRAGMA user_version = 2;
            """)
    }

    @Test func whatVersion2LeftIsDelivered() async throws {
        try leaveVersion2(waiting: 1000)
        let outbox = try await OutboxStore(path: directory.outbox)
        let content = try await outbox.content()
        #expect(content.waiting.isEmpty && content.lastSequence == 1000)
        #expect(content.backlog.map(\.waiting).reduce(0, +) == 1000)
        var waiting: [Int64] = []
        for backlog in content.backlog {
            let claimed = try await outbox.claim(Claim(.due(backlog.lane), at: 100, last: 1000, limit: 1000))
            #expect(claimed.rows.count == backlog.waiting)
            #expect(claimed.rows.map(\.row.size).reduce(0, +) == backlog.bytes)
            for row in claimed.rows {
                let sequence = row.row.sequence
                #expect(backlog.lane.app == (sequence % 3 == 0 ? "other" : "app"))
                #expect(backlog.lane.host == (sequence % 2 == 0 ? .production : .sandbox))
            }
            waiting += claimed.rows.map(\.row.sequence)
        }
        #expect(waiting.sorted() == Array(1...1000))
        let found = try await outbox.notifications(waiting)
        #expect(found.count == 1000)
        #expect(found[7]?.deviceToken.text == "token-7")
        #expect(try await outbox.commit([.store(request(1001))]) == [.stored(sequence: 1001)])
        await outbox.close()
    }

    /// As version 3 made it: without what version 4 added, with one that waits and one that is in the backlog.
    @Test func whatVersion3LeftIsDelivered() async throws {
        let new = try await OutboxStore(path: directory.outbox)
        let shelved = StoreRequest(
            notification: request(2).notification, digests: request(2, token: 2).digests,
            place: .backlog(room: 9))
        _ = try await new.commit([.store(request(1)), .store(shelved)])
        await new.close()
        try Connection(.file(directory.outbox), for: .owning).execute(
            "DROP TABLE wish; DROP TABLE lane_state; DROP TABLE clock; PRAGMA user_version = 3")
        let file = try OutboxFile(path: directory.outbox, isReadOnly: false)
        #expect(try file.makeDue(.lanes(app: nil, host: nil)) == 0)
        let outbox = try await OutboxStore(path: directory.outbox)
        var content = try await outbox.content()
        #expect(content.waiting.map(\.sequence) == [1])
        #expect(content.backlog.map(\.waiting) == [1])
        #expect(content.wishes.isEmpty && content.lanes.isEmpty)
        let wish = DeviceWish(
            token: Digest(high: 2, low: 2), lane: LaneID(app: "app", host: .production), since: 5, until: 9)
        _ = try await outbox.commit([.spare(wish)])
        content = try await outbox.content()
        #expect(content.wishes == [wish])
        await outbox.close()
    }

    /// After a downgrade: which is newer, what to do, and nothing is changed.
    @Test func whatALaterVersionWroteIsRefusedWithASentenceAndLeftAsItIs() async throws {
        let outbox = try await OutboxStore(path: directory.outbox)
        _ = try await outbox.commit([.store(request(1))])
        await outbox.close()
        let later = Schema.version + 1
        try Connection(.file(directory.outbox), for: .owning).execute("PRAGMA user_version = \(later)")
        let bytes = try Data(contentsOf: URL(filePath: directory.outbox))
        let sentence =
            "outbox: \(directory.outbox): a newer onionbell has written it (format \(later); this one reads up to "
            + "\(Schema.version)). Install the newer one again; or put back a copy from before the upgrade; or move "
            + "the file away together with its -wal and -shm, and what waits in it is not delivered"
        let error = await #expect(throws: StoreError.self) {
            _ = try await OutboxStore(path: directory.outbox)
        }
        #expect(error?.description == sentence)
        for isReadOnly in [true, false] {
            for open in [
                { _ = try OutboxFile(path: $0, isReadOnly: isReadOnly) },
                { _ = try RegistrationFile(path: $0, isReadOnly: isReadOnly) },
            ] as [(String) throws -> Void] {
                let error = #expect(throws: StoreError.self) { try open(directory.outbox) }
                #expect(error?.explained(path: directory.outbox).description == sentence)
            }
        }
        #expect(try Data(contentsOf: URL(filePath: directory.outbox)) == bytes)
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
        try OutboxFile(path: directory.outbox, isReadOnly: true).forEach(app: "app") {
            listed.append($0.lane)
        }
        #expect(listed == [lane, lane])
    }

    @Test func theOperatorReadsAFileOfVersion1() throws {
        try leaveVersion1()
        let file = try OutboxFile(path: directory.outbox, isReadOnly: true)
        #expect(try file.summary().waiting == 1)
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
