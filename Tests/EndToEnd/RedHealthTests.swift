import Client
import Lab
import Reactor
import Testing
import Vectors

/// `/healthz` of the built program turns red within a minute when something holds the node up. That it does so for a backlog
/// and for connections that only hold places is in FloodTests.
@EventLoop
@Suite struct RedHealthTests {
    /// As if one input took the loop so long.
    @Test func aLoopThatWasHeldUpIsRed() async throws {
        let stage = try LoopbackStage()
        let clocks = try ShiftedClocks(in: stage.world.directory.path)
        try await stage.start(environment: clocks.environment)
        #expect(try stage.isWell("loop"))
        try clocks.set(.held, seconds: 4)
        try await until { try !stage.isWell("loop") }
        await stage.close()
    }

    /// As if somebody had tor close circuits of others.
    @Test func peersThatAreLostInBulkAreRed() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        var peers: [BisqPeer] = []
        for number in 0..<25 {
            peers.append(try await stage.dial())
            #expect(try await peers[number].send(request(number)).status == .stored)
        }
        #expect(try stage.isWell("circuits"))
        for peer in peers { peer.close() }
        try await until { try !stage.isWell("circuits") }
        await stage.close()
    }
}
