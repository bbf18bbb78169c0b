import Foundation
import Lab
import LabParts
import Reactor
import Testing

/// More peers than a node of today ever has, over the loopback, and the built program.
@EventLoop
@Suite struct CrowdTests {
    @Test func tenThousandIdlePeersCostLittleAndAreServed() async throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        try #require(limit.rlim_cur > 11_000, "this test needs ulimit -Hn above 11000")
        let stage = try LoopbackStage()
        try await stage.start()
        let crowd = PeerCrowd()
        // The first ones pay for what all share.
        try await crowd.gather(500, to: stage.peers)
        let before = try #require(stage.node.residentMemory)
        try await crowd.gather(9500, to: stage.peers)
        let after = try #require(stage.node.residentMemory)
        let each = (after - before) * 1024 / 9500
        print("\(each) bytes for each idle peer")
        #expect(each < 3072)
        await crowd.ping()
        #expect(crowd.pongs == 20_000 && crowd.ended == 0)
        let one = try await stage.dial()
        #expect(try await one.send(request(1)).status == .stored)
        crowd.close()
        one.close()
        await stage.close()
    }
}
