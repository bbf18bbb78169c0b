import Glibc

// Millions of steps of Tests/Simulation. Built by Deploy/tools/simulate, optimized.

/// `simulate HISTORIES`: the canaries, then the histories of the seeds from 1 on. `simulate seed SEED`: that history.
/// `simulate day USERS TORS MICROSECONDS`: a day of notifications at tors that need so long for each.
/// `simulate nodes HISTORIES`, `simulate nodes seed SEED`: the same of several nodes, without the canaries; `simulate relays`: of
/// several relays, with their canaries. A line for each; exit status 1 at the first violation, and for a canary that is not found.
@main
enum Simulate {
    static func main() {
        let numbers = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
        guard let number = numbers.first, number > 0 else { exit(64) }
        if CommandLine.arguments.contains("day") {
            guard numbers.count == 3, numbers.allSatisfy({ (1...1_000_000_000).contains($0) }) else {
                exit(64)
            }
            let day = DayOfArrivals(users: Int(number), tors: Int(numbers[1]), cost: Int(numbers[2]))
            return print(describe(day.run()))
        }
        if CommandLine.arguments.contains("nodes") {
            return simulateNodes(number, isOne: CommandLine.arguments.contains("seed"))
        }
        if CommandLine.arguments.contains("relays") {
            return simulateRelays(number, isOne: CommandLine.arguments.contains("seed"))
        }
        let isOne = CommandLine.arguments.dropFirst().first == "seed"
        if !isOne { findCanaries() }
        var total = Totals()
        for seed in isOne ? [number] : foundBefore + Array(1...number) {
            print("seed \(seed)")
            fflush(nil)  // in case it traps
            let world = World(
                seed: seed, isCrowd: isCrowd(seed), isQuiet: isQuiet(seed), isNeverTold: isNeverTold(seed))
            world.run()
            let isLong = isOne || seed % 10 == 0
            if let violation = world.violation ?? (isLong ? poisoned(seed) ?? relayed(seed) : nil) {
                print("VIOLATED: seed \(seed), \(violation)\nagain: Deploy/tools/simulate --seed \(seed)")
                exit(1)
            }
            total.add(world)
        }
        print(total.line)
    }
}

extension Simulate {
    private static func describe(_ figures: DayOfArrivals.Figures) -> String {
        func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
        return """
            simulation: \(figures.arrived) notifications in a day, \(rounded(figures.busiestHour)) a second in the busiest \
            hour, \(figures.busiestSecond) in the busiest second; the longest wait in front of tor \
            \(rounded(figures.longestWait)) s, \(rounded(figures.waitOverASecond * 100)) % come when it is over a second
            """
    }

    /// Several nodes with one store.
    private static func simulateNodes(_ number: UInt64, isOne: Bool) {
        var (steps, accepted, orphans, again, strays) = (0, 0, 0, 0, 0)
        for seed in (isOne ? number : 1)...number {
            print("nodes of seed \(seed)")
            fflush(nil)  // in case it traps
            let cluster = Cluster(seed: seed)
            cluster.run()
            if let violation = cluster.violation {
                print(
                    "VIOLATED: nodes of seed \(seed), \(violation)\nagain: Deploy/tools/simulate nodes --seed \(seed)"
                )
                exit(1)
            }
            steps += cluster.steps
            accepted += cluster.books.accepted
            orphans += cluster.books.orphans
            again += cluster.books.again
            strays += cluster.books.strays
        }
        print(
            """
            simulation: \(isOne ? 1 : number) histories of several nodes, \(steps) steps: \(accepted) accepted, nothing lost; \
            \(orphans) begun by nodes that were gone or paused, \(strays) of them after a pause in which their clock had \
            stood, \(again) taken again
            """)
    }

    /// Two lanes of an app that hands on to several upstreams.
    private static func simulateRelays(_ number: UInt64, isOne: Bool) {
        if !isOne { findCanaries(Canary.allCases.filter(\.isAboutRelays)) }
        var (delivered, putOff, longest) = (0, 0, Duration.zero)
        for seed in (isOne ? number : 1)...number {
            print("relays of seed \(seed)")
            fflush(nil)  // in case it traps
            let world = RelayWorld(seed: seed)
            world.run()
            if let violation = world.violation {
                print(
                    "VIOLATED: seed \(seed), \(violation)\nagain: Deploy/tools/simulate relays --seed \(seed)"
                )
                exit(1)
            }
            delivered += world.delivered
            putOff += world.putOff
            longest = max(longest, world.longest)
        }
        print(
            """
            simulation: \(isOne ? 1 : number) histories of relays: \(delivered) delivered, none by two relays; \(putOff) times \
            one waited for room at another relay than the others; tried after \(longest.components.seconds) s at the latest
            """)
    }

    /// Histories that found a fault once: tokens that always fail had filled a lane's memory, or were the first of a start.
    private static let foundBefore: [UInt64] = [1500, 2250]

    /// What tokens that always fail do to others.
    private static func poisoned(_ seed: UInt64) -> String? {
        for plan in PoisonWorld.plans(seed) + PoisonWorld.outages(seed) {
            let world = PoisonWorld(seed: seed, plan)
            world.run()
            if let violation = world.violation { return violation }
        }
        return nil
    }

    /// What relays that hang, die and come back do to two lanes.
    private static func relayed(_ seed: UInt64) -> String? {
        let world = RelayWorld(seed: seed)
        world.run()
        return world.violation
    }

    /// A crowd takes its time.
    private static func isCrowd(_ seed: UInt64) -> Bool { seed % 25 == 0 }
    private static func isQuiet(_ seed: UInt64) -> Bool { seed % 3 == 0 }
    private static func isNeverTold(_ seed: UInt64) -> Bool { seed % 4 == 1 }

    /// Checks that find no core that is broken on purpose would find none that is broken by mistake.
    private static func findCanaries(_ canaries: [Canary] = Canary.allCases) {
        for canary in canaries {
            print("canary \(canary)")
            fflush(nil)  // in case it traps
            guard let violation = canary.found() else {
                print("NOT FOUND: the core that is broken on purpose (\(canary)) passed all checks")
                exit(1)
            }
            print("found: \(violation)")
        }
    }
}

private struct Totals {
    private var histories = 0
    private var steps = 0
    private var crashes = 0
    private var accepted = 0
    private var delivered = 0
    private var refused = 0
    private var dead = 0
    private var expired = 0
    private var repeated = 0
    private var told = 0
    private var atOnce = 0
    private var late = 0
    private var healthy = 0
    private var longestWait: Duration = .zero

    mutating func add(_ world: World) {
        histories += 1
        steps += world.steps
        crashes += world.crashes
        accepted += world.books.accepted
        delivered += world.books.delivered
        refused += world.books.refused
        dead += world.books.dead
        expired += world.books.expired
        repeated += world.gateway.repeated
        told += world.senders.tellings
        atOnce += world.atOnce.delivered
        late += world.atOnce.stored
        healthy += world.healthyLeft
        longestWait = max(longestWait, world.longestCalmWait)
    }

    var line: String {
        """
        simulation: \(histories) histories, \(steps) steps, \(crashes) crashes: \(accepted) accepted = \
        \(delivered) delivered + \(refused) refused + \(dead) dead + \(expired) expired; \
        \(atOnce) more delivered before they were stored, \(late) stored after they went out; \
        \(repeated) taken again after an unclear answer; \(told) receipts, all true; nothing lost, nothing taken \
        twice; \(healthy) to healthy phones of a crowd left, after \(longestWait.milliseconds) ms at the latest; \(Canary.allCases.count) broken cores found
        """
    }
}
