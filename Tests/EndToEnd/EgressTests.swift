import Client
import Encodings
import Lab
import LabParts
import Reactor
import Testing
import Wire

@testable import Tor

/// The built program's own connections through tor. Apple, Google and a push server are onion services here, so that no
/// other way leads to them.
@EventLoop
@Suite struct EgressTests {
    @Test func pushesAndAccessTokensGoThroughTor() async throws {
        let network = try await SharedTorNetwork.network()
        let key = OnionKey.generate()
        let host = key.address.description
        let world = try LabWorld(names: [host])
        let server = try SimulatedUnifiedPush()
        world.webPushHosts = [host]
        let gateways = try await network.startTor()
        let service = try await OnionService.publish(
            key: key,
            ports: [
                try VirtualPort(2197, to: world.apple.endpoint),
                try VirtualPort(443, to: world.google.endpoint),
                try VirtualPort(80, to: server.endpoint),
            ], on: gateways.connection)
        _ = try world.directory.make("state")
        try network.seed(dataDirectory: try world.directory.make("state/tor"))
        let torrc = world.directory.path + "/torrc"
        try network.writeTorrc(basedOn: projectTorrc, to: torrc)
        let configuration = try world.configure(
            tor: ["mode: own", "torrc: \(torrc)"],
            more: ["gateways: {proxy: tor}", "onion: {self_dial_interval: 0}"], withWebPush: true,
            apple: "https://\(host):2197", google: "https://\(host)")
        let node = try LabNode(nodeProgram, configuration: configuration)
        let published = await node.publishedLine()
        let lines = node.lines
        let address = try #require(
            published?.split(separator: " ").dropFirst().first.map { String($0) }, "\(lines)")

        let socks = try #require(try await SharedTorNetwork.client().socks)
        let peer = try await BisqPeer.dial(
            .tor(socks: socks, onion: address, port: 9999), attemptTimeout: .seconds(10))
        for platform in [Platform.ios, .android] {
            let phone = try Phone.new(platform, descriptor: "phone")
            var request = try BisqSender(to: phone.pairingToken).request(
                for: PhoneText(sentDate: 1, title: "a", message: "b", kind: .trade))
            request.awaitsOutcome = true
            let said = node.lines.suffix(5)
            let outcome = try await peer.outcome(of: request)
            #expect(outcome.status == .delivered, "\(outcome.reason) \(said)")
        }
        #expect(world.apple.book.count == 1 && world.google.book.count == 1)
        // Both stand behind one address; without a login for each app tor would reach them by one circuit.
        let circuits = try await gateways.connection.circuits()
        #expect(service.state.isPublished && circuits.clients(of: key.address.serviceID) >= 2)
        // The doctor asks by the same way: there is no other one to these hosts.
        let asked = try await Task.detached {
            try run([program, "doctor", "--json", "--socks", "\(socks)", "--config", configuration])
        }.value
        for check in [
            "bisq-remote-ios", "bisq-remote-ios.sandbox", "bisq-remote-android", "browsers.\(host)",
        ] {
            #expect(
                asked.output.contains("{\"check\":\"\(check).credentials\",\"verdict\":\"pass\""),
                "\(asked.output)")
        }
        #expect(server.answers == [404], "a message for nobody, whose server takes the node's key")
        #expect(!asked.output.contains(".name\""))
        #expect(asked.output.contains("its address proves who it is"))
        await node.stop()
        server.close()
        await world.close()
    }
}
