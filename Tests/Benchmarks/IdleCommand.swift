import ArgumentParser
import Lab
import LabParts
import Reactor

/// `onionbell-bench idle`: peers that connect, send one Ping, and are then silent until this is killed.
struct IdleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "idle", abstract: "Hold idle connections.",
        discussion: "Prints how many there are once all have had their Pong.")

    @Option(help: "The node's peer_listen.") var to: Endpoint
    @Option(help: "Connections.") var peers = 10_000

    func run() async throws {
        ThisProcess.raiseFileLimit()
        let crowd = await PeerCrowd()
        try await crowd.gather(peers, to: to)
        tell("\(await crowd.pongs)")
        while true { try await Task.sleep(for: .seconds(3600)) }
    }
}
