import Client
import Encodings
import Foundation
import JSONCoding
import Lab
import LabParts
import Reactor
import Testing
import Vectors
import Wire

/// The built program with real tor on the private network and the simulated gateways.
@EventLoop
@Suite(.serialized) struct NodeTests {
    /// A node in a world of its own, with its own tor in the shared network.
    @EventLoop
    final class Stage {
        let world: LabWorld
        let socks: Endpoint
        let configuration: String
        var node: LabNode
        var address = ""

        /// - Parameter prepare: what lies in the state directory before the first start.
        init(
            more: [String] = [], withWebPush: Bool = false,
            prepare: @EventLoop (LabWorld) throws -> Void = { _ in }
        ) async throws {
            let network = try await SharedTorNetwork.network()
            socks = try #require(try await SharedTorNetwork.client().socks)
            world = try LabWorld()
            _ = try world.directory.make("state")
            try network.seed(dataDirectory: try world.directory.make("state/tor"))
            let torrc = world.directory.path + "/torrc"
            try network.writeTorrc(basedOn: projectTorrc, to: torrc)
            try prepare(world)
            configuration = try world.configure(
                tor: ["mode: own", "torrc: \(torrc)"], more: more, withWebPush: withWebPush)
            node = try LabNode(nodeProgram, configuration: configuration)
            try await published()
        }

        func published() async throws {
            let published = await node.publishedLine()
            let lines = node.lines
            let line = try #require(published, "the node said: \(lines)")
            address = String(try #require(line.split(separator: " ").dropFirst().first))
            #expect(
                try String(contentsOfFile: world.state + "/onion-address", encoding: .utf8) == address + "\n")
        }

        func startAgain() async throws {
            node = try LabNode(nodeProgram, configuration: configuration)
            try await published()
        }

        func dial() async throws -> BisqPeer {
            try await BisqPeer.dial(
                .tor(socks: socks, onion: address, port: 9999), attemptTimeout: .seconds(10))
        }

        func close() async {
            await node.stop()
            let indiscretions = node.indiscretions
            #expect(indiscretions.isEmpty, "the log tells what nobody may know")
            await world.close()
        }
    }

    private func message(_ title: String) -> PhoneText {
        PhoneText(
            sentDate: 1_790_000_000_000, transactionID: "abc", title: title, message: "Grüße \(title)",
            kind: .trade,
            actionRequired: "", version: 1)
    }

    private func encrypted(_ push: AcceptedPush, _ platform: Platform) throws -> String {
        let body = try JSON(push.body)
        return try #require(
            (platform == .android ? body["message"]?["data"]?["encrypted"] : body["encrypted"])?.string)
    }

    @Test func aPeersFramesReachBothGatewaysAndThePhonesReadThem() async throws {
        let stage = try await Stage()
        let peer = try await stage.dial()
        for platform in [Platform.ios, .iosDev, .android] {
            let phone = try Phone.new(platform, descriptor: "iPhone X")
            let sent = message("to \(platform)")
            var request = try BisqSender(to: phone.pairingToken).request(for: sent)
            request.awaitsOutcome = true
            let waiter = stage.world.nextPush(to: phone)
            #expect(try await peer.outcome(of: request).status == .delivered)
            let (push, _) = try #require(await waiter.wait(for: theRun))
            #expect(try phone.open(try encrypted(push, platform)) == sent)
            // The state afterwards: the same uid again tells the end at once, and nothing is sent twice.
            #expect(try await peer.send(request).status == .delivered)
        }
        #expect(stage.world.apple.book.count == 2)
        #expect(stage.world.google.book.count == 1)
        await stage.close()
        #expect(stage.node.exit == .exited(0))
    }

    @Test func whatWasReceiptedBeforeAKillIsDeliveredOnceAfterIt() async throws {
        let stage = try await Stage()
        stage.world.google.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        let phone = try Phone.new(.android, descriptor: "Pixel")
        var requests: [MobileNotificationRequest] = []
        let peer = try await stage.dial()
        for number in 0..<5 {
            let request = try BisqSender(to: phone.pairingToken).request(for: message("number \(number)"))
            requests.append(request)
            #expect(try await peer.send(request).status == .stored)
        }
        await stage.node.kill()
        #expect(stage.world.google.book.isEmpty)
        stage.world.google.faults = FaultScript()
        try await stage.startAgain()
        let again = try await stage.dial()
        // A sender that is not sure sends once more; each is delivered once all the same.
        for var request in requests {
            request.awaitsOutcome = true
            var response = try await again.send(request)
            if response.status == .stored { response = try await again.nextResponse(to: request.uid) }
            #expect(response.status == .delivered)
        }
        let shown = try stage.world.google.book.map { try phone.open(try encrypted($0, .android)).title }
        #expect(shown == (0..<5).map { "number \($0)" })
        await stage.close()
    }

    @Test func aTorThatDiesIsReplacedAndTheAddressStays() async throws {
        let stage = try await Stage()
        let address = stage.address
        let found = try run(["pgrep", "-f", "tor -f \(stage.world.directory.path)/torrc"])
        let processID = try #require(found.output.split(separator: "\n").compactMap { Int32($0) }.first)
        kill(processID, SIGKILL)
        try await until { (try? await stage.dial().ping(deadline: .seconds(10))) != nil }
        #expect(stage.address == address)
        await stage.close()
    }

    @Test func wrongInputsAreRefusedByTheirReasonAndHurtNobody() async throws {
        let stage = try await Stage()
        let peer = try await stage.dial()
        let phone = try Phone.new(.android, descriptor: "Pixel")
        let good = try BisqSender(to: phone.pairingToken).request(for: message("good"))
        let changes: [(reason: String, change: (inout MobileNotificationRequest) -> Void)] = [
            ("UnknownPlatform", { $0.platformNumber = 9 }), ("UnknownApp", { $0.app = "nobody" }),
            ("BadDeviceToken", { $0.deviceToken = "short" }), ("BadMessage", { $0.message = "not base64!" }),
            ("MessageTooLarge", { $0.message = String(repeating: "QUJD", count: 1400) }),
            ("BadExpiry", { $0.expiresAt = 1 }),
        ]
        for (number, (reason, change)) in changes.enumerated() {
            var request = good
            request.uid = "wrong-\(number)"
            change(&request)
            let response = try await peer.send(request)
            #expect(response.status == .refused)
            #expect(response.reason == reason)
        }
        // A peer of another network is told so, and this one goes on.
        let stranger = try await BisqPeer.dial(
            .tor(socks: stage.socks, onion: stage.address, port: 9999), network: .testnet)
        await #expect(throws: PeerError.closedByNode(.wrongNetworkID)) { _ = try await stranger.ping() }
        #expect(try await peer.send(good).status == .stored)
        await stage.close()
    }

    @Test func nothingThatIdentifiesAPhoneOrAMessageIsLogged() async throws {
        let stage = try await Stage(more: ["  format: json"])
        stage.world.google.faults = FaultScript([
            FaultRule(.answer(status: 404, reason: "UNREGISTERED"), times: 1),
            FaultRule(.answer(status: 503, reason: "UNAVAILABLE"), times: 1),
        ])
        let peer = try await stage.dial()
        var secrets: [String] = []
        for _ in 0..<3 {
            let phone = try Phone.new(.android, descriptor: "Pixel")
            let request = try BisqSender(to: phone.pairingToken).request(for: message("secret"))
            secrets += [request.deviceToken, request.uid, request.message, phone.pairingToken.key]
            _ = try await peer.send(request)
        }
        await stage.close()
        let log = stage.node.lines.joined(separator: "\n")
        for secret in secrets { #expect(!log.contains(secret)) }
        #expect(log.contains("\"event\":\"node.started\""))
    }
}
