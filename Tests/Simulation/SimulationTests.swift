import Foundation
import Testing
import Vectors

/// A few histories of the pipeline under faults of everything around it: Deploy/tools/simulate runs millions of steps, with
/// optimization, in each `Deploy/test`. A violation names its seed; a run of that seed alone, for a debugger:
/// `ONIONBELL_SIMULATION_SEED=7 swift test --filter SimulationTests`.
@Suite struct SimulationTests {
    static let seeds: [UInt64] = {
        let seed = ProcessInfo.processInfo.environment["ONIONBELL_SIMULATION_SEED"]
        return seed.flatMap { UInt64($0) }.map { [$0] } ?? Array(1...(isLong ? 8 : 1))
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
        #expect(world.closings > 10)
    }

    /// Nobody confirms the clock, which is wrong at starts and is set: everything has its whole life, by all restarts.
    @Test(arguments: seeds) func aWrongClockCostsNothing(seed: UInt64) {
        print("simulation: never told, seed \(seed) begins")
        let world = World(seed: seed, isNeverTold: true)
        world.run()
        if let violation = world.violation { Issue.record("never told, seed \(seed), \(violation)") }
        #expect(world.books.delivered > 100)
        #expect(world.crashes > 1)
    }

    /// Little waits: most of what senders wait for is delivered before it would be stored.
    @Test(arguments: seeds.prefix(isLong ? 4 : 1))
    func whatIsDeliveredAtOnceIsToldTruly(seed: UInt64) {
        print("simulation: quiet seed \(seed) begins")
        let world = World(seed: seed, isQuiet: true)
        world.run()
        print(
            "simulation: quiet seed \(seed): \(world.atOnce.delivered) delivered before they were stored,"
                + " \(world.atOnce.stored) stored after they went out")
        if let violation = world.violation { Issue.record("quiet seed \(seed), \(violation)") }
        #expect(world.atOnce.delivered > 10)
        #expect(world.atOnce.stored > 3)
    }

    /// Thousands of phones at once: what holds for each step, and for how long a healthy one waits.
    @Test(arguments: seeds.prefix(isLong ? 2 : 1))
    func aHealthyPhoneWaitsForNobody(seed: UInt64) {
        print("simulation: crowd of seed \(seed) begins")
        let world = World(seed: seed, isCrowd: true)
        world.run(steps: 4000)
        print(
            "simulation: crowd of seed \(seed): \(world.healthyLeft) left, after"
                + " \(world.longestCalmWait.milliseconds) ms at the latest")
        if let violation = world.violation { Issue.record("crowd of seed \(seed), \(violation)") }
        #expect(world.healthyLeft > 1000)
    }

    /// Tokens that a gateway always fails, in every service: what one is told is no other's trouble. And an outage of all is
    /// none that the node makes worse.
    @Test(arguments: seeds.prefix(2))
    func tokensThatAlwaysFailHoldUpNoOther(seed: UInt64) {
        for plan in PoisonWorld.plans(seed) + PoisonWorld.outages(seed) {
            let world = PoisonWorld(seed: seed, plan)
            world.run()
            if let violation = world.violation { Issue.record("poison of seed \(seed), \(violation)") }
        }
    }

    /// Histories in which the first three that might try were all poison, and a healthy one waited for 25 to 34 seconds.
    @Test(arguments: ([288, 603, 876, 529, 1697, 794] as [UInt64]).prefix(isLong ? 6 : 2))
    func aProbeSeesMoreThanPoison(seed: UInt64) {
        for service in [PoisonWorld.Service.relay, .relays] {
            let world = PoisonWorld(
                seed: seed, .init(service: service, poison: 200, circuits: 200, renewal: .otherTokens))
            world.run()
            #expect(world.longest <= .seconds(24), "\(service): \(world.longest)")
        }
    }

    /// Two lanes over two or three relays that hang, die and come back, behind slow circuits, by the gateway's own limits.
    @Test(arguments: seeds.prefix(isLong ? 8 : 1))
    func whoWaitsForARelayIsToldByItsRoom(seed: UInt64) {
        print("simulation: relays of seed \(seed) begin")
        let world = RelayWorld(seed: seed)
        world.run()
        print(
            "simulation: relays of seed \(seed): \(world.delivered) delivered, \(world.putOff) times one waited for a relay,"
                + " tried after \(world.longest.components.seconds) s at the latest")
        if let violation = world.violation {
            Issue.record(
                "seed \(seed), \(violation)\nagain: Deploy/tools/simulate relays --seed \(seed)")
        }
        #expect(world.delivered > 100)
        #expect(world.putOff > 10)
    }

    /// Two and three nodes with one store: killed, stopped, paused, cut off, with clocks an hour off.
    @Test(arguments: seeds.prefix(isLong ? 3 : 1))
    func nodesThatShareAStoreLoseNothingAndEndWithEqualParts(seed: UInt64) {
        print("simulation: nodes of seed \(seed) begin")
        let cluster = Cluster(seed: seed)
        cluster.run()
        let books = cluster.books
        print(
            """
            simulation: nodes of seed \(seed): \(cluster.nodes.count) nodes, \(cluster.steps) steps, \(books.accepted) \
            accepted; \(books.orphans) begun by nodes that were gone, \(books.again) of them taken again
            """)
        if let violation = cluster.violation {
            Issue.record(
                """
                nodes of seed \(seed), \(violation)
                again: ONIONBELL_SIMULATION_SEED=\(seed) swift test --filter SimulationTests
                """)
        }
        #expect(books.accepted > 500)
        #expect(books.orphans > 10)
        #expect(cluster.kills + cluster.pauses > 10)
    }

    /// A core that is broken on purpose does not get past the checks.
    @Test(
        .enabled(if: isLong, "only in Deploy/test --long; Deploy/tools/simulate looks for all of them"),
        arguments: Canary.allCases)
    func whatIsBrokenOnPurposeIsFound(canary: Canary) { #expect(canary.found() != nil) }
}
