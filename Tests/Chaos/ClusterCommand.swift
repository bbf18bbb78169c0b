import ArgumentParser
import Lab
import Reactor

/// `onionbell-chaos cluster`: several nodes on one PostgreSQL.
struct ClusterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Several nodes on one PostgreSQL: nodes, database and the lines between are broken.",
        discussion: """
            Built nodes with simulated gateways and a real PostgreSQL, each node with a line to it that can be cut. \
            Senders of Bisq 1 and Bisq 2 reach any of the nodes, and another one where one gives no receipt. No Tor: \
            they come straight to the doors. A round is one blow, and lasts until all nodes have their parts again.

            Recovery counts from the blow until each of the devices has had a notification that was sent after it. Exit \
            status: 0 only if nothing was lost, every sender was told the truth, and nothing came twice or before an \
            earlier one without a reason. The plan follows from the seed alone; when exactly a blow falls depends on the \
            machine as well.
            """)

    @Option(help: "How often something is broken.") var rounds = 100
    @Option(help: "How many nodes there are.") var nodes = 3
    @Option(help: "Makes the plan; the same seed makes the same one.") var seed: UInt64 = 1
    @Option(help: "How many devices get notifications.") var devices = 24
    @Option(help: "The project's torrc.") var torrc = "torrc"
    @Option(parsing: .upToNextOption, help: "Only blows whose name has one of these.") var only: [String] = []
    @Option(help: "Write the logs of a failed run here.") var log = ".build/chaos-cluster.log"

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds is a number above 0") }
        guard (2...9).contains(nodes) else { throw ValidationError("--nodes is a number from 2 to 9") }
        guard (6...1000).contains(devices) else {
            throw ValidationError("--devices is a number from 6 to 1000")
        }
        for words in only where !blows.contains(where: { $0.rawValue.contains(words) }) {
            throw ValidationError("--only: no blow has \(words)")
        }
    }

    private var blows: [ClusterBlow] {
        ClusterBlow.allCases.filter { blow in
            only.isEmpty || only.contains { blow.rawValue.contains($0) }
        }
    }

    func run() async throws {
        Chaos.prepare()
        say("seed \(seed), \(rounds) rounds, \(nodes) nodes")
        let world = try await ClusterWorld(nodes: nodes, torrc: torrc)
        let run = await ClusterRun(world, devices: devices, seed: seed)
        do {
            try await run.run(rounds, of: blows)
        } catch {
            await world.books.violate("\(error)")
        }
        say("")
        for line in await run.table() { say(line) }
        let violations = await world.books.violations
        for violation in violations.prefix(40) { say("VIOLATION: \(violation)") }
        if !violations.isEmpty {
            try? LabDirectory.write(Array(await world.logs.utf8), to: log)
            say("the logs are in \(log)")
        }
        await world.close()
        guard violations.isEmpty else {
            say("VIOLATED (seed \(seed))")
            throw ExitCode(1)
        }
        say("nothing lost, nothing twice without a reason (seed \(seed))")
    }
}
