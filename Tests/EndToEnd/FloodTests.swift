import Client
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Wire

/// The built program over real tor, while one client wants all of it.
@EventLoop
@Suite(.serialized, .timeLimit(.minutes(5))) struct FloodTests {
    /// Ping to Pong, in milliseconds.
    private struct Latencies: CustomStringConvertible {
        let sorted: [Double]

        init(_ times: [Duration]) { sorted = times.map { $0 / .milliseconds(1) }.sorted() }

        func quantile(_ part: Double) -> Double {
            sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
        }

        var description: String {
            let figures = [0.5, 0.9, 0.99, 1].map { String(format: "%.1f", quantile($0)) }
            return
                "\(sorted.count) pings, p50 \(figures[0]) p90 \(figures[1]) p99 \(figures[2]) max \(figures[3]) ms"
        }
    }

    /// By hand with FLOOD_PINGS=1000, for better figures.
    private let count = ProcessInfo.processInfo.environment["FLOOD_PINGS"].flatMap { Int($0) } ?? 50

    private func measure(_ peer: BisqPeer) async throws -> Latencies {
        var times: [Duration] = []
        for _ in 0..<count {
            times.append(try await peer.ping())
            try await Task.sleep(for: .milliseconds(10))
        }
        return Latencies(times)
    }

    /// - Parameter whileFlooded: What else must hold while each flood runs.
    private func checkLatency(
        of stage: NodeTests.Stage, beside manners: [Flood.Manner],
        whileFlooded: @EventLoop (Flood.Manner) async throws -> Void = { _ in }
    ) async throws {
        let quietPeer = try await stage.dial()
        _ = try await measure(quietPeer)
        var quiet = try await measure(quietPeer)
        // The flood has a tor of its own, as it would: what is measured is the node.
        let socks = try #require(try await SharedTorNetwork.network().startTor().socks)
        for manner in manners {
            var ratio = Double.infinity
            for attempt in 1...6 where ratio > 2 {
                if attempt > 1 { quiet = try await measure(quietPeer) }
                let floods = (0..<manner.streams).map { Flood(socks, stage.address, manner, number: $0) }
                // What a circuit has saved up is used by then.
                try await Task.sleep(for: .seconds(2))
                let flooded = try await measure(quietPeer)
                if attempt == 1 { try await whileFlooded(manner) }
                for flood in floods { flood.stop() }
                ratio = flooded.quantile(0.99) / quiet.quantile(0.99)
                let sent = floods.reduce(0) { $0 + $1.sent }
                let dials = floods.reduce(0) { $0 + $1.dials }
                print("quiet: \(quiet)\n\(manner): \(flooded); \(sent >> 10) KiB sent, \(dials) dials")
            }
            #expect(ratio <= 2, "\(manner)")
        }
        quietPeer.close()
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

    /// The machine has other things to do, and everything here (relays, both clients, the node) shares it. So quiet and
    /// flood are measured side by side, and once in a few times they must be close.
    @Test func aFloodFromOneCircuitLeavesOthersTheirLatency() async throws {
        let stage = try await NodeTests.Stage()
        try await checkLatency(of: stage, beside: [.frames, .connections, .halfFrames, .deafness])
        let hits = try hits(of: stage)
        print(hits.filter { $0.value > 0 })
        // As fast as the machine is: the flood is read slower, or its circuit has gone before.
        #expect(hits["circuit_throttled", default: 0] + hits["circuit_closed", default: 0] > 0)
        #expect(hits["circuit_strikes", default: 0] > 0)
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
        func isWell(_ check: String) throws -> Bool {
            let answer = try run([
                "curl", "-s", "--unix-socket", stage.world.directory.path + "/management",
                "http://localhost/healthz",
            ])
            return try JSON(Array(answer.output.utf8))["checks"]?[check]?["ok"]?.bool ?? false
        }
        func turnsRed(_ check: String) async throws {
            for _ in 1...100 where try isWell(check) { try await Task.sleep(for: .milliseconds(100)) }
            #expect(try !isWell(check))
        }
        try await checkLatency(
            of: stage,
            beside: [.hostileText, .bundles, .silence, .madeUpMessages(to: request(1).deviceToken)]
        ) { manner in
            // On a connection of its own, which there is room for.
            let isOfPhone = if case .madeUpMessages = manner { true } else { false }
            #expect(try await isDelivered(to: isOfPhone ? 1 : 2), "\(manner)")
            switch manner {
            case .bundles: try await turnsRed("backlog")
            case .silence: try await turnsRed("connections")
            case _: #expect(try isWell("loop"))
            }
        }
        print(try hits(of: stage).filter { $0.value > 0 })
        await stage.close()
    }
}
