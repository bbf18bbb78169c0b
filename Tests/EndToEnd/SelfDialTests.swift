import Client
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Tor

/// The built program calls its own onion address, over the private Tor network.
@EventLoop
@Suite(.serialized) struct SelfDialTests {
    private let often = ["onion: {self_dial_interval: 1}"]

    private func check(_ name: String, of stage: NodeTests.Stage) async throws -> JSON? {
        let socket = stage.world.directory.path + "/management"
        let answer = try await Task.detached {
            try run(["curl", "-s", "--unix-socket", socket, "http://localhost/healthz"])
        }.value
        return try JSON(Array(answer.output.utf8))["checks"]?[name]
    }

    private func answeredCalls(of stage: NodeTests.Stage) async throws -> Int {
        let socket = stage.world.directory.path + "/management"
        let answer = try await Task.detached {
            try run(["curl", "-s", "--unix-socket", socket, "http://localhost/metrics"])
        }.value
        let line = answer.output.firstMatch(of: /self_dials_total\{result="ok"\} (\d+)/)
        return line.flatMap { Int($0.output.1) } ?? 0
    }

    @Test func bothDoorsAnswerAndHealthzSaysSo() async throws {
        let stage = try await NodeTests.Stage(more: often)
        try await until {
            let check = try await check("self_dial", of: stage)
            return check?["state"]?.string?.hasPrefix("the node's own address answered") == true
        }
        #expect(try await check("self_dial", of: stage)?["ok"]?.bool == true)
        #expect(try await check("tor", of: stage)?["ok"]?.bool == true)
        #expect(!stage.node.lines.contains { $0.contains("self_dial_failed") })
        await stage.close()
    }

    /// Its own tor has a key of its own, like any peer that is invited.
    @Test func aPrivateNodeReachesItself() async throws {
        let stage = try await NodeTests.Stage(more: often) { world in
            _ = try Invitations(path: world.state + "/peers").invite("alice")
        }
        try await until {
            let check = try await check("self_dial", of: stage)
            return check?["state"]?.string?.hasPrefix("the node's own address answered") == true
        }
        // A call may make tor forget clients' keys. Not only the first one comes through, and none fails on the way.
        try await until { try await answeredCalls(of: stage) >= 3 }
        let failures = stage.node.lines.filter { $0.contains("self_dial_failed") }
        #expect(failures == [])
        await #expect(throws: PeerDialError.self) {
            _ = try await BisqPeer.dial(
                .tor(socks: stage.socks, onion: stage.address, port: 9999), attemptTimeout: .seconds(5),
                deadline: .seconds(5))
        }
        await stage.close()
    }

    /// With and without HTTP ports: then a Ping must do.
    @Test(arguments: ["[80]", "[]"]) func aSecondNodeWithTheSameKeyIsNoticed(ports: String) async throws {
        let often = ["onion: {self_dial_interval: 1, http_ports: \(ports)}"]
        let first = try await NodeTests.Stage(more: often)
        let key = first.world.state + "/onion-key"
        let second = try await NodeTests.Stage(more: often) { world in
            try FileManager.default.copyItem(atPath: key, toPath: world.state + "/onion-key")
        }
        #expect(second.address == first.address)
        // Each has the directories to itself when it published last.
        try await until {
            (first.node.lines + second.node.lines).contains { $0.contains("onion.key_in_use_elsewhere") }
        }
        await second.close()
        await first.close()
    }
}
