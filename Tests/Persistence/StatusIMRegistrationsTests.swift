import Relay
import TestedStores
import Testing

@testable import Persistence
@testable import StatusIMEndpoint

@Suite(.serialized) struct StatusIMRegistrationsTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    private func key(_ owner: UInt64, _ installation: UInt64 = 1) -> StatusIMRegistration.Key {
        StatusIMRegistration.Key(
            owner: Digest(high: owner, low: 0), installation: Digest(high: owner, low: installation))
    }

    private func open(
        _ change: (inout StatusIMRegistration.Limits) -> Void = { _ in }
    ) async throws -> (outbox: OutboxStore, registrations: StoredStatusIMRegistrations) {
        var limits = StatusIMRegistration.Limits()
        change(&limits)
        let outbox = try await directory.open()
        return (outbox, try await StoredStatusIMRegistrations(in: outbox, limits: limits))
    }

    private func all(_ owner: UInt64, in registrations: StoredStatusIMRegistrations) async throws -> [[UInt8]]
    {
        try await registrations.reduce([Digest(high: owner, low: 0)], into: []) { found, _, bytes in
            found.append(bytes)
            return true
        }
    }

    @Test(arguments: TestedEngine.allCases) func onlyAHigherVersionReplacesAlsoAfterAStartAnew(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let first = try await open()
        #expect(try await first.registrations.version(of: key(1)) == nil)
        #expect(try await first.registrations.put([1], of: key(1), version: 5, at: 1) == .stored)
        #expect(try await first.registrations.put([2], of: key(1), version: 5, at: 1) == .stale)
        #expect(try await first.registrations.put(nil, of: key(1), version: 4, at: 1) == .stale)
        await first.outbox.close()
        let second = try await open()
        #expect(try await second.registrations.version(of: key(1)) == 5)
        #expect(try await second.registrations.put([3], of: key(1), version: .max, at: 1) == .stored)
        #expect(try await second.registrations.put([4], of: key(1), version: 6, at: 1) == .stale)
        #expect(try await all(1, in: second.registrations) == [[3]])
        await second.outbox.close()
    }

    /// Of a full table those go that nobody has a use of: who unregistered, who was never pushed to for a day, who was
    /// not for a month.
    @Test(arguments: TestedEngine.allCases) func aFullTableLetsGoOfTheOldest(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let day: Int64 = 86_400_000
        let (outbox, registrations) = try await open { $0.installations = 3 }
        for owner in 1...3 as ClosedRange<UInt64> {
            #expect(try await registrations.put([1], of: key(owner), version: 1, at: Int64(owner)) == .stored)
        }
        #expect(
            try await registrations.put([1], of: key(4), version: 1, at: day) == .full, "none is a day old")
        #expect(try await registrations.put(nil, of: key(3), version: 2, at: day) == .stored)
        #expect(try await registrations.put([1], of: key(4), version: 1, at: day) == .stored)
        #expect(try await registrations.version(of: key(3)) == nil, "it had unregistered")
        #expect(try await registrations.put([1], of: key(5), version: 1, at: day) == .full)
        #expect(try await registrations.put([1], of: key(5), version: 1, at: day + 1) == .stored)
        #expect(try await registrations.version(of: key(1)) == nil, "the oldest")
        await outbox.close()
    }

    /// Who was pushed to keeps his place, whoever wants it.
    @Test(arguments: TestedEngine.allCases) func onlyWhatNobodyHasPushedToIsRemovedForOthers(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, registrations) = try await open { $0.installations = 3 }
        for owner in 1...3 as ClosedRange<UInt64> {
            _ = try await registrations.put([1], of: key(owner), version: 1, at: 1)
        }
        try await registrations.noteUse(of: key(1), at: 2)
        let (result, left) = try await registrations.put(
            [1], of: key(4), version: 1, at: 2, insteadOf: [key(1), key(2), key(3)])
        #expect(result == .stored && left == [key(3)])
        #expect(try await registrations.version(of: key(1)) == 1)
        #expect(try await registrations.version(of: key(2)) == nil)
        #expect(try await registrations.version(of: key(3)) == 1)
        await outbox.close()
    }

    /// Who is refused takes nobody's place.
    @Test(arguments: TestedEngine.allCases) func nobodyGoesForOneThatIsRefused(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let month: Int64 = 40 * 86_400_000
        let (outbox, registrations) = try await open {
            $0.installations = 3
            $0.perOwner = 1
            $0.bytes = 10
        }
        func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }
        for owner in 1...3 as ClosedRange<UInt64> {
            #expect(try await registrations.put(bytes(3), of: key(owner), version: 1, at: 1) == .stored)
        }
        // The idlest would go for it, and 5 bytes are not 4.
        #expect(try await registrations.put(bytes(5), of: key(4), version: 1, at: month) == .full)
        let (result, left) = try await registrations.put(
            bytes(9), of: key(4), version: 1, at: 1, insteadOf: [key(1), key(2)])
        #expect(result == .full && left == [key(1), key(2)])
        #expect(try await registrations.put(bytes(1), of: key(3, 2), version: 1, at: month) == .ownerFull)
        for owner in 1...3 as ClosedRange<UInt64> {
            #expect(try await registrations.version(of: key(owner)) == 1, "\(owner)")
        }
        #expect(try await registrations.put(bytes(4), of: key(4), version: 1, at: month) == .stored)
        // Who is known and has more to say takes the room of others too.
        let known = try await registrations.put(
            bytes(7), of: key(4), version: 2, at: month, insteadOf: [key(4), key(2), key(3)])
        #expect(known.result == .stored && known.left.contains(key(4)))
        #expect(try await all(4, in: registrations) == [bytes(7)])
        await outbox.close()
    }

    /// A limit that was lowered: who comes takes the places of more than one.
    @Test(arguments: TestedEngine.allCases) func aTableBeyondItsLimitShrinks(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let month: Int64 = 40 * 86_400_000
        let first = try await open()
        for owner in 1...30 as ClosedRange<UInt64> {
            _ = try await first.registrations.put([1], of: key(owner), version: 1, at: 1)
        }
        await first.outbox.close()
        let (outbox, registrations) = try await open { $0.installations = 4 }
        var counts: [Int] = []
        for owner in 31...33 as ClosedRange<UInt64> {
            #expect(try await registrations.put([1], of: key(owner), version: 1, at: month) == .stored)
            var count = 0
            for owner in 1...33 as ClosedRange<UInt64> {
                count += try await registrations.version(of: key(owner)) == nil ? 0 : 1
            }
            counts.append(count)
        }
        #expect(counts == [15, 4, 4])
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func whoUnregistersLeavesTheVersionOnly(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, registrations) = try await open()
        #expect(try await registrations.put(nil, of: key(1), version: 9, at: 1) == .stored)
        #expect(try await registrations.version(of: key(1)) == nil, "nothing was known, nothing is kept")
        #expect(try await registrations.put([1], of: key(1), version: 1, at: 1) == .stored)
        #expect(try await registrations.put(nil, of: key(1), version: 2, at: 1) == .stored)
        #expect(try await registrations.version(of: key(1)) == 2)
        #expect(try await all(1, in: registrations) == [])
        let found = try await registrations.look(for: Digest(high: 1, low: 1), [key(1)]) {
            [$1?.registeredAt]
        }
        #expect(found.found == [nil])
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func aPhoneIsKeptWithTheTimeOfItsLastRegistration(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, registrations) = try await open()
        _ = try await registrations.put([1], of: key(1), version: 1, at: 1)
        _ = try await registrations.put([2], of: key(1), version: 2, at: 7)
        let found = try await registrations.look(for: Digest(high: 1, low: 1), [key(1), key(2)]) { [$1] }
            .found
        #expect(found.map(\.?.registration) == [[2], nil])
        #expect(found.map(\.?.registeredAt) == [7, nil])
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func aPhoneThatIsAskedForAgainAndAgainIsReadOnce(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, registrations) = try await open()
        _ = try await registrations.put([1], of: key(1), version: 1, at: 1)
        let keys = [key(1), key(2), key(1), key(1), key(2)]
        let found = try await registrations.look(for: Digest(high: 1, low: 1), keys) { places, kept in
            places.map { "\($0) \(places.count) \(kept != nil)" }
        }
        #expect(found.found == ["0 3 true", "1 2 false", "2 3 true", "3 3 true", "4 2 false"])
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func aDeadPhoneIsForgottenUnlessItHasRegisteredAnew(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, registrations) = try await open()
        _ = try await registrations.put([1], of: key(1), version: 1, at: 1)
        _ = try await registrations.put([2], of: key(1), version: 2, at: 1)
        try await registrations.forget(key(1), version: 1)
        #expect(try await all(1, in: registrations) == [[2]])
        try await registrations.forget(key(1), version: 2)
        #expect(try await all(1, in: registrations) == [])
        #expect(try await registrations.version(of: key(1)) == 2)
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func limitsAreKeptAndRoomThatWasGivenBackIsThereAgain(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, registrations) = try await open {
            $0.perOwner = 2
            $0.installations = 3
            $0.bytes = 10
        }
        func put(_ count: Int?, _ owner: UInt64, _ installation: UInt64, _ version: UInt64 = 1) async throws
            -> StatusIMRegistration.PutResult
        {
            try await registrations.put(
                count.map { [UInt8](repeating: 7, count: $0) }, of: key(owner, installation),
                version: version,
                at: 1)
        }
        #expect(try await put(4, 1, 1) == .stored)
        #expect(try await put(4, 1, 2) == .stored)
        #expect(try await put(1, 1, 3) == .ownerFull, "the third of one owner")
        #expect(try await put(3, 2, 1) == .full, "11 bytes of 10")
        #expect(try await put(2, 2, 1) == .stored)
        #expect(try await put(0, 3, 1) == .full, "the fourth of all")
        #expect(try await put(5, 1, 1, 2) == .full)
        #expect(try await put(nil, 1, 1, 3) == .stored)
        #expect(try await put(4, 1, 1, 4) == .stored, "its own room")
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func messagesAreRememberedForTheirTimeAndSoMany(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, registrations) = try await open { $0.messages = 3 }
        func told(_ number: UInt64) async throws -> [UInt8]? {
            try await registrations.look(for: Digest(high: number, low: 0), []) { _, _ in [0] }.told
        }
        for number: UInt64 in 1...4 {
            try await registrations.remember(
                Digest(high: number, low: 0), [UInt8(number)], at: Int64(number), forgettingBefore: 0)
        }
        #expect(try await told(1) == nil)
        #expect(try await told(2) == [2])
        // The first answer stays.
        try await registrations.remember(Digest(high: 4, low: 0), [9], at: 5, forgettingBefore: 4)
        #expect(try await told(3) == nil)
        #expect(try await told(4) == [4])
        await outbox.close()
    }

    /// Clocks are set: a message is remembered by its own time, whatever came before it.
    @Test(arguments: TestedEngine.allCases) func aMessageIsForgottenByItsOwnTime(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, registrations) = try await open()
        func told(_ number: UInt64) async throws -> [UInt8]? {
            try await registrations.look(for: Digest(high: number, low: 0), []) { _, _ in [0] }.told
        }
        func remember(_ number: UInt64, at time: Int64, forgettingBefore forgotten: Int64 = 0) async throws {
            try await registrations.remember(
                Digest(high: number, low: 0), [7], at: time, forgettingBefore: forgotten)
        }
        // So many of a clock that was ahead, and one of that which was right.
        for number: UInt64 in 1...150 { try await remember(number, at: 1000) }
        try await remember(200, at: 1)
        try await remember(201, at: 1000, forgettingBefore: 5)
        for number: UInt64 in 202...203 { try await remember(number, at: 10, forgettingBefore: 5) }
        #expect(try await told(200) == nil)
        for number: UInt64 in [1, 150, 201, 202, 203] { #expect(try await told(number) == [7]) }
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func theOperatorSeesAndRemovesThem(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, registrations) = try await open { $0.installations = 1 }
        _ = try await registrations.put([1], of: key(0xab), version: 1, at: 1_700_000_000_000)
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        let view = try #require(file.views.first { $0.kind == "status" })
        var rows: [[String]] = []
        try file.forEach(of: view) { rows.append($0.values) }
        let id = "00000000000000ab0000000000000001"
        #expect(rows == [[id, "00000000", "yes", "2023-11-14 22:13:20"]])
        #expect(try file.remove(id, of: view))
        #expect(try await registrations.version(of: key(0xab)) == nil)
        #expect(
            try await registrations.put([1], of: key(2), version: 1, at: 1) == .stored, "its room is free")
        await outbox.close()
    }
}
