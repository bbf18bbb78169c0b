import Encodings
import Relay
import TestedStores
import Testing

@testable import Persistence

/// The phone book in the outbox's file: commands write it, the node notices.
@Suite(.serialized) struct PhoneBookTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    private func phone(
        _ name: String, _ token: String, _ platform: Platform = .android
    ) -> PhoneEntry {
        PhoneEntry(
            PhoneBook.Phone(number: 0, name: name, platform: platform, deviceToken: DeviceToken(token)),
            model: "Pixel", addedAt: 1_700_000_000_000)
    }

    private let alias = PhoneBook.alias(String(repeating: "a", count: 96))

    @Test(arguments: TestedEngine.allCases) func theNodeNoticesWhatACommandChanges(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        let reader = try await PhoneBookReader(in: outbox)
        let first = try #require(try await reader.book())
        #expect(first.book == PhoneBook())
        #expect(try await reader.book(unless: first.version) == nil)
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            #expect(try file.add(phone("alice", "one")) == .success(1))
        }
        let second = try #require(try await reader.book(unless: first.version))
        #expect(second.book.phones.map(\.deviceToken) == [DeviceToken("one")])
        // What the node itself writes is no change of the book.
        _ = try await outbox.commit([.proof])
        #expect(try await reader.book(unless: second.version) == nil)
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func namesPhonesAndAliasGoTogether(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        await outbox.close()
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        #expect(try file.phoneBook().entries.isEmpty)
        #expect(try file.giveAlias(alias, to: "alice", replacing: false) == .failure(.unknownName))
        #expect(try file.add(phone("alice", "one")) == .success(1))
        #expect(try file.add(phone("alice", "one")) == .failure(.alreadyThere(number: 1)))
        #expect(try file.add(phone("alice", "two")) == .success(2))
        #expect(try file.add(phone("bob", "one", .ios)) == .success(3))
        #expect(try file.giveAlias(alias, to: "alice", replacing: false) == .success(alias))
        let other = PhoneBook.alias(String(repeating: "b", count: 96))
        #expect(try file.giveAlias(other, to: "alice", replacing: false) == .success(alias))
        // The alias keeps other forms out of the name.
        #expect(try file.add(phone("alice", "three", .ios)) == .failure(.formsDiffer))
        #expect(try file.rename("alice", to: "bob") == .nameIsTaken)
        #expect(try file.rename("carol", to: "dave") == .unknownName)
        #expect(try file.rename("alice", to: "dave") == nil)
        #expect(try file.phoneBook().book.alias(of: "dave") == alias)
        #expect(try file.giveAlias(other, to: "dave", replacing: true) == .success(other))
        #expect(try file.removePhones(of: "dave", number: 3) == 0)
        #expect(try file.removePhones(of: "dave", number: 1) == 1)
        #expect(try file.phoneBook().book.alias(of: "dave") == other)
        #expect(try file.removePhones(of: "dave") == 1)
        #expect(try file.removeAlias(of: "dave") == false)
        // A number is never given again.
        #expect(try file.removePhones(of: "bob") == 1)
        #expect(try file.add(phone("bob", "one")) == .success(4))
    }

    @Test(arguments: TestedEngine.allCases) func phonesOfTwoFormsHaveNoAlias(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        await outbox.close()
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        _ = try file.add(phone("alice", "one"))
        _ = try file.add(phone("alice", "two", .iosDev))
        #expect(try file.giveAlias(alias, to: "alice", replacing: false) == .failure(.formsDiffer))
    }

    @Test(arguments: TestedEngine.allCases) func aNameHasTenPhonesAtMost(on engine: TestedEngine) async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        await outbox.close()
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        for number in 1...PhoneBook.mostPhonesOfName {
            #expect(try file.add(phone("alice", "token \(number)")) == .success(Int64(number)))
        }
        #expect(try file.add(phone("alice", "one more")) == .failure(.nameIsFull))
    }

    @Test(arguments: TestedEngine.allCases) func theOperatorsListShowsNoToken(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        await outbox.close()
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        _ = try file.add(phone("alice", "the-secret-token"))
        _ = try file.giveAlias(alias, to: "alice", replacing: false)
        let reader = try RegistrationFile(directory.place, isReadOnly: true)
        let view = try #require(reader.views.first { $0.kind == "phone" })
        var rows: [RegistrationFile.Row] = []
        try reader.forEach(of: view) { rows.append($0) }
        #expect(rows.map(\.values) == [["1", "alice", "android", "", "Pixel", "2023-11-14 22:13:20"]])
        #expect(try file.remove("1", of: view))
        #expect(try file.phoneBook().book == PhoneBook())
    }
}
