import Client
import Foundation
import JSONCoding
import Lab
import LabParts
import Reactor
import Testing
import Wire

/// The built program over real tor, while one client wants all of it.
@EventLoop
@Suite(.serialized) struct FloodTests {
    private static let pings = 50

    /// Floods the node, one manner after the other, while another circuit is served. How long that one waits is printed and
    /// not judged, since the relays, both clients and the node share the machine: the loop must not be held up.
    ///
    /// - Parameter whileFlooded: What else must hold while each flood runs.
    private func flood(
        _ stage: NodeTests.Stage, in manners: [Flood.Manner],
        whileFlooded: @EventLoop (Flood.Manner) async throws -> Void = { _ in }
    ) async throws {
        let honest = try await stage.dial()
        // The flood has a tor of its own, as it would.
        let socks = try #require(try await SharedTorNetwork.network().startTor().socks)
        for manner in manners {
            let floods = (0..<manner.streams).map { Flood(socks, stage.address, manner, number: $0) }
            try await until { floods.allSatisfy { $0.dials > 0 } }
            var longest = Duration.zero
            for _ in 0..<Self.pings { longest = max(longest, try await honest.ping()) }
            try await whileFlooded(manner)
            #expect(try isWell("loop", at: stage), "\(manner)")
            for flood in floods { flood.stop() }
            let sent = floods.reduce(0) { $0 + $1.sent }
            let dials = floods.reduce(0) { $0 + $1.dials }
            print(
                "\(manner): the longest of \(Self.pings) pings \(longest); \(sent >> 10) KiB sent, \(dials) dials"
            )
        }
        honest.close()
    }

    private func isWell(_ check: String, at stage: NodeTests.Stage) throws -> Bool {
        let health = try health(over: stage.world.directory.path + "/management")
        return health["checks"]?[check]?["ok"]?.bool ?? false
    }

    /// How often each limit was hit.
    private func hits(of stage: NodeTests.Stage) throws -> [String: Int] {
        let answer = try run([
            "curl", "-s", "--unix-socket", stage.world.directory.path + "/management",
            "http://localhost/metrics",
        ])
        let lines = answer.output.matches(of: /limits_hit_total\{limit="(\w+)"\} (\d+)/)
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0.output.1), Int($0.output.2) ?? 0) })
    }

    @Test func aFloodFromOneCircuitHoldsUpNoOther() async throws {
        let stage = try await NodeTests.Stage()
        try await flood(stage, in: [.frames, .connections, .halfFrames, .deafness]) { manner in
            // As fast as the machine is: the flood is read slower, or its circuit has gone before.
            guard case .frames = manner else { return }
            try await until {
                let hits = try hits(of: stage)
                return hits["circuit_throttled", default: 0] + hits["circuit_closed", default: 0] > 0
            }
        }
        try await until { try hits(of: stage)["circuit_strikes", default: 0] > 0 }
        print(try hits(of: stage).filter { $0.value > 0 })
        await stage.close()
    }

    /// What the review of 2026 stopped the node with, each from one circuit or two.
    @Test func whatOneStrangerBringsCostsNobodyElse() async throws {
        // Google answers nobody, so what is for its phones waits; and there is little room, which is soon taken.
        let stage = try await NodeTests.Stage(more: [
            "limits: {waiting: 1800}", "peers: {connections: 40}",
        ])
        stage.world.google.faults = FaultScript([FaultRule(.answer(status: 503, reason: "UNAVAILABLE"))])
        var number = 0
        func isDelivered(to phone: Int) async throws -> Bool {
            number += 1
            let peer = try await stage.dial()
            defer { peer.close() }
            var one = request(phone, awaitsOutcome: true)
            one.uid = "honest-\(number)"
            var response = try await peer.send(one)
            if response.status == .stored { response = try await peer.nextResponse(to: response.requestUid) }
            return response.status == .delivered
        }
        try await flood(
            stage, in: [.hostileText, .bundles, .silence, .madeUpMessages(to: request(1).deviceToken)]
        ) { manner in
            // On a connection of its own, which there is room for.
            let isOfPhone = if case .madeUpMessages = manner { true } else { false }
            #expect(try await isDelivered(to: isOfPhone ? 1 : 2), "\(manner)")
            switch manner {
            case .bundles: try await until { try !isWell("backlog", at: stage) }
            case .silence: try await until { try !isWell("connections", at: stage) }
            case _: break
            }
        }
        print(try hits(of: stage).filter { $0.value > 0 })
        await stage.close()
    }
}
