import Relay
import TestedStores
import Testing

@testable import Bitwarden
@testable import Persistence

/// Tables of a door that the tests make up.
private final class NoteTables: DoorTables {
    static let name = "notes"
    nonisolated(unsafe) static var format: PerDialect<Int64> = 2
    static let tables = [StoreTable("note", [StoreTable.Column("id", .text, .key)])]
    static let views: [RegistrationView] = []
    private let insert: Statement
    private let count: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        insert = try Statement("INSERT INTO note (id) VALUES (?)", on: connection)
        count = try Statement("SELECT count(*) FROM note", on: connection)
    }

    func add(_ id: String) throws(StoreError) {
        try insert.bind(1, id)
        try insert.run()
    }

    func number() throws(StoreError) -> Int {
        defer { count.reset() }
        return try count.step() ? Int(count.integer(0)) : 0
    }
}

private func add(_ id: String, to outbox: OutboxStore) async throws(OutboxError) {
    try await outbox.write(NoteTables.self) { tables throws(StoreError) in try tables.add(id) }
}

private func number(in outbox: OutboxStore) async throws(OutboxError) -> Int {
    try await outbox.read(NoteTables.self) { tables throws(StoreError) in try tables.number() }
}

/// The tables that doors keep in the outbox's file.
@Suite(.serialized) struct RegistrationStoreTests {
    let directory: Directory
    private static let one = Installation(
        id: "one", keyDigest: Digest(high: 1, low: 2), addedAt: 1_700_000_000_000)

    init() throws { directory = try Directory() }

    @Test(arguments: TestedEngine.allCases) func whatWasWrittenIsThereAfterAStartAnew(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let first = try await directory.open()
        try await StoredInstallations(in: first).put(Self.one)
        await first.close()
        let second = try await directory.open()
        let installations = try await StoredInstallations(in: second)
        #expect(try await installations.installation("one") == Self.one)
        #expect(try await installations.installation("two") == nil)
        await second.close()
    }

    @Test(arguments: TestedEngine.allCases) func manyWritesShareACommit(on engine: TestedEngine) async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        try await outbox.open(NoteTables.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 { group.addTask { try await add("\(number)", to: outbox) } }
            group.addTask { _ = try await outbox.commit([.store(request(1))]) }
            try await group.waitForAll()
        }
        #expect(try await number(in: outbox) == 200)
        #expect(try await outbox.content().waiting.count == 1)
        #expect(await outbox.commits < 100)
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func oneWriteThatFailsTakesNoOtherWithIt(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        try await outbox.open(NoteTables.self)
        try await add("a", to: outbox)
        let good = Task { try await add("b", to: outbox) }
        let bad = Task { try await add("a", to: outbox) }
        #expect(try await outbox.commit([.store(request(1))]) == [.stored(sequence: 1)])
        try await good.value
        await #expect(throws: OutboxError.self) { try await bad.value }
        #expect(try await number(in: outbox) == 2)
        await outbox.close()
    }

    /// In words that say what to do; what is there stays.
    @Test(arguments: TestedEngine.allCases) func tablesOfAnotherFormatAreRefused(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        defer { NoteTables.format = 2 }
        let first = try await directory.open()
        try await first.open(NoteTables.self)
        try await add("a", to: first)
        await first.close()
        for (format, words) in [
            (
                1 as PerDialect<Int64>,
                "a newer onionbell has made the tables of notes (format 2; this one knows 1). Install the newer one again"
            ),
            (
                3,
                "an onionbell from before the first release has made the tables of notes (format 2; this one knows 3). Go "
                    + "on with that one, or begin with a new store"
            ),
        ] {
            NoteTables.format = format
            let outbox = try await directory.open()
            let error = await #expect(throws: OutboxError.self) { try await outbox.open(NoteTables.self) }
            #expect("\(try #require(error))".contains(words))
            await outbox.close()
        }
        NoteTables.format = 2
        let last = try await directory.open()
        try await last.open(NoteTables.self)
        #expect(try await number(in: last) == 1)
        await last.close()
    }

    @Test(arguments: TestedEngine.allCases) func theOperatorSeesAndRemovesBesideTheNode(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        #expect(try RegistrationFile(directory.place, isReadOnly: true).views.isEmpty)
        let installations = try await StoredInstallations(in: outbox)
        try await installations.put(Self.one)
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        let view = try #require(file.views.first)
        let row = try #require(try file.row("one", of: view))
        #expect(row.fields == ["id", "enabled", "added"])
        #expect(row.values == ["one", "yes", "2023-11-14 22:13:20"])
        var listed: [RegistrationFile.Row] = []
        try file.forEach(of: view) { listed.append($0) }
        #expect(listed == [row])
        #expect(try file.remove("one", of: view))
        #expect(try !file.remove("one", of: view))
        #expect(try await installations.installation("one") == nil)
        await outbox.close()
    }
}
