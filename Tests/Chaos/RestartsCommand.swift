import ArgumentParser
import Lab
import Reactor

/// `onionbell-chaos restarts`: whether anybody notices that the node restarts in place.
struct RestartsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restarts",
        abstract: "Restarts in place, and successors that fail, while senders come that never repeat.",
        discussion: """
            On a private Tor network, with a tor of the node's own, with one in a unit of its own, or with the system's. Each \
            second a sender dials anew, as Bisq 1 does, sends one notification, and never repeats it. Beside it are a \
            peer that stays connected and asks for outcomes, and a reader of a mailbox.

            Exit status: 0 only if no send failed, all that was taken came once, tor noticed nothing, and after each \
            successor that failed the node was there with its old settings.
            """)

    @Option(help: "Restarts in place.") var restarts = 100
    @Option(help: "own, instance or system; more than once for one after the other.") var mode: [String] = []
    @Option(help: "Only kinds of failing successors whose name has these words; none: no kinds.") var kinds =
        ""
    @Option(help: "Busy loops beside it.") var busy = 0
    @Option(
        help: "Seconds that a send may take, and twice as many until a node is back; 0: they are only told.")
    var longest = 5
    @Option(help: "Makes the plan; the same seed makes the same one.") var seed: UInt64 = 1
    @Option(help: "The project's torrc.") var torrc = "torrc"

    func validate() throws {
        guard mode.allSatisfy({ RestartsTor.Mode(rawValue: $0) != nil }) else {
            throw ValidationError("--mode is own, instance or system")
        }
    }

    func run() async throws {
        Chaos.prepare()
        var violations: [String] = []
        let loops = try await BusyLoops(busy)
        for word in mode.isEmpty ? ["own", "instance"] : mode {
            guard let mode = RestartsTor.Mode(rawValue: word) else { continue }
            say("\ntor.mode: \(word), \(busy) busy loops")
            let network = try await PrivateTorNetwork.start()
            let run = try await RestartsRun(
                mode, network, torrc: torrc, seed: seed, longest: .seconds(longest))
            try await run.restart(restarts)
            try await run.fail(kinds)
            await run.close()
            for line in await run.report { say(line) }
            violations += await run.violations.map { "\(word): \($0)" }
            await network.stop()
        }
        await loops.stop()
        for violation in violations.prefix(40) { say("VIOLATION: \(violation)") }
        guard violations.isEmpty else {
            say("VIOLATED (seed \(seed))")
            throw ExitCode(1)
        }
        say("nothing lost, nobody noticed (seed \(seed))")
    }
}

/// Programs that take all the time that they get.
@EventLoop
private final class BusyLoops {
    private var loops: [ChildProcess] = []

    init(_ count: Int) throws {
        for _ in 0..<count {
            loops.append(try ChildProcess(["sh", "-c", "while :; do :; done"]) { _ in })
        }
    }

    func stop() { loops = [] }
}
