import Client
import Foundation
import Lab
import Reactor
import Testing
import Vectors
import Wire

/// The floods that once stopped a node while `/healthz` said that all is well, with the limits that a node has by itself.
/// They come straight to the sockets, as fast as the machine is; FloodTests brings them over Tor. Each turns `/healthz` red
/// within a minute, or costs nobody anything.
@EventLoop
@Suite(.serialized) struct UsualLimitsTests {
    private func turnsRed(_ check: String, at stage: LoopbackStage) async throws {
        try await until { try !stage.isWell(check) }
    }

    private func connect(
        _ circuit: UInt32, to socket: Endpoint, of stage: LoopbackStage, _ bytes: [UInt8] = []
    ) async throws -> Reactor.Stream {
        var stream: Reactor.Stream?
        // The node takes them one turn of its loop after the other.
        try await until {
            stream = try? await Reactor.Stream.connect(to: socket, deadline: theRun)
            return stream != nil
        }
        let connected = try #require(stream)
        connected.pauseReading()
        connected.write(stage.torLine(circuit) + bytes)
        return connected
    }

    /// Runs of combining marks: of the 8 frames each once took a second.
    @Test func hostileTextCostsNobodyAnything() async throws {
        let stage = try LoopbackStage(change: LoopbackStage.usual)
        try await stage.start()
        let honest = try await stage.dial(circuit: 2)
        let before = try #require(stage.node.processorTime)
        let stranger = try await connect(1, to: stage.peers, of: stage, (0..<8).flatMap(Flood.hostileText))
        _ = try await honest.ping()
        for _ in 0..<8 { _ = try await honest.ping() }
        let cost = try #require(stage.node.processorTime) - before
        print("8 frames of hostile text: \(cost) of the node's CPU")
        #expect(cost < .seconds(2))
        #expect(try stage.isWell("loop"))
        stranger.close()
        await stage.close()
    }

    /// Notifications for phones that are not there, by bundles, of a service that takes nothing.
    @Test func aLaneThatStrangersFillIsRed() async throws {
        let stage = try LoopbackStage(change: LoopbackStage.usual)
        stage.world.google.faults = FaultScript([FaultRule(.answer(status: 503, reason: "UNAVAILABLE"))])
        try await stage.start()
        #expect(try stage.isWell("backlog"))
        var strangers: [Reactor.Stream] = []
        for circuit in 1...16 as ClosedRange<UInt32> {
            let bundles = (0..<10).flatMap { _ in Flood.bundle() }
            strangers.append(try await connect(circuit, to: stage.peers, of: stage, bundles))
        }
        try await turnsRed("backlog", at: stage)
        // The other app, and others at their places.
        let honest = try await stage.dial(circuit: 900)
        #expect(try await honest.outcome(of: request(1, awaitsOutcome: true)).status == .delivered)
        for stranger in strangers { stranger.close() }
        await stage.close()
    }

    /// Silent connections by as many circuits as it takes for all places of the default.
    @Test func placesThatStrangersHoldAreRed() async throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        try #require(limit.rlim_cur > 11_000, "this test needs ulimit -Hn above 11000")
        let stage = try LoopbackStage(change: LoopbackStage.usual)
        try await stage.start()
        let socket = Endpoint.unix(path: stage.world.state + "/sockets/http")
        #expect(try stage.isWell("connections"))
        var strangers: [Reactor.Stream] = []
        // They come again and again, as those that are put out would.
        var circuit: UInt32 = 0
        var isRed = false
        while circuit < 400, !isRed {
            circuit += 1
            for _ in 0..<32 { strangers.append(try await connect(circuit, to: socket, of: stage)) }
            // The first of them may be closed for their silence a moment later.
            if circuit % 8 == 0 { isRed = try !stage.isWell("connections") }
        }
        #expect(isRed, "\(strangers.count) connections")
        print("\(strangers.count) silent connections by \(circuit) circuits take all places")
        // Whoever comes now has the place of one of them.
        let get = Array("GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)
        let honest = try await Reactor.Stream.connect(to: socket, deadline: theRun)
        let answer = FirstBytes(honest)
        honest.write(stage.torLine(900) + get)
        try await until { !answer.bytes.isEmpty }
        #expect(String(decoding: answer.bytes.prefix(12), as: UTF8.self) == "HTTP/1.1 404")
        for stranger in strangers { stranger.close() }
        await stage.close()
    }

    /// What takes a stream's first bytes.
    private final class FirstBytes: StreamHandler {
        private(set) var bytes: [UInt8] = []

        init(_ stream: Reactor.Stream) {
            stream.handler = self
            stream.resumeReading()
        }

        func stream(_ stream: Reactor.Stream, received more: RawSpan) {
            more.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
        func stream(_ stream: Reactor.Stream, ended end: StreamEnd) {}
    }

    /// As somebody does who speaks in tor's place.
    @Test func circuitsThatAreStruckOutInBulkAreRed() async throws {
        let stage = try LoopbackStage(change: LoopbackStage.usual)
        try await stage.start()
        #expect(try stage.isWell("circuits"))
        var forged: [Reactor.Stream] = []
        for circuit in 1...12 as ClosedRange<UInt32> {
            for _ in 0..<6 {
                forged.append(
                    try await connect(circuit, to: stage.peers, of: stage, [0xff, 0xff, 0xff, 0xff, 0x0f]))
            }
        }
        try await turnsRed("circuits", at: stage)
        for stream in forged { stream.close() }
        await stage.close()
    }
}
