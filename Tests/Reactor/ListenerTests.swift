import Glibc
import Testing

@testable import Reactor

@EventLoop
@Suite struct ListenerTests {
    /// Whatever else waits has its turn after so many connections, and none of them is lost.
    @Test(arguments: [1, 8, 64])
    func aTurnTakesNoMoreConnectionsThanItMay(acceptsPerTurn: Int) async throws {
        let path = "/tmp/onionbell-test-\(UInt64.random(in: 0 ..< .max))"
        var accepted: [Stream] = []
        var inFirstTurn: Int?
        let listener = try Listener(on: .unix(path: path), acceptsPerTurn: acceptsPerTurn) { stream in
            if accepted.isEmpty { Task { @EventLoop in inFirstTurn = accepted.count } }
            accepted.append(stream)
        }
        var address = try #require(SocketAddress(unixPath: path))
        // All of them wait before the loop looks for the first time.
        for _ in 0..<100 {
            let client = try Descriptor.socket(family: address.family, for: "connect")
            #expect(address.withPointer { connect(client.number, $0, $1) } == 0)
        }
        #expect(accepted.isEmpty)
        try await EventLoop.until { accepted.count == 100 && inFirstTurn != nil }
        #expect(inFirstTurn == acceptsPerTurn)
        listener.close()
    }
}
