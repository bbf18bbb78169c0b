import ArgumentParser
import Client
import Glibc
import Lab
import Reactor

/// `onionbell-chaos mailbox`: what reaches the readers of a mailbox while everything between breaks.
struct MailboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mailbox",
        abstract: "Readers of a mailbox over Tor: their tor, the node and they themselves are killed.",
        discussion: """
            On a private Tor network. Bisq sends to a mailbox; onionbell receive and, where it is installed, aiontfy \
            read it, each through the readers' tor, by WebSocket and by lines of JSON. Every message that the node has taken has to come to each reader, \
            in the order of sending. A reader that is killed between showing and noting a message shows it again, and \
            no other. At last the mailbox is removed, and each reader has to end.
            """)

    @Option(help: "How often something is killed.") var rounds = 100
    @Option(help: "Makes the plan; the same seed makes the same one.") var seed: UInt64 = 1
    @Option(help: "Notifications in quiet, one after the other, for the time that they take.") var quiet = 30
    @Option(help: "Further notifications, for the processor time that one costs.") var burst = 300
    @Option(help: "The project's torrc.") var torrc = "torrc"

    func run() async throws {
        Chaos.prepare()
        let network = try await PrivateTorNetwork.start()
        let run = try await MailboxRun(network, torrc: torrc, seed: seed)
        try await run.inQuiet(quiet)
        try await run.inBulk(burst)
        try await run.rounds(rounds)
        try await run.remove()
        await run.close()
        await network.stop()
        let violations = await run.violations
        for violation in violations.prefix(40) { say("VIOLATION: \(violation)") }
        guard violations.isEmpty else {
            say("VIOLATED (seed \(seed))")
            throw ExitCode(1)
        }
        say("nothing lost, all in order (seed \(seed))")
    }
}

/// What is killed in a round.
enum MailboxBlow: String, CaseIterable {
    case tor = "the readers' tor"
    case node = "the node"
    case readers = "the readers"
    case readersTwice = "the readers, twice"
    case nodeAndTor = "the node and the readers' tor"
    case restart = "nobody (a restart in place)"
}
