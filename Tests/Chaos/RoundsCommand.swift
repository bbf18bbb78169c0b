import ArgumentParser
import Lab
import Reactor

/// `onionbell-chaos rounds`: kills at random instants.
struct RoundsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rounds", abstract: "Kill node, tor and gateways at random instants.",
        discussion: """
            The plan follows from the seed alone; when exactly a blow falls depends on the machine as well. Exit \
            status: 0 only if nothing was lost, nothing shown twice, and every sender was told the truth.
            """)

    @Option(help: "How often something is killed or stopped.") var rounds = 200
    @Option(help: "Makes the plan; the same seed makes the same one.") var seed: UInt64 = 1
    @Option(help: "How many of the rounds go over a private Tor network; the others go straight to the door.")
    var overTor: Int?
    @Option(help: "The project's torrc.") var torrc = "torrc"
    @Option(help: "Write the node's log of a failed run here.") var log = ".build/chaos.log"
    @Flag(
        help:
            "Without the limits that a node has by itself: quicker, as nobody is told to come again, so more is on its way when a blow falls."
    )
    var liftedLimits = false
    @Flag(help: "Leave out gateways that don't answer: for a short run.") var quick = false

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds is a number above 0") }
        guard (0...rounds).contains(overTor ?? 0) else {
            throw ValidationError("--over-tor is a number from 0 to that of the rounds")
        }
    }

    func run() async throws {
        Chaos.prepare()
        let overTor = overTor ?? rounds / 10
        say("seed \(seed), \(rounds) rounds, \(overTor) of them over Tor")
        var isWell = true
        if rounds > overTor {
            let run = try await RoundsRun(
                ChaosWorld(.loopback, torrc: torrc, hasLiftedLimits: liftedLimits), rounds: rounds - overTor,
                seed: seed, isQuick: quick)
            isWell = try await finish(run, "straight to the door")
        }
        if overTor > 0 {
            let network = try await PrivateTorNetwork.start()
            guard let socks = try await network.startTor().socks else { throw ChaosError("no SOCKS port") }
            let world = try await ChaosWorld(
                .tor(network, socks: socks), torrc: torrc, hasLiftedLimits: liftedLimits)
            let run = try await RoundsRun(world, rounds: overTor, seed: seed &+ 1, isQuick: quick)
            isWell = try await finish(run, "over Tor") && isWell
            await network.stop()
        }
        say(isWell ? "nothing lost, nothing shown twice (seed \(seed))" : "VIOLATED (seed \(seed))")
        guard isWell else { throw ExitCode(1) }
    }

    @EventLoop
    private func finish(_ run: RoundsRun, _ name: String) async throws -> Bool {
        say("\n\(name)")
        do {
            try await run.run()
        } catch {
            run.world.books.violate("\(error)")
            await run.world.killNode()
        }
        for line in run.table { say(line) }
        let violations = run.world.books.violations
        for violation in violations.prefix(40) { say("VIOLATION: \(violation)") }
        if !violations.isEmpty {
            let text = run.world.log.joined(separator: "\n") + "\n"
            try? LabDirectory.write(Array(text.utf8), to: log)
            say("the node's log is in \(log)")
        }
        await run.world.close()
        return violations.isEmpty
    }
}
