import Client
import Foundation
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
        let quietPeer = try await stage.dial()
        _ = try await measure(quietPeer)
        var quiet = try await measure(quietPeer)
        // The flood has a tor of its own, as it would: what is measured is the node.
        let socks = try #require(try await SharedTorNetwork.network().startTor().socks)
        for manner in Flood.Manner.allCases {
            var ratio = Double.infinity
            for attempt in 1...6 where ratio > 2 {
                if attempt > 1 { quiet = try await measure(quietPeer) }
                let floods = (0..<manner.streams).map { Flood(socks, stage.address, manner, number: $0) }
                // What a circuit has saved up is used by then.
                try await Task.sleep(for: .seconds(2))
                let flooded = try await measure(quietPeer)
                for flood in floods { flood.stop() }
                ratio = flooded.quantile(0.99) / quiet.quantile(0.99)
                let sent = floods.reduce(0) { $0 + $1.sent }
                let dials = floods.reduce(0) { $0 + $1.dials }
                print("quiet: \(quiet)\n\(manner): \(flooded); \(sent >> 10) KiB sent, \(dials) dials")
            }
            #expect(ratio <= 2, "\(manner)")
        }
        let hits = try hits(of: stage)
        print(hits.filter { $0.value > 0 })
        // As fast as the machine is: the flood is read slower, or its circuit has gone before.
        #expect(hits["circuit_throttled", default: 0] + hits["circuit_closed", default: 0] > 0)
        #expect(hits["circuit_strikes", default: 0] > 0)
        await stage.close()
    }
}

/// One stream of a client that wants too much, and comes again when it is closed.
@EventLoop
private final class Flood: StreamHandler {
    enum Manner: CaseIterable {
        /// Large requests and many Pings, as fast as they go.
        case frames
        /// Connections that are closed as soon as they stand.
        case connections
        /// Frames that don't come to their end.
        case halfFrames
        /// Pings whose answers are not read.
        case deafness

        var streams: Int {
            switch self {
            case .frames, .deafness: 8
            case .connections, .halfFrames: 24
            }
        }
    }

    private let route: SOCKS5Route
    private let manner: Manner
    private let piece: [UInt8]
    private var stream: Reactor.Stream?
    private var isStopped = false
    private(set) var sent = 0
    private(set) var dials = 0

    init(_ socks: Endpoint, _ address: String, _ manner: Manner, number: Int) {
        route = SOCKS5Route(
            proxy: socks, host: address, port: 9999,
            credentials: SOCKS5Credentials(user: "flood", password: "x"))
        self.manner = manner
        let ping = Envelope(messageVersion: 10, message: .ping(Ping(nonce: 1))).frame
        switch manner {
        case .frames where number.isMultiple(of: 2), .halfFrames: piece = Self.heavy
        case .frames, .deafness: piece = Array(repeatElement(ping, count: 1000).joined())
        case .connections: piece = ping
        }
        Task { await dial() }
    }

    private static let heavy: [UInt8] = {
        var request = MobileNotificationRequest()
        request.uid = "flood"
        request.platform = .ios
        request.deviceToken = String(repeating: "a", count: 64)
        request.message = String(repeating: "A", count: 60_000)
        return Envelope(messageVersion: 10, message: .notificationRequest(request)).frame
    }()

    private func dial() async {
        while !isStopped {
            dials += 1
            if let (stream, _) = try? await Reactor.Stream.connect(through: route, deadline: .seconds(10)) {
                guard !isStopped else { return stream.close() }
                guard manner != .connections else {
                    stream.close()
                    continue
                }
                self.stream = stream
                stream.handler = self
                stream.sendTimeout = nil
                if manner != .deafness { stream.resumeReading() }
                return pour()
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func pour() {
        let piece = manner == .halfFrames ? Array(piece.dropLast()) : piece
        sent += piece.count
        stream?.write(piece)
    }

    func stop() {
        isStopped = true
        stream?.close()
    }

    func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {}
    func streamFlushed(_ stream: Reactor.Stream) {
        if manner != .halfFrames { pour() }
    }
    func stream(_ stream: Reactor.Stream, ended end: StreamEnd) { Task { await dial() } }
}
