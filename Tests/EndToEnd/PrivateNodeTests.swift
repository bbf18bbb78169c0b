import Client
import Foundation
import Lab
import LabParts
import Reactor
import Testing
import Tor
import Vectors
import Wire

/// `onionbell invite`, `revoke` and `peers` beside the running program.
@EventLoop
@Suite(.serialized) struct PrivateNodeTests {
    private func command(_ stage: NodeTests.Stage, _ words: String...) throws -> CommandResult {
        try run([program] + words + ["--config", stage.configuration])
    }

    /// Waits until the node says that it took over what the commands did.
    private func taken(_ stage: NodeTests.Stage, _ count: String) async {
        await stage.node.wait { node in
            node.exit != nil || node.lines.contains { $0.contains("peers.authorized count=\(count)") }
        }
    }

    /// The key for a client's control port.
    private func invite(_ name: String, to stage: NodeTests.Stage) throws -> String {
        let invited = try command(stage, "invite", name)
        #expect(invited.status == 0, "\(invited)")
        let line = invited.output.split(separator: "\n").first { $0.hasPrefix("ONION_CLIENT_AUTH_ADD ") }
        return String(try #require(line?.split(separator: " ").last))
    }

    /// He has the descriptor, and circuits; within ten seconds neither is of any use to him.
    @Test func whoeverIsRevokedIsOutWithinSecondsAndTheOthersComeBack() async throws {
        let stage = try await NodeTests.Stage()
        let (alice, bob) = (try invite("alice", to: stage), try invite("bob", to: stage))
        await taken(stage, "2")
        await stage.node.wait { node in
            node.exit != nil || node.lines.count { $0.contains("onion.published") } >= 2
        }
        let network = try await SharedTorNetwork.network()
        let (hers, his) = (try await network.startTor(), try await network.startTor())
        let service = String(stage.address.dropLast(6))
        try await hers.give(clientKey: alice, for: service)
        try await his.give(clientKey: bob, for: service)
        func dial(_ tor: LabTor, _ limit: Duration) async throws -> BisqPeer {
            try await BisqPeer.dial(
                .tor(socks: try #require(tor.socks), onion: stage.address, port: 9999),
                attemptTimeout: min(limit, .seconds(10)), deadline: limit)
        }
        let friend = try await dial(hers, theRun)
        let former = try await dial(his, theRun)
        _ = try await (friend.ping(), former.ping())

        #expect(try command(stage, "revoke", "bob").status == 0)
        try await until { (try? await former.ping(deadline: .seconds(1))) == nil }
        // By no new circuit either, though he has the descriptor.
        for _ in 0..<3 {
            await #expect(throws: PeerDialError.self) { _ = try await dial(his, .seconds(4)) }
        }
        _ = try await dial(hers, theRun).ping()
        await stage.close()
    }

    @Test func onlyThoseInvitedComeInWhileTheNodeRunsOn() async throws {
        let stage = try await NodeTests.Stage()
        let everybody = try command(stage, "peers")
        #expect(everybody.status == 0 && everybody.output.isEmpty && everybody.errors.contains("public"))
        #expect(try command(stage, "peers", "--json").output == #"{"clients":[],"private":false}"# + "\n")
        let early = try await stage.dial()

        let invited = try command(stage, "invite", "alice")
        #expect(invited.status == 0, "\(invited.errors)")
        let lines = invited.output.split(separator: "\n").map(String.init)
        let service = String(stage.address.dropLast(6))
        let line = try #require(lines.first { $0.hasPrefix("\(service):descriptor:x25519:") })
        let control = try #require(lines.first { $0.hasPrefix("ONION_CLIENT_AUTH_ADD \(service) x25519:") })
        await taken(stage, "1")
        // From now on only those come in who are invited, and whoever was in before has to come anew.
        await stage.node.wait { $0.exit != nil || $0.lines.contains { $0.contains("onion.rotated") } }
        await #expect(throws: PeerError.self) { _ = try await early.ping() }
        #expect(try command(stage, "peers").output == "alice\n")
        #expect(
            try command(stage, "peers", "--json").output == #"{"clients":["alice"],"private":true}"# + "\n")
        #expect(try command(stage, "invite", "alice").status == 1)
        // In its new form it is made known once more.
        await stage.node.wait { node in
            node.exit != nil || node.lines.count { $0.contains("onion.published") } >= 2
        }
        let configuration = stage.configuration
        let doctor = try await Task.detached {
            try run([program, "doctor", "--socks", "127.0.0.1:1", "--config", configuration])
        }.value
        let isProven = doctor.output.contains("has reached it lately (self_dial)")
        #expect(
            doctor.output.contains("\(isProven ? "pass" : "warn")  onion: private (1 authorized)"),
            "\(doctor)")

        // By the file, and by the control port; without either nobody comes in.
        let network = try await SharedTorNetwork.network()
        let directory = try stage.world.directory.make("auth")
        try PrivateFile.write(line + "\n", to: directory + "/alice.auth_private", replacing: false)
        let byFile = try #require(try await network.startTor(["ClientOnionAuthDir \(directory)"]).socks)
        let other = try await network.startTor()
        let stranger = try #require(other.socks)
        let route = { PeerRoute.tor(socks: $0, onion: stage.address, port: 9999) }
        let peer = try await BisqPeer.dial(route(byFile), attemptTimeout: .seconds(10))
        _ = try await peer.ping()
        await #expect(throws: PeerDialError.self) {
            _ = try await BisqPeer.dial(route(stranger), attemptTimeout: .seconds(5), deadline: .seconds(5))
        }
        let words = control.split(separator: " ").map(String.init)
        try await other.give(clientKey: words[2], for: words[1])
        _ = try await BisqPeer.dial(route(stranger), attemptTimeout: .seconds(10)).ping()

        let revoked = try command(stage, "revoke", "alice")
        #expect(revoked.status == 0 && revoked.output.contains("no authorized client is left"))
        await taken(stage, "0")
        let late = try #require(try await network.startTor(["ClientOnionAuthDir \(directory)"]).socks)
        await #expect(throws: PeerDialError.self) {
            _ = try await BisqPeer.dial(route(late), attemptTimeout: .seconds(5), deadline: .seconds(5))
        }
        // Whoever was in is out.
        await #expect(throws: PeerError.self) { _ = try await peer.ping() }

        #expect(try command(stage, "peers", "--let-everybody-in").status == 0)
        await taken(stage, "everybody")
        _ = try await BisqPeer.dial(route(late), attemptTimeout: .seconds(10)).ping()
        let log = stage.node.lines
        #expect(!log.contains { $0.contains("alice") })
        await stage.close()
    }
}
