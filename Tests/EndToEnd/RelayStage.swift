import Client
import Foundation
import HTTP1
import Lab
import LabParts
import Reactor
import Testing
import Tor

/// The built node with apps of gateway relay and nothing else, Bisq's relay as a stand-in behind an onion address, and
/// real tors between them: the node's takes the addresses that are built into Bisq for that one, and a client's takes
/// them for the node's.
@EventLoop
final class RelayStage {
    static let bisq1 = "bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion"
    static let bisq2 = "6be5uu6ldm3mim2xiyov2m6owzhdlicfobqho5mbpglzio6qt5etyhid.onion"

    let directory: LabDirectory
    /// Of the app of Bisq 1, and of Bisq 2.
    let first: SimulatedRelay
    let second: SimulatedRelay
    let configuration: String
    private(set) var node: LabNode
    private(set) var address = ""
    private(set) var client: LabTor!
    private let relays: LabTor
    private let service: OnionService

    /// - Parameters:
    ///   - apps: the lines under `apps:`, by the upstream's address; `nil`: one of each form, as short as can be.
    ///   - more: further lines of the configuration.
    ///   - upstream: an onion address in the place of the stand-in's.
    init(apps: ((String) -> String)? = nil, more: [String] = [], upstream: String? = nil) async throws {
        let network = try await SharedTorNetwork.network()
        directory = try LabDirectory()
        first = try SimulatedRelay()
        second = try SimulatedRelay()
        relays = try await network.startTor()
        let key = OnionKey.generate()
        service = try await OnionService.publish(
            key: key,
            ports: [
                try VirtualPort(80, to: first.endpoint), try VirtualPort(8021, to: second.endpoint),
            ], on: relays.connection)
        let upstream = upstream ?? key.address.description
        let path = directory.path
        _ = try directory.make("state")
        try network.seed(dataDirectory: try directory.make("state/tor"))
        let mapped = "\nMapAddress \(Self.bisq1) \(upstream)\nMapAddress \(Self.bisq2) \(upstream)\n"
        try LabDirectory.write(try LabDirectory.read(projectTorrc) + Array(mapped.utf8), to: path + "/base")
        try network.writeTorrc(basedOn: path + "/base", to: path + "/torrc")
        let own = """
              - {name: bisq1, gateway: relay, form: bisq1}
              - {name: bisq2, gateway: relay, form: bisq2}
            """
        let text = """
            state_directory: \(path)/state
            tor: {mode: own, torrc: \(path)/torrc}
            apps:
            \(apps?(upstream) ?? own)
            management: {listen: "unix:\(path)/management"}
            \(more.joined(separator: "\n"))

            """
        configuration = path + "/onionbell.yaml"
        try LabDirectory.write(Array(text.utf8), to: configuration)
        node = try LabNode(nodeProgram, configuration: configuration)
        try await published()
        client = try await network.startTor([
            "MapAddress \(Self.bisq1) \(address)", "MapAddress \(Self.bisq2) \(address)",
        ])
    }

    private func published() async throws {
        let published = await node.publishedLine()
        let lines = node.lines
        address = String(
            try #require(published?.split(separator: " ").dropFirst().first, "the node said: \(lines)"))
    }

    func startAgain() async throws {
        node = try LabNode(nodeProgram, configuration: configuration)
        try await published()
    }

    /// As Bisq calls its relay: at the address that is built into it.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let isBisq1 = request.method == "GET"
        let host = isBisq1 ? Self.bisq1 : Self.bisq2
        let socks = try #require(client.socks)
        return try await HTTPExchange.answer(
            to: request, host: isBisq1 ? host : "\(host):8021",
            by: .tor(socks: socks, onion: host, port: isBisq1 ? 80 : 8021), attemptTimeout: .seconds(20))
    }

    /// Returns when so many have come.
    func pushes(_ count: Int, at relay: SimulatedRelay) async -> [SimulatedRelay.Push] {
        try? await until { relay.book.count >= count }
        return relay.book
    }

    func close() async {
        if node.exit == nil { await node.stop() }
        let indiscretions = node.indiscretions
        #expect(indiscretions.isEmpty, "the log tells what nobody may know")
        await client.kill()
        first.close()
        second.close()
        await relays.kill()
        await directory.remove()
    }
}
