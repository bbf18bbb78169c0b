import Foundation
import Lab
import Reactor
import Testing
import Wire

/// The built program over real tor, while one client wants all of it.
@EventLoop
@Suite(.serialized) struct FloodTests {
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

    private func measure(_ peer: BisqPeer, _ count: Int) async throws -> Latencies {
        var times: [Duration] = []
        for _ in 0..<count {
            times.append(try await peer.ping())
            try await Task.sleep(for: .milliseconds(10))
        }
        return Latencies(times)
    }

    @Test func aFloodFromOneCircuitLeavesOthersTheirLatency() async throws {
        let stage = try await NodeTests.Stage()
        let quietPeer = try await stage.dial()
        _ = try await measure(quietPeer, 20)
        let count = ProcessInfo.processInfo.environment["FLOOD_PINGS"].flatMap { Int($0) } ?? 200
        let quiet = try await measure(quietPeer, count)

        // The flood has a tor of its own, as it would: what is measured is the node.
        let tor = try await SharedTorNetwork.network().startTor()
        let socks = try #require(tor.socks)
        var request = MobileNotificationRequest()
        request.uid = "flood"
        request.platform = .ios
        request.deviceToken = String(repeating: "a", count: 64)
        request.message = String(repeating: "A", count: 60_000)
        let heavy = Envelope(messageVersion: 10, message: .notificationRequest(request)).frame
        let ping = Envelope(messageVersion: 10, message: .ping(Ping(nonce: 1))).frame
        let pings = Array(repeatElement(ping, count: 1000).joined())
        let floods = (0..<8).map { number in
            Flood(socks, stage.address, of: number.isMultiple(of: 2) ? heavy : pings)
        }
        try await Task.sleep(for: .seconds(3))
        let flooded = try await measure(quietPeer, count)
        for flood in floods { flood.stop() }
        print("quiet:   \(quiet)")
        print("flooded: \(flooded); \(floods.reduce(0) { $0 + $1.sent } >> 20) MiB sent,")
        print("         \(floods.reduce(0) { $0 + $1.dials }) dials of one client")
        // Also on a busy machine, where both are far from what they would be alone.
        #expect(flooded.quantile(0.9) < 10 * quiet.quantile(0.99) + 100)
        await stage.close()
    }
}

/// One stream of a client that sends as fast as it can, and comes again when it is closed.
@EventLoop
private final class Flood: StreamHandler {
    private let route: SOCKS5Route
    private let piece: [UInt8]
    private var stream: Reactor.Stream?
    private var isStopped = false
    private(set) var sent = 0
    private(set) var dials = 0

    init(_ socks: Endpoint, _ address: String, of piece: [UInt8]) {
        route = SOCKS5Route(
            proxy: socks, host: address, port: 9999,
            credentials: SOCKS5Credentials(user: "flood", password: "x"))
        self.piece = piece
        Task { await dial() }
    }

    private func dial() async {
        while !isStopped {
            dials += 1
            if let (stream, _) = try? await Reactor.Stream.connect(through: route, deadline: .seconds(10)) {
                guard !isStopped else { return stream.close() }
                self.stream = stream
                stream.handler = self
                stream.sendTimeout = nil
                stream.resumeReading()
                return pour()
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func pour() {
        sent += piece.count
        stream?.write(piece)
    }

    func stop() {
        isStopped = true
        stream?.close()
    }

    func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {}
    func streamFlushed(_ stream: Reactor.Stream) { pour() }
    func stream(_ stream: Reactor.Stream, ended end: StreamEnd) { Task { await dial() } }
}
