import Foundation
import Testing

/// Some histories of the pipeline under faults of everything around it; Deploy/simulate runs millions of steps, with
/// optimization. A violation names its seed; a run of that seed alone, for a debugger:
/// `ONIONBELL_SIMULATION_SEED=7 swift test --filter SimulationTests`.
@Suite struct SimulationTests {
    static let seeds: [UInt64] = {
        let seed = ProcessInfo.processInfo.environment["ONIONBELL_SIMULATION_SEED"]
        return seed.flatMap { UInt64($0) }.map { [$0] } ?? Array(1...8)
    }()

    @Test(arguments: seeds)
    func nothingAcceptedIsLostAndNothingIsShownTwice(seed: UInt64) {
        // A trap would end the process before the test could name the seed.
        print("simulation: seed \(seed) begins")
        let world = World(seed: seed)
        world.run()
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

    /// A core that is broken on purpose does not get past the checks.
    @Test(arguments: Canary.allCases)
    func whatIsBrokenOnPurposeIsFound(canary: Canary) { #expect(canary.found() != nil) }
}
