import Encodings
import Relay
import TestedStores
import Testing

@testable import Bitwarden
@testable import MailboxEndpoint
@testable import Persistence

/// The rows of a backup come into a store that has others: names decide, and what is not taken is said.
@Suite struct BackupStoreTests {
    private let directory: Directory
    private let from: Directory

    init() async throws {
        (directory, from) = (try Directory(), try Directory())
        for place in [directory.place, from.place] { await (try OutboxStore(place)).close() }
    }

    private func store(_ directory: Directory) throws -> RegistrationFile {
        try RegistrationFile(directory.place, isReadOnly: false)
    }

    private func mailbox(
        _ name: String, _ number: UInt64, reader: String = "tablet", token: UInt64 = 1, isOpen: Bool = false
    ) -> Mailbox {
        Mailbox(
            name: name, show: .bell, isOpen: isOpen, topic: Digest(high: number, low: 1),
            readers: [.init(name: reader, token: Digest(high: number, low: token))])
    }

    private func add(_ mailbox: Mailbox, to directory: Directory) throws {
        let address = Digest(high: mailbox.topic.high, low: 2)
        #expect(try store(directory).add(mailbox, address: address, addedAt: 1))
    }

    private func add(_ name: String, _ token: String, _ platform: Platform, to directory: Directory) throws {
        let phone = PhoneBook.Phone(
            number: 0, name: name, platform: platform, deviceToken: DeviceToken(token))
        _ = try store(directory).add(PhoneEntry(phone, model: "", addedAt: 1)).get()
    }

    private func alias(_ letter: Character) -> DeviceToken {
        PhoneBook.alias(String(repeating: letter, count: 96))
    }

    /// The look and the taking say the same, and only the taking changes anything.
    private func take() throws -> [BackupConflict] {
        let tables = try store(from).backupTables()
        let before = try store(directory).backupTables().map(\.rows)
        let looked = try store(directory).conflicts(adding: tables)
        #expect(try store(directory).backupTables().map(\.rows) == before)
        let taken = try store(directory).add(tables)
        #expect(taken == looked)
        return taken
    }

    /// A reader of the backup's first mailbox never reads this store's first mailbox.
    @Test func readersStayWithTheirMailboxesWhateverTheNumbers() throws {
        try add(mailbox("carl", 9, reader: "laptop"), to: directory)
        try add(mailbox("anna", 1), to: from)
        try add(mailbox("bert", 2), to: from)
        #expect(try take() == [])
        let mailboxes = try store(directory).mailboxes()
        #expect(mailboxes.map(\.name) == ["carl", "anna", "bert"])
        #expect(mailboxes.map(\.number) == [1, 2, 3])
        #expect(mailboxes.map { $0.readers.map(\.name) } == [["laptop"], ["tablet"], ["tablet"]])
        #expect(mailboxes.map { $0.readers.map(\.token.high) } == [[9], [1], [2]])
    }

    /// A topic that a phone has made by UnifiedPush has a number like any mailbox.
    @Test func topicsOfUnifiedPushKeepTheirReaders() throws {
        let topic = Mailbox(
            name: "topic", show: .bell, isOpen: false, isPush: true, topic: Digest(high: 7, low: 1),
            readers: [.init(name: "phone", token: Digest(high: 7, low: 3))])
        #expect(try store(directory).add(topic, address: Digest(high: 7, low: 2), addedAt: 1))
        try add(mailbox("anna", 1), to: from)
        #expect(try take() == [])
        let mailboxes = try store(directory).mailboxes()
        #expect(mailboxes.map(\.name) == ["topic", "anna"])
        #expect(mailboxes.map { $0.readers.map(\.name) } == [["phone"], ["tablet"]])
    }

    @Test func anotherMailboxOfTheNameStaysAndIsNamed() throws {
        try add(mailbox("anna", 9, reader: "laptop"), to: directory)
        try add(mailbox("anna", 1), to: from)
        try add(mailbox("bert", 2), to: from)
        #expect(
            try take() == [BackupConflict(kind: .mailbox, name: "anna", mailbox: nil, reason: .taken)])
        let mailboxes = try store(directory).mailboxes()
        #expect(mailboxes.map(\.name) == ["anna", "bert"])
        #expect(mailboxes[0].topic.high == 9 && mailboxes[0].readers.map(\.name) == ["laptop"])
    }

    @Test func theSameMailboxGetsReadersAndPublishersThatItHasNot() throws {
        try add(mailbox("anna", 1), to: directory)
        try add(mailbox("bert", 2, token: 8), to: directory)
        try add(mailbox("anna", 1, reader: "desktop"), to: from)
        try add(mailbox("bert", 2, token: 9), to: from)
        for (name, token) in [("cron", 50), ("door", 51)] as [(String, UInt64)] {
            let publisher = Mailbox.Publisher(name: name, token: Digest(high: 1, low: token))
            #expect(try store(from).add(publisher, to: "anna", addedAt: 1) == .added)
        }
        let other = Mailbox.Publisher(name: "door", token: Digest(high: 1, low: 99))
        #expect(try store(directory).add(other, to: "anna", addedAt: 1) == .added)
        #expect(
            try take() == [
                BackupConflict(kind: .publisher, name: "door", mailbox: "anna", reason: .taken),
                BackupConflict(kind: .reader, name: "tablet", mailbox: "bert", reason: .taken),
            ])
        let mailboxes = try store(directory).mailboxes()
        #expect(mailboxes[0].readers.map(\.name) == ["tablet", "desktop"])
        #expect(mailboxes[0].publishers.map(\.name) == ["door", "cron"])
        #expect(mailboxes[1].readers.map(\.token.low) == [8])
        #expect(try take().count == 2)
    }

    @Test func phonesGetNumbersOfThisBook() throws {
        try add("dora", "d", .ios, to: directory)
        try add("alice", "a", .ios, to: from)
        try add("bert", "b", .android, to: from)
        #expect(try store(from).giveAlias(alias("x"), to: "bert", replacing: false) == .success(alias("x")))
        #expect(try take() == [])
        let (entries, book) = try store(directory).phoneBook()
        #expect(entries.map(\.phone.name) == ["dora", "alice", "bert"])
        #expect(entries.map(\.phone.number) == [1, 2, 3])
        #expect(book.alias(of: "bert") == alias("x") && book.alias(of: "dora") == nil)
    }

    @Test func anAddressForBisqIsOneNamesOnly() throws {
        for (name, platform) in [("alice", .android), ("carl", .android), ("emil", .ios)]
            as [(String, Platform)]
        {
            try add(name, "\(name) 1", platform, to: directory)
        }
        for (name, letter) in [("alice", "x"), ("carl", "y"), ("emil", "w")] as [(String, Character)] {
            _ = try store(directory).giveAlias(alias(letter), to: name, replacing: false).get()
        }
        for (name, letter) in [("alice", "z"), ("bert", "y"), ("emil", "v")] as [(String, Character)] {
            try add(name, "\(name) 2", .android, to: from)
            _ = try store(from).giveAlias(alias(letter), to: name, replacing: false).get()
        }
        #expect(
            try take() == [
                // An address has phones of one form.
                BackupConflict(kind: .phone, name: "emil", mailbox: nil, reason: .unfit),
                BackupConflict(kind: .address, name: "alice", mailbox: nil, reason: .taken),
                BackupConflict(kind: .address, name: "bert", mailbox: nil, reason: .taken),
                BackupConflict(kind: .address, name: "emil", mailbox: nil, reason: .taken),
            ])
        let book = try store(directory).phoneBook().book
        #expect(book.alias(of: "alice") == alias("x") && book.alias(of: "bert") == nil)
        #expect(book.phones(of: "alice").count == 2 && book.phones(of: "emil").count == 1)
    }

    @Test func aFullNameTakesNoMore() throws {
        for number in 0..<PhoneBook.mostPhonesOfName {
            try add("alice", "here \(number)", .ios, to: directory)
        }
        try add("alice", "there", .ios, to: from)
        try add("alice", "here 0", .ios, to: from)
        #expect(try take() == [BackupConflict(kind: .phone, name: "alice", mailbox: nil, reason: .full)])
    }

    @Test func anotherInstallationOfTheIDStays() throws {
        for (place, low) in [(directory, 1), (from, 2)] as [(Directory, UInt64)] {
            try store(place).put(Installation(id: "one", keyDigest: Digest(high: 1, low: low), addedAt: 7))
        }
        #expect(
            try take() == [
                BackupConflict(
                    kind: BackupConflict.Kind("installation"), name: "one", mailbox: nil, reason: .taken)
            ])
        #expect(try store(directory).installation("one")?.keyDigest.low == 1)
    }
}
