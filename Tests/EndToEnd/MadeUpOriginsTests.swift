import Client
import Encodings
import Foundation
import Lab
import Reactor
import Relay
import Testing
import Vectors
import Wire

/// A node whose operator lets it call any host, and a stranger who makes up hosts.
@EventLoop
@Suite(.serialized) struct MadeUpOriginsTests {
    private static let keys = "::A2sX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWAAAAAAAAAAAAAAAAAAAAAA"

    /// Each of them would have a lane: there are so many lanes and no more, memory stays, and a browser at a named server is
    /// rung as before.
    @Test func theyCostSoMuchAndNoMore() async throws {
        let origins = isLong ? 10_000 : 1024
        let stage = try LoopbackStage(withWebPush: true) {
            $0.replacing("allowed_hosts: [", with: "allowed_hosts: [\"*\", ")
        }
        try await stage.start()
        let browser = try stage.world.web.subscribe(for: try stage.world.vapidKey())
        let owner = try await stage.dial()
        func ring(_ number: Int) async throws {
            var frame = request(1_000_000 + number, platform: .android, awaitsOutcome: true)
            frame.deviceToken = browser.token
            var response = try await owner.send(frame)
            if response.status == .stored { response = try await owner.nextResponse(to: frame.uid) }
            #expect(response.status == .delivered, "\(response.words)")
        }
        try await ring(0)
        let before = try #require(stage.node.residentMemory)
        let stranger = try await stage.dial()
        var statuses: [String: Int] = [:]
        for number in 0..<origins {
            var frame = request(number, platform: .android)
            frame.deviceToken = "wp1:h\(number).push.example.com:2Fx\(Self.keys)"
            let response = try await stranger.send(frame, deadline: theRun)
            statuses[response.words, default: 0] += 1
            if number % (origins / 10) == 0 { try await ring(number + 1) }
        }
        let after = try #require(stage.node.residentMemory)
        print(
            "made-up origins: \(origins), \(statuses.count) answers (\(statuses.max { $0.value < $1.value }.map { "\($0.value) \($0.key)" } ?? "")), memory \(before) to \(after) KiB"
        )
        #expect(statuses.values.reduce(0, +) == origins)
        // Circuits that can't be told apart have half of all lanes.
        let stored = statuses.filter { !$0.key.hasPrefix("busy") }.values.reduce(0, +)
        #expect(stored > 0 && stored <= Pipeline.mostOriginsPerApp * 3 / 2, "\(statuses)")
        #expect(after - before < 40_000, "\(before) to \(after) KiB")
        await stage.close()
    }
}
