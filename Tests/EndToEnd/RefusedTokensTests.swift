import Client
import Encodings
import Foundation
import Lab
import Reactor
import Testing
import Wire

extension LoopbackStage {
    /// A connection that comes by a circuit of this number, as tor begins it.
    func dial(circuit: UInt32) async throws -> BisqPeer {
        let stream = try await Reactor.Stream.connect(to: peers)
        stream.pauseReading()
        stream.write(torLine(circuit))
        return BisqPeer(stream, unread: [], network: .mainnet)
    }

    /// What tor writes first to an endpoint of a guarded service.
    func torLine(_ circuit: UInt32) -> [UInt8] {
        let (high, low) = (String(circuit >> 16, radix: 16), String(circuit & 0xFFFF, radix: 16))
        return Array("PROXY TCP6 fc00:dead:beef:4dad::\(high):\(low) ::1 \(circuit & 0xFFFF) 80\r\n".utf8)
    }

    /// The configuration with the limits that a node has by itself, and connections that are told by their circuits.
    nonisolated static func usual(_ text: String) -> String {
        text.replacing("guarded: false", with: "guarded: true")
            .split(separator: "\n", omittingEmptySubsequences: false)
            .filter { line in !["peers: ", "circuits: ", "limits: "].contains { line.hasPrefix($0) } }
            .joined(separator: "\n")
    }

    /// How often each limit was hit.
    func hits() throws -> [String: Int] {
        let socket = world.directory.path + "/management"
        let answer = try run(["curl", "-s", "--unix-socket", socket, "http://localhost/metrics"])
        let lines = answer.output.matches(of: /limits_hit_total\{limit="(\w+)"\} (\d+)/)
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0.output.1), Int($0.output.2) ?? 0) })
    }
}

/// The whole way from a gateway's refusal to the circuit that brought the notification, with the limits as they are.
@EventLoop
@Suite struct RefusedTokensTests {
    @Test func whoBringsMadeUpTokensIsReadMoreSlowlyAndNobodyElse() async throws {
        let stage = try LoopbackStage(change: LoopbackStage.usual)
        let tokens = (1...100).map { String(repeating: "f", count: 60) + String($0 + 1000) }
        stage.world.apple.faults = FaultScript(
            tokens.map { FaultRule(.answer(status: 400, reason: "BadDeviceToken"), when: .deviceToken($0)) })
        try await stage.start()
        let honest = try await stage.dial(circuit: 78)
        _ = try await honest.ping()
        #expect(try stage.hits()["circuit_throttled"] == 0)
        let entries = tokens.enumerated().map { number, token in
            var one = request(number)
            one.uid = "made-up-\(number)"
            one.deviceToken = token
            return Envelope(messageVersion: 10, message: .notificationRequest(one))
        }
        let stranger = try await Reactor.Stream.connect(to: stage.peers)
        stranger.pauseReading()
        stranger.write(stage.torLine(77) + Envelope(messageVersion: 10, message: .bundle(entries)).frame)
        // A twentieth of what a circuit may send at once, if none were refused. They cost it 15 s, less the time it takes.
        try await until { stage.world.apple.figures.requests >= tokens.count }
        #expect(try stage.hits()["circuit_throttled"] ?? 0 > 0)
        // By another connection of that circuit; and not by another circuit.
        let again = try await stage.dial(circuit: 77)
        // What comes with tor's line is taken with it.
        _ = try? await again.ping(deadline: .seconds(1))
        await #expect(throws: PeerError.self) { _ = try await again.ping(deadline: .seconds(3)) }
        _ = try await honest.ping()
        #expect(try await honest.outcome(of: request(900, awaitsOutcome: true)).status == .delivered)
        stranger.close()
        await stage.close()
    }
}
