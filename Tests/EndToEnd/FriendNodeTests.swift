import Client
import Encodings
import HTTP1
import Lab
import LabParts
import Reactor
import Testing
import Vectors
import Wire

/// A node without credentials, and a friend's node that has them: frames between the two, over Tor.
@EventLoop
@Suite(.serialized) struct FriendNodeTests {
    private static func app(_ address: String) -> String {
        "  - {name: friend, gateway: relay, form: p2p, url: \(address)}"
    }

    private func request(to phone: Phone, _ title: String = "a") throws -> MobileNotificationRequest {
        var request = try BisqSender(to: phone.pairingToken).request(
            for: PhoneText(sentDate: 1, title: title, message: "b", kind: .trade))
        request.awaitsOutcome = true
        return request
    }

    private func dial(_ stage: RelayStage) async throws -> BisqPeer {
        let socks = try #require(try await SharedTorNetwork.client().socks)
        return try await BisqPeer.dial(
            .tor(socks: socks, onion: stage.address, port: 9999), attemptTimeout: .seconds(10))
    }

    /// What becomes of a request, however often the connection breaks on the way.
    private func outcome(
        _ request: MobileNotificationRequest, at stage: RelayStage
    ) async throws -> MobileNotificationResponse {
        let peer = try await dial(stage)
        defer { peer.close() }
        let response = try await peer.send(request)
        return response.status == .stored
            ? try await peer.nextResponse(to: request.uid, deadline: theRun) : response
    }

    @Test func theSenderHearsWhatTheFriendsGatewaySays() async throws {
        let friend = try await NodeTests.Stage()
        let stage = try await RelayStage(apps: { _ in Self.app(friend.address) })
        for platform in [Platform.ios, .iosDev, .android] {
            let phone = try Phone.new(platform, descriptor: "phone")
            let sent = try request(to: phone)
            #expect(try await outcome(sent, at: stage).status == .delivered, "\(platform)")
            #expect(try await outcome(sent, at: stage).status == .delivered)
        }
        #expect(friend.world.apple.book.count == 2 && friend.world.google.book.count == 1)
        friend.world.google.faults = FaultScript([
            FaultRule(.answer(status: 404, reason: "UNREGISTERED"), times: 1)
        ])
        let gone = try await outcome(try request(to: try Phone.new(.android, descriptor: "x")), at: stage)
        #expect(gone.status == .tokenDead && gone.reason == "UNREGISTERED")
        // What Bisq 1 sends comes the same way.
        let phone = try Phone.new(.android, descriptor: "phone")
        let waiter = friend.world.nextPush(to: phone)
        let get = try BisqSender(to: phone.pairingToken).httpRequest(
            for: PhoneText(sentDate: 1, title: "a", message: "b", kind: .trade))
        #expect(try await stage.send(get).body == Array("success".utf8))
        #expect(await waiter.wait(for: theRun) != nil)
        await stage.close()
        await friend.close()
    }

    /// Killed while the friend's node waits for Google: nothing tells it that the phone has rung.
    @Test func killedInBetweenItRingsOnce() async throws {
        let friend = try await NodeTests.Stage()
        let stage = try await RelayStage(apps: { _ in Self.app(friend.address) })
        friend.world.google.faults = FaultScript([FaultRule(.delay(.seconds(3)), times: 1)])
        let phone = try Phone.new(.android, descriptor: "phone")
        let waiter = friend.world.nextPush(to: phone)
        let sent = try request(to: phone)
        #expect(try await dial(stage).send(sent).status == .stored)
        #expect(await waiter.wait(for: theRun) != nil)
        await stage.node.kill()
        try await stage.startAgain()
        #expect(try await outcome(sent, at: stage).status == .delivered)
        #expect(friend.world.google.book.count == 1)
        await stage.close()
        await friend.close()
    }

    /// The friend's node is killed with what it has promised to deliver.
    @Test func aFriendThatIsKilledRingsOnce() async throws {
        let friend = try await NodeTests.Stage()
        let stage = try await RelayStage(apps: { _ in Self.app(friend.address) })
        friend.world.google.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        let phone = try Phone.new(.android, descriptor: "phone")
        let sent = try request(to: phone)
        #expect(try await dial(stage).send(sent).status == .stored)
        try await until { friend.world.google.figures.requests > 0 }
        await friend.node.kill()
        friend.world.google.faults = FaultScript()
        try await friend.startAgain()
        #expect(try await outcome(sent, at: stage).status == .delivered)
        #expect(friend.world.google.book.count == 1)
        await stage.close()
        await friend.close()
    }

    @Test func whatWasHandedOnIsNotHandedOnAgain() async throws {
        let friend = try await RelayStage()
        let stage = try await RelayStage(apps: { _ in Self.app(friend.address) })
        let phone = try Phone.new(.android, descriptor: "phone")
        #expect(try await dial(stage).send(try request(to: phone)).status == .stored)
        let node = stage.node
        await node.wait { node in
            node.exit != nil || node.lines.contains { $0.contains("gateway.blocked") && $0.contains("Loop") }
        }
        #expect(node.exit == nil)
        #expect(friend.first.book.isEmpty && friend.first.figures.requests == 0)
        await stage.close()
        await friend.close()
    }

    @Test func doctorAsksTheFriend() async throws {
        let friend = try await NodeTests.Stage()
        let stage = try await RelayStage(apps: { _ in Self.app(friend.address) })
        let socks = try #require(try await SharedTorNetwork.client().socks)
        let configuration = stage.configuration
        let said = try await Task.detached {
            try run([program, "doctor", "--json", "--socks", "\(socks)", "--config", configuration])
        }.value.output
        #expect(said.contains(#""check":"friend.relay","verdict":"pass""#), "\(said)")
        #expect(friend.world.google.book.isEmpty)
        await stage.close()
        await friend.close()
    }
}
