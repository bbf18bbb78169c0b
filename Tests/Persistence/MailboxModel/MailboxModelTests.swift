import Relay
import TestedStores
import Testing

@testable import MailboxEndpoint
@testable import Persistence

/// Random histories of mailboxes over the real store: publishers that replace texts, full mailboxes, readers that ask in
/// every form, connections that are cut, nodes that are killed.
@Suite(.serialized) struct MailboxModelTests {
    /// Nothing is called delivered, and nothing goes, that its readers do not have; nothing that they have comes again.
    @Test(arguments: TestedEngine.allCases) func readersAcknowledgeWhatTheyHave(on engine: TestedEngine)
        async throws
    {
        for seed: UInt64 in 1...(engine == .database ? 4 : 40) {
            for habits in MailboxWorld.Habits.allCases {
                let violations = try await run(seed, habits, on: engine)
                #expect(violations == [], "seed \(seed), \(habits)")
            }
        }
    }

    /// The model is no kinder than the readers are: it finds each fault that was there once, and some that were not.
    @Test(arguments: MailboxCanary.allCases) func theModelFinds(_ canary: MailboxCanary) async throws {
        for seed: UInt64 in 1...40 {
            for habits in MailboxWorld.Habits.allCases {
                let violations = try await run(seed, habits, on: .memory, with: canary)
                if !violations.isEmpty { return }
            }
        }
        Issue.record("40 histories of each kind have not shown it")
    }

    private func run(
        _ seed: UInt64, _ habits: MailboxWorld.Habits, on engine: TestedEngine,
        with canary: MailboxCanary? = nil
    ) async throws -> [String] {
        let directory = try Directory()
        try directory.use(engine)
        let world = try await MailboxWorld(seed: seed, habits, in: directory, with: canary)
        for _ in 0..<120 where world.violations.isEmpty { try await world.step() }
        if world.violations.isEmpty { try await world.finish() }
        await world.outbox.close()
        if !world.violations.isEmpty, canary == nil { print(world.history.joined(separator: "\n")) }
        return world.violations
    }
}

/// A fault that the model has to find.
enum MailboxCanary: CaseIterable {
    /// A pong acknowledges in all mailboxes of its connection, whatever they have sent.
    case acknowledgesAllMailboxes
    /// Each id that lies in a mailbox acknowledges all before it.
    case takesEachIDForAReceipt
    /// A message that is gone has no place.
    case forgetsThePlaceOfWhatIsGone
    /// What a dead connection was sent counts as what the next one was sent.
    case takesTwoConnectionsForOne
    /// Several mailboxes are read one after the other, while others write.
    case readsMailboxesOneAfterTheOther
    /// A node that stops does not write its books.
    case losesItsBooks
}
