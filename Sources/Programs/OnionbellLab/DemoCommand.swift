import ArgumentParser
import Glibc
import Reactor

/// `onionbell demo`: the whole story on this machine, shown as it happens.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract:
            "Demonstrate everything on this machine: private Tor network, node, phones, peer, gateways.",
        discussion: """
            Starts a private Tor network, simulated servers of Apple and Google, and onionbelld as the node. Pairs \
            two phones, and lets a Bisq peer send a notification to each over Tor. A second node without credentials \
            then hands a request of Bisq 1 on to a simulated Bisq relay. Nothing leaves this machine, and nothing \
            remains afterwards. It takes about half a minute.

            Exit status: 0 only if every step was verified.
            """)

    @Option(help: "The tor binary.")
    var tor = "tor"

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        ThisProcess.raiseFileLimit()
        guard await Demo(tor: tor).run() else { throw ExitCode(1) }
    }
}
