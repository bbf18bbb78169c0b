import Foundation
import Testing

/// Histories of the pipeline under faults of everything around it. A violation names its seed; a run of that seed
/// alone: `ONIONBELL_SIMULATION_SEED=7 swift test --filter SimulationTests`.
@Suite struct SimulationTests {
    static let stepsPerSeed = 20_000
    static let seeds: [UInt64] = {
        let seed = ProcessInfo.processInfo.environment["ONIONBELL_SIMULATION_SEED"]
        return seed.flatMap { UInt64($0) }.map { [$0] } ?? Array(1...32)
    }()

    @Test(arguments: seeds)
    func nothingAcceptedIsLostAndNothingIsShownTwice(seed: UInt64) {
        // A trap would end the process before the test could name the seed.
        print("simulation: seed \(seed) begins")
        let world = World(seed: seed)
        while world.steps < SimulationTests.stepsPerSeed, world.violation == nil { world.step() }
        if world.violation == nil { world.drain() }
        let books = world.books
        print(
            """
            simulation: seed \(seed): \(world.steps) steps, \(world.crashes) crashes, \(books.accepted) accepted = \
            \(books.delivered) delivered + \(books.refused) refused + \(books.dead) dead + \(books.expired) expired
            """)
        if let violation = world.violation {
            Issue.record(
                """
                seed \(seed), \(violation)
                again: ONIONBELL_SIMULATION_SEED=\(seed) swift test --filter SimulationTests
                """)
        }
        #expect(books.delivered > 100)
        #expect(books.expired > 10)
        #expect(world.crashes > 1)
    }
}
