import Foundation
import Relay
import TestedStores
import Testing

@testable import Bitwarden
@testable import DatabaseEndpoint
@testable import MailboxEndpoint
@testable import Persistence
@testable import StatusIMEndpoint

/// A store is copied from a file into a database and back: nothing is lost, and nobody uses half of it.
@Suite(.serialized) struct StoreCopyTests {
    let directory: Directory
    private var file: StorePlace { .file(directory.outbox, .tested) }

    init() throws {
        directory = try Directory()
        try directory.use(.database)
    }

    private func open(_ place: StorePlace) async throws -> OutboxStore {
        try await OutboxStore(place)
    }

    /// Something in every table.
    private func fill(_ count: Int64) async throws {
        let outbox = try await open(file)
        let lane = LaneID(app: "app", host: .production)
        _ = try await outbox.commit(
            (1...count).map { number in
                let one = request(number, token: UInt64(number), message: "message \(number)")
                return .store(
                    StoreRequest(
                        notification: one.notification, digests: one.digests,
                        destination: number.isMultiple(of: 3) ? .backlog(room: 9) : .window))
            })
        let push = PreparedPush(
            .exact(fields: [.init("apns-topic", "a")], body: "body"), isUrgent: true, expiry: .atOnce,
            collapseID: "collapse")
        let prepared = StoreRequest(
            notification: Notification(
                id: NotificationID(high: 2, low: 2), lane: LaneID(app: "app", host: .sandbox),
                deviceToken: DeviceToken("token"), content: .prepared(push), expiresAt: 9000, acceptedAt: 5),
            digests: SubmissionDigests(
                token: Digest(high: 0, low: 5), identity: Digest(high: 0, low: 5),
                content: Digest(high: 1, low: 1)))
        _ = try await outbox.commit([
            .store(prepared), .finish(sequence: 1, .delivered),
            .finish(sequence: 2, .tokenDead(reason: .gateway("Gone"), detail: "Since then.")),
            .buryToken(Digest(high: 8, low: 9), DeadToken(since: 5, buriedAt: 6)),
            .spare(DeviceWish(token: Digest(high: 1, low: 1), lane: lane, since: 5, until: 9)),
            .lane(lane, LaneRecord(writtenAt: 4, pausedAt: 3, pausedUntil: 6, askedUntil: 5, failures: 1)),
            .clock(ClockRecord(trusted: 5, setAt: nil)),
        ])
        try await StoredInstallations(in: outbox).put(
            Installation(id: "one", keyDigest: Digest(high: 1, low: 2), addedAt: 7))
        let bitwarden = try await StoredBitwardenDevices(in: outbox)
        let device = BitwardenDevice(
            id: Digest(high: 1, low: 9), installation: "one", user: Digest(high: 2, low: 9),
            identifier: Digest(high: 3, low: 9), type: 0, pushToken: "push",
            organizations: [Digest(high: 4, low: 9)])
        #expect(try await bitwarden.put(device, at: 1, limit: 5))
        let status = try await StoredStatusIMRegistrations(in: outbox, limits: .init())
        let key = StatusIMRegistration.Key(
            owner: Digest(high: 1, low: 0), installation: Digest(high: 1, low: 1))
        #expect(try await status.put([1, 2], of: key, version: .max, at: 1) == .stored)
        try await status.remember(Digest(high: 6, low: 6), [7], at: 1, forgettingBefore: 0)
        let mailboxes = try await StoredMailboxes(in: outbox)
        _ = try await PhoneBookReader(in: outbox)
        do {
            let file = try RegistrationFile(file, isReadOnly: false)
            let mailbox = Mailbox(
                name: "me", show: .bell, isOpen: false, topic: Digest(high: 2, low: 2),
                readers: [.init(name: "phone", token: Digest(high: 3, low: 3))])
            #expect(try file.add(mailbox, address: Digest(high: 1, low: 1), addedAt: 1))
            let publisher = Mailbox.Publisher(name: "cron", token: Digest(high: 4, low: 4))
            #expect(try file.add(publisher, to: "me", addedAt: 1) == .added)
            for token in ["one", "two"] {
                let phone = PhoneBook.Phone(
                    number: 0, name: "alice", platform: .android, deviceToken: DeviceToken(token))
                _ = try file.add(PhoneEntry(phone, model: "Pixel", addedAt: 1))
            }
            // Its number is never given again.
            #expect(try file.removePhones(of: "alice", number: 2) == 1)
            let alias = PhoneBook.alias(String(repeating: "a", count: 96))
            #expect(try file.giveAlias(alias, to: "alice", replacing: false) == .success(alias))
        }
        let message = MailboxMessage(
            id: "abcdefghijkl", acceptedAt: 1, expiresAt: 99, isUrgent: true, text: "text", replaces: "old")
        let put = try await mailboxes.put(
            message, to: Digest(high: 1, low: 1), keeping: nil, within: MailboxBounds())
        #expect(put.result == .stored(1))
        let later = MailboxMessage(
            id: "bcdefghijklm", acceptedAt: 7, expiresAt: 99, isUrgent: true, text: "later", replaces: "job",
            isPublished: true, delayedBy: Digest(high: 4, low: 4))
        #expect(
            try await mailboxes.put(
                later, to: Digest(high: 1, low: 1), keeping: nil, within: MailboxBounds()
            ).result == .stored(1))
        let reader = try #require(
            try await mailboxes.all(unless: nil)?.mailboxes.first?.readers.first?.number)
        try await mailboxes.note([(reader, MailboxSent(after: 1, upTo: 2, id: "x"))])
        // The first one was not sent to the reader.
        _ = try await mailboxes.acknowledge([MailboxReceipt(reader: reader, after: 1, upTo: 2)], at: 0)
        let reply = try await mailboxes.post(
            [1, 2], digest: Digest(high: 1, low: 3), in: Digest(high: 1, low: 4), by: Digest(high: 1, low: 1),
            at: 1, within: MailboxReplyBounds())
        #expect(reply == .stored)
        await outbox.close()
        try Connection(file, for: .owning).execute("INSERT INTO mailbox_gone VALUES (77)")
    }

    /// All rows of all tables, as text.
    private func content(_ place: StorePlace) throws -> [String: [[String]]] {
        let connection = try Connection(place, for: .owning)
        var content: [String: [[String]]] = [:]
        let doors = try DoorKinds.tested.all.flatMap { kind in
            try kind.tables.map { ($0, try kind.owners(of: $0, in: connection)) }
        }
        for (table, owners) in Schema.tables.map({ ($0, Schema.owners(of: $0)) }) + doors where table.isCopied
        {
            let rows = try Statement("SELECT \(table.names) FROM \(table.name)", on: connection)
            var found: [[String]] = []
            while try rows.step() {
                found.append(
                    try table.copiedColumns.enumerated().map { index, column in
                        "\(try column.value(Int32(index), of: rows, owners(column, rows)))"
                    })
            }
            content[table.name] = found.sorted { $0.joined() < $1.joined() }
        }
        // What triggers of a file count, a database counts when it is asked.
        let lanes = try Statement(
            """
            SELECT app, \(Schema.hostKey()), count(*), CAST(sum(\(Schema.size(in: connection.dialect))) AS BIGINT)
            FROM backlog GROUP BY 1, 2
            """, on: connection)
        while try lanes.step() {
            content["lane", default: []].append(
                (0..<4).map { $0 < 2 ? lanes.text($0) : "\(lanes.integer($0))" })
        }
        content["lane"]?.sort { $0.joined() < $1.joined() }
        return content
    }

    @Test(arguments: [TestedEngine.database, .memory])
    func nothingIsLostOnTheWayThereAndBack(by engine: TestedEngine) async throws {
        try directory.use(engine)
        try await fill(StoreCopy.page * 3 / 2)
        let before = try content(file)
        #expect(before.values.allSatisfy { !$0.isEmpty }, "\(before.filter { $0.value.isEmpty }.keys)")
        try StoreCopy(from: file, to: directory.place).run { _, _ in }
        #expect(try content(directory.place) == before)
        if engine == .database {
            #expect(try directory.psql("SELECT sequence FROM onionbell.mailbox_gone") == "77")
        }
        let back = StorePlace.file(directory.path + "/back.sqlite", .tested)
        try StoreCopy(from: directory.place, to: back).run { _, _ in }
        #expect(try content(back) == before)
        for place in [directory.place, back] {
            #expect(try OperatorsOutbox(place, isReadOnly: true).faults() == [])
            let outbox = try await open(place)
            // The node goes on where it was.
            #expect(
                try await outbox.commit([
                    .store(request(1, token: 1, message: "message 1")), .store(request(9_000_000)),
                ]) == [.alreadyEnded(.delivered), .stored(sequence: StoreCopy.page * 3 / 2 + 2)])
            await outbox.close()
            let registrations = try RegistrationFile(place, isReadOnly: false)
            let phone = PhoneBook.Phone(
                number: 0, name: "alice", platform: .android, deviceToken: DeviceToken("three"))
            #expect(
                try registrations.add(PhoneEntry(phone, model: "", addedAt: 1)) == .success(3))
        }
    }

    /// Nobody takes the half. When it is begun again it is a copy of what the source has then.
    @Test func aCopyThatWasCutShortIsBegunAnew() async throws {
        try await fill(2 * StoreCopy.page + 7)
        let before = try content(file)
        let place = try #require(directory.place.engine as? DatabasePlace)
        do {
            let copy = try StoreCopy(from: file, to: directory.place)
            _ = try directory.psql(
                "ALTER TABLE onionbell.notification ADD CONSTRAINT cut CHECK (sequence < \(StoreCopy.page * 7 / 4))"
            )
            #expect(throws: StoreError.self) { try copy.run { _, _ in } }
        }
        #expect(try directory.psql("SELECT count(*) > 0 FROM onionbell.notification") == "t")
        do {
            _ = try await OutboxStore(place)
            Issue.record("a node has taken half a store")
        } catch {
            #expect("\(error)".contains("cut short"))
        }
        _ = try directory.psql("ALTER TABLE onionbell.notification DROP CONSTRAINT cut")
        // A node has used the source meanwhile: rows are gone, rows are others.
        let outbox = try await open(file)
        _ = try await outbox.commit([.finish(sequence: 5, .delivered), .finish(sequence: 7, .delivered)])
        await outbox.close()
        try Connection(file, for: .owning).execute(
            "UPDATE mailbox_reader SET acknowledged = 9; UPDATE status_registration SET version = 3")
        let after = try content(file)
        #expect(after != before)
        try StoreCopy(from: file, to: directory.place).run { _, _ in }
        #expect(try content(directory.place) == after)
        // What is there is never overwritten.
        #expect(throws: StoreError.self) { try StoreCopy(from: file, to: directory.place) }
        #expect(throws: StoreError.self) { try StoreCopy(from: directory.place, to: file) }
    }

    /// The node that uses it would not start again.
    @Test func aDatabaseThatANodeUsesIsNotMarkedByACopy() async throws {
        try await fill(3)
        let node = try await open(directory.place)
        let renewal = Task {
            while !Task.isCancelled { _ = try await node.commit([.proof]) }
        }
        let place = try #require(directory.place.engine as? DatabasePlace)
        for other in [
            Directory.place(at: place.address.url, node: 2),
            Directory.place(at: place.address.url, node: 2, key: 8),
        ] {
            #expect(throws: StoreError.self) { try StoreCopy(from: file, to: .database(other)) }
            #expect(try directory.psql("SELECT version FROM onionbell.format") == "\(DatabaseSchema.version)")
        }
        renewal.cancel()
        _ = try? await renewal.value
        await node.close()
        await (try await open(directory.place)).close()
    }

    /// What is in the write-ahead log of the target goes with it.
    @Test func aFileIsWholeOnlyWhenItsLogIsEmpty() async throws {
        try await fill(5)
        try StoreCopy(from: file, to: directory.place).run { _, _ in }
        let before = try content(directory.place)
        let back = directory.path + "/back.sqlite"
        do {
            let copy = try StoreCopy(from: directory.place, to: .file(back, .tested))
            let reader = try Connection(.file(back + ".copy"), for: .reading)
            var isReading = false
            #expect(throws: StoreError.self) {
                try copy.run { _, _ in
                    guard !isReading else { return }
                    isReading = true
                    try? reader.execute("BEGIN")
                    _ = try? reader.firstInteger("SELECT count(*) FROM notification")
                }
            }
            #expect(!FileManager.default.fileExists(atPath: back))
        }
        try StoreCopy(from: directory.place, to: .file(back, .tested)).run { _, _ in }
        #expect(try content(.file(back, .tested)) == before)
    }
}
