import Foundation
import PostgreSQL
import Relay
import TestedStores
import Testing
import Vectors

@testable import Bitwarden
@testable import DatabaseEndpoint
@testable import Persistence

/// What a store holds and reads, where PostgreSQL is another engine than SQLite.
@Suite(.serialized) struct DatabaseRowsTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    /// The longest that a door lets in. What is sealed can't be made shorter, and a page of an index has not room for it.
    @Test(arguments: TestedEngine.allCases) func theLongestDeviceTokenIsKept(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let token = String(repeating: "0123456789abcdef", count: 256)
        let outbox = try await directory.open()
        try await StoredInstallations(in: outbox).put(
            Installation(id: "one", keyDigest: Digest(high: 1, low: 2), addedAt: 7))
        let bitwarden = try await StoredBitwardenDevices(in: outbox)
        let device = BitwardenDevice(
            id: Digest(high: 1, low: 9), installation: "one", user: Digest(high: 2, low: 9),
            identifier: Digest(high: 3, low: 9), type: 0, pushToken: token,
            organizations: [Digest(high: 4, low: 9)])
        #expect(try await bitwarden.put(device, at: 1, limit: 5))
        let phones = try await bitwarden.phones(of: .organization(Digest(high: 4, low: 9)), except: nil)
        #expect(phones.map(\.pushToken) == [token])
        #expect(try await bitwarden.phones(of: .installation("one"), except: nil) == phones)
        try await bitwarden.forget(try #require(phones.first), registeredUntil: 1)
        #expect(try await bitwarden.phones(of: .installation("one"), except: nil).isEmpty)
        await outbox.close()
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        let phone = PhoneBook.Phone(
            number: 0, name: "alice", platform: .android, deviceToken: DeviceToken(token))
        #expect(try file.add(PhoneEntry(phone, model: "", addedAt: 1)) == .success(1))
        #expect(try file.phoneBook().book.phones.map(\.deviceToken.text) == [token])
        let insert = { (number: Int) in
            "INSERT INTO phone SELECT \(number), name, platform, app, token, model, added_at FROM phone"
        }
        #expect(throws: StoreError.self) { try file.connection.execute(insert(2)) }
    }

    /// A database sends all that a statement finds, whoever stops reading.
    @Test func noMoreIsReadThanIsNeeded() async throws {
        try directory.use(.database)
        let server = try PostgreSQLServer.shared.get()
        let line = try LineCutter(to: server.directory)
        defer { line.close() }
        let outbox = try await OutboxStore(Directory.place(at: line.url(try #require(directory.database))))
        let message = String(repeating: "m", count: 1000)
        // The database gives up whoever takes longer than a lease over one of them.
        for first in stride(from: 1, through: 1200, by: 100) as StrideThrough<Int64> {
            _ = try await outbox.commit(
                (first..<first + 100).map { number in
                    let one = request(2 * number, token: UInt64(number), message: message)
                    return .store(
                        StoreRequest(
                            notification: one.notification, digests: one.digests,
                            destination: .backlog(room: 9)))
                })
        }
        for first in stride(from: 5000, to: 11000, by: 500) as StrideTo<Int64> {
            _ = try await outbox.commit(
                (first..<first + 500).map { .remember(request($0).digests, acceptedAt: 1000) })
        }
        func count(_ body: () async throws -> Void) async throws -> Int {
            let before = line.received
            try await body()
            return line.received - before
        }
        let lane = LaneID(app: "app", host: .sandbox)
        let many = Claim(.due(lane), at: 1, last: .max, limit: 600)
        #expect(try await outbox.claim(many).rows.count == 600)
        let few = Claim(.due(lane), at: 1, last: .max, limit: 10)
        let claiming = try await count {
            let claimed = try await outbox.claim(few)
            #expect(claimed.rows.count == 10)
        }
        #expect(claiming < 150_000, "\(claiming)")
        let forgetting = try await count {
            _ = try await outbox.commit([.forget(acceptedBefore: 5, buriedBefore: 0)])
        }
        #expect(forgetting < 60_000, "\(forgetting)")
        await outbox.close()
    }

    /// Versions before a column was there have left it empty.
    @Test func whatAnEarlierVersionLeftEmptyIsEmpty() async throws {
        try directory.use(.database)
        let outbox = try await directory.open()
        let push = PreparedPush(.object("{}"), isUrgent: true, expiry: .atOnce)
        let prepared = StoreRequest(
            notification: Notification(
                id: NotificationID(high: 2, low: 2), lane: LaneID(app: "app", host: .sandbox),
                deviceToken: DeviceToken("token"), content: .prepared(push), expiresAt: 9000, acceptedAt: 5),
            digests: request(2).digests)
        _ = try await outbox.commit([.store(prepared)])
        _ = try directory.psql("UPDATE onionbell.notification SET android = NULL")
        #expect(try await outbox.notifications([1]) == [1: prepared.notification])
        await outbox.close()
    }

    /// The name of a phone, where its number is asked for, is nothing that a database could take for a number.
    @Test(arguments: TestedEngine.allCases) func whatIsNoNumberRemovesNoPhone(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        await (try await directory.open()).close()
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            let phone = PhoneBook.Phone(
                number: 0, name: "alice", platform: .android, deviceToken: DeviceToken("one"))
            #expect(try file.add(PhoneEntry(phone, model: "", addedAt: 1)) == .success(1))
        }
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        let view = try #require(file.views.first { $0.kind == "phone" })
        for id in ["alice", "1x", "", "99999999999999999999"] {
            #expect(try !file.remove(id, of: view), "\(id)")
        }
        try file.connection.execute("UPDATE phone SET number = 5000000000")
        #expect(try file.remove("5000000000", of: view))
        #expect(try file.phoneBook().entries.isEmpty)
    }

    /// What libpq says of an address repeats it.
    @Test(arguments: [
        "postgresql://u:Xq7%zzXq7@localhost/b", "postgresql://u:Xq7@[::1/b",
        "postgresql:///b?password=Xq7%zz",
        "postgresql://u:Xq7%00Xq7@localhost/b", "postgresql://u:Xq7/Xq7@localhost/b",
        "postgresql://u:12/Xq7@localhost/b", "postgresql:///b?Xq7", "postgresql:///b?a=b=Xq7",
        "postgresql://u@[::1]Xq7/b",
    ])
    func whatIsSaidOfAnAddressRepeatsNothingOfIt(_ url: String) {
        do throws(PostgreSQLError) {
            _ = try PostgreSQLAddress(url: url).parameters()
            Issue.record("it was taken")
        } catch {
            #expect(!"\(error)".contains("Xq7") && error.message.count > 10)
        }
    }

    /// Addresses of other programs have parameters of their own; a value that libpq looks at only when it connects is
    /// looked at before.
    @Test(arguments: [
        ("postgresql://a@db.example/b?pgbouncer=true", "no parameter pgbouncer"),
        ("postgresql://a@db.example/b?sslmode=require&schema=public", "no parameter schema"),
        ("postgresql://a@db.example/b?sslmode=no-verify", "sslmode must be one of disable, allow"),
        ("postgresql:///b?host=/run&target_session_attrs=master", "target_session_attrs must be one of any"),
        ("postgresql://a@db.example/b?currentSchema=x", "no parameter currentSchema"),
        ("postgresql://a@db.example/b?pool-max=x", "no parameter pool-max"),
        ("postgresql://a@db.example/b?%70gbouncer=true", "no parameter %70gbouncer"),
        ("postgresql://a@db.example/b?connect_timeout=2s", "connect_timeout must be a whole number"),
        ("postgresql://a@db.example/b?keepalives=on", "keepalives must be a whole number"),
        ("postgresql://a@db.example/b?ssl_min_protocol_version=1.2", "must be one of TLSv1, TLSv1.1"),
        ("postgresql://a@db.example:65536/b", "port must be 1 to 65535"),
        ("postgresql://a@db.example:1,db2.example:0/b", "port must be 1 to 65535"),
    ])
    func whatIsWrongInAnAddressIsNamed(_ url: String, words: String) {
        let fault = #expect(throws: PostgreSQLError.self) { try PostgreSQLAddress(url: url).parameters() }
        #expect(fault?.message.contains(words) == true, "\(fault?.message ?? "")")
    }

    /// They are read by libpq, only when it connects.
    @Test func theFilesOfAnAddressAreKnown() throws {
        let address = PostgreSQLAddress(
            url: "postgresql://a@db.example/b?sslrootcert=/a.pem&sslkey=/b.key&sslmode=verify-full")
        #expect(
            try address.files().map { "\($0.name) \($0.path)" } == ["sslkey /b.key", "sslrootcert /a.pem"])
        #expect(try PostgreSQLAddress(url: "postgresql:///b?host=/run&sslrootcert=system").files().isEmpty)
    }

    /// A password with a question mark in it looks like a parameter.
    @Test func aPartOfAPasswordIsNotNamed() {
        let fault = #expect(throws: PostgreSQLError.self) {
            try PostgreSQLAddress(url: "postgresql://u:pass?secret=x@localhost/b").parameters()
        }
        #expect(fault?.message.contains("secret") == false)
    }
}
