import Foundation
import TestedStores
import Testing
import Vectors

@testable import Bitwarden
@testable import MailboxEndpoint
@testable import Persistence
@testable import Relay

/// Somebody may write in the database, and has no key: what is put into another row is nothing there.
@Suite(.serialized) struct MovedRowsTests {
    let directory: Directory

    init() throws {
        directory = try Directory()
        try directory.use(.database)
    }

    /// Refused in words that say what it may be.
    private func isRefused(_ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return false
        } catch {
            return "\(error)".contains("was changed or copied since")
        }
    }

    @Test(arguments: [
        "message = b.message", "token = b.token", "message = b.message, token = b.token",
        "token_digest = b.token_digest", "id = b.id", "id = b.id, message = b.message, token = b.token",
        "id = b.id, message = b.message, token = b.token, token_digest = b.token_digest",
    ])
    func whatIsSealedForOneNotificationIsNotAnothers(_ change: String) async throws {
        let outbox = try await directory.open()
        _ = try await outbox.commit([
            .store(request(1, token: 1)), .store(request(2, token: 2, message: "b3RoZXI=")),
        ])
        _ = try directory.psql(
            "UPDATE onionbell.notification a SET \(change) FROM onionbell.notification b WHERE a.sequence = 1 AND b.sequence = 2"
        )
        #expect(await isRefused { _ = try await outbox.notifications([1]) })
        #expect(try await outbox.notifications([2]).count == 1)
        await outbox.close()
    }

    /// Not even as a whole, to be sent again.
    @Test func aCopiedNotificationIsNotSent() async throws {
        let outbox = try await directory.open()
        let prepared = PreparedPush(
            .exact(fields: [.init("topic", "field")], body: "body"), isUrgent: true, expiry: .atOnce,
            collapseID: "collapse")
        let one = StoreRequest(
            notification: Relay.Notification(
                id: NotificationID(high: 2, low: 2), lane: LaneID(app: "app", host: .sandbox),
                deviceToken: DeviceToken("token"), content: .prepared(prepared), expiresAt: 9000,
                acceptedAt: 5),
            digests: request(2).digests)
        _ = try await outbox.commit([.store(one)])
        _ = try directory.psql(
            """
            CREATE TABLE copy AS SELECT * FROM onionbell.notification;
            UPDATE copy SET sequence = 99;
            INSERT INTO onionbell.notification SELECT * FROM copy
            """)
        #expect(await isRefused { _ = try await outbox.notifications([99]) })
        #expect(try await outbox.notifications([1]) == [1: one.notification])
        await outbox.close()
    }

    private func mailbox(_ number: UInt64) -> Mailbox {
        Mailbox(
            name: "box \(number)", show: .bell, isOpen: false, isPush: true,
            topic: Digest(high: 20, low: number),
            readers: [Mailbox.Reader(name: "phone", token: Digest(high: 30, low: number))])
    }

    /// Two mailboxes, with a message in each.
    private func mailboxes(in outbox: OutboxStore) async throws -> (StoredMailboxes, [Mailbox]) {
        let mailboxes = try await StoredMailboxes(in: outbox)
        for number in 1...2 as ClosedRange<UInt64> {
            let address = Digest(high: 10, low: number)
            _ = try await mailboxes.add(pushTopic: mailbox(number), address: address, at: 1, sparing: [])
            let message = MailboxMessage(
                id: MailboxMessage.id(of: NotificationID(high: number, low: 0)), acceptedAt: 1,
                expiresAt: 2_000_000, isUrgent: true, text: "text \(number)")
            _ = try await mailboxes.put(message, to: address, keeping: nil, within: MailboxBounds())
        }
        return (mailboxes, try #require(try await mailboxes.all(unless: nil)).mailboxes)
    }

    private func all(_ mailboxes: StoredMailboxes) async throws -> [Mailbox] {
        try #require(try await mailboxes.all(unless: nil)).mailboxes
    }

    @Test func aReaderThatWasCopiedToAnotherMailboxDoesNotReadIt() async throws {
        let outbox = try await directory.open()
        let (mailboxes, made) = try await mailboxes(in: outbox)
        #expect(made.map(\.readers.count) == [1, 1])
        _ = try directory.psql(
            """
            INSERT INTO onionbell.mailbox_reader (mailbox, name, token, proof)
                SELECT \(made[1].number), name || change, token, proof
                FROM onionbell.mailbox_reader, unnest(ARRAY['', ' 2']) AS change
                WHERE mailbox = \(made[0].number) ON CONFLICT DO NOTHING;
            UPDATE onionbell.mailbox_reader SET token = (SELECT token FROM onionbell.mailbox_reader
                WHERE mailbox = \(made[0].number) LIMIT 1) WHERE mailbox = \(made[1].number)
            """)
        #expect(try await all(mailboxes)[1].readers.isEmpty)
        #expect(try await all(mailboxes)[0] == made[0])
        await outbox.close()
    }

    @Test(arguments: [
        "is_open = 1", "topic = decode(repeat('07', 16), 'hex')", "show = 'sealed'", "is_push = 0",
        "name = 'another'",
    ])
    func aMailboxThatWasChangedIsNone(_ change: String) async throws {
        let outbox = try await directory.open()
        let (mailboxes, made) = try await mailboxes(in: outbox)
        _ = try directory.psql(
            "UPDATE onionbell.mailbox SET \(change) WHERE number = \(made[0].number)")
        #expect(try await all(mailboxes) == [made[1]])
        await outbox.close()
    }

    @Test func aMessageThatWasMovedToAnotherMailboxIsNotRead() async throws {
        let outbox = try await directory.open()
        let (mailboxes, made) = try await mailboxes(in: outbox)
        let places = made.map { MailboxPlace(mailbox: $0.number, number: 0) }
        #expect(
            try await mailboxes.messages(behind: places, at: 0, limit: 9).map { $0.message.text } == [
                "text 1", "text 2",
            ])
        _ = try directory.psql(
            "UPDATE onionbell.mailbox_message SET mailbox = \(made[1].number) WHERE mailbox = \(made[0].number)"
        )
        #expect(await isRefused { _ = try await mailboxes.messages(behind: [places[1]], at: 0, limit: 9) })
        // Nor if both are renumbered, which changes who reads it.
        _ = try directory.psql(
            """
            UPDATE onionbell.mailbox_message SET mailbox = \(made[0].number) WHERE text = (SELECT text
                FROM onionbell.mailbox_message ORDER BY number LIMIT 1);
            UPDATE onionbell.mailbox SET number = -number;
            UPDATE onionbell.mailbox SET number = CASE -number WHEN \(made[0].number) THEN \(made[1].number)
                ELSE \(made[0].number) END
            """)
        #expect(await isRefused { _ = try await mailboxes.messages(behind: [places[0]], at: 0, limit: 9) })
        #expect(try await all(mailboxes).allSatisfy(\.readers.isEmpty))
        await outbox.close()
    }

    @Test func aPhoneThatWasPutUnderAnotherNameIsNotRung() async throws {
        await (try await directory.open()).close()
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        for name in ["ann", "ben"] {
            let phone = PhoneBook.Phone(
                number: 0, name: name, platform: .ios, deviceToken: DeviceToken("token of \(name)"))
            _ = try file.add(PhoneEntry(phone, model: "m", addedAt: 1)).get()
        }
        #expect(try file.phoneBook().entries.count == 2)
        _ = try directory.psql(
            "UPDATE onionbell.phone SET token = (SELECT token FROM onionbell.phone WHERE name = 'ben') WHERE name = 'ann'"
        )
        #expect(await isRefused { _ = try RegistrationFile(directory.place, isReadOnly: true).phoneBook() })
    }

    @Test func registrationsStayWithWhoMadeThem() async throws {
        let outbox = try await directory.open()
        _ = try await StoredInstallations(in: outbox)
        let devices = try await StoredBitwardenDevices(in: outbox)
        for number in 1...2 as ClosedRange<UInt64> {
            _ = try await devices.put(
                BitwardenDevice(
                    id: Digest(high: 1, low: number), installation: "x", user: Digest(high: 2, low: number),
                    identifier: Digest(high: 3, low: number), type: 0, pushToken: "token \(number)",
                    organizations: []), at: 1, limit: 9)
        }
        let user = BitwardenDevice.Target.user(Digest(high: 2, low: 1))
        #expect(try await devices.phones(of: user, except: nil).map(\.pushToken) == ["token 1"])
        _ = try directory.psql(
            "UPDATE onionbell.bitwarden_device SET token = (SELECT token FROM onionbell.bitwarden_device ORDER BY number DESC LIMIT 1)"
        )
        #expect(await isRefused { _ = try await devices.phones(of: user, except: nil) })
        await outbox.close()
    }
}
