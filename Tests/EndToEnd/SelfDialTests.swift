import Foundation
import JSON
import Lab
import Reactor
import Testing

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

    private func wait(until isMet: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(90)
        while try await !isMet() {
            try #require(ContinuousClock.now < end)
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    @Test func bothDoorsAnswerAndHealthzSaysSo() async throws {
        let stage = try await NodeTests.Stage(more: often)
        try await wait {
            let check = try await check("self_dial", of: stage)
            return check?["state"]?.string?.hasPrefix("the own address answered") == true
        }
        #expect(try await check("self_dial", of: stage)?["ok"]?.bool == true)
        #expect(try await check("tor", of: stage)?["ok"]?.bool == true)
        #expect(!stage.node.lines.contains { $0.contains("self_dial_failed") })
        await stage.close()
    }

    @Test func aSecondNodeWithTheSameKeyIsNoticed() async throws {
        let first = try await NodeTests.Stage(more: often)
        let key = first.world.state + "/onion-key"
        let second = try await NodeTests.Stage(more: often) { world in
            try FileManager.default.copyItem(atPath: key, toPath: world.state + "/onion-key")
        }
        #expect(second.address == first.address)
        // Each has the directories to itself when it published last.
        try await wait {
            (first.node.lines + second.node.lines).contains { $0.contains("onion.key_in_use_elsewhere") }
        }
        await second.close()
        await first.close()
    }
}
