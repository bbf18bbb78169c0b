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

    /// Any spelling of an own place will do.
    @Test func aPlaceInUseIsFoundBeforeAnybodyListensThere() throws {
        let path = "/tmp/onionbell-test-\(UInt64.random(in: 0 ..< .max))"
        let port = try Listener(on: .host("127.0.0.1", port: 0)) { $0.close() }
        let socket = try Listener(on: .unix(path: path)) { $0.close() }
        guard case .host(_, let number) = port.endpoint else { return }
        #expect(Listener.places.contains(port.endpoint) && Listener.places.contains(socket.endpoint))
        for place in [port.endpoint, .host("localhost", port: number), socket.endpoint] {
            #expect(Listener.trialFault(at: place, besides: [])?.code == EADDRINUSE, "\(place)")
        }
        #expect(Listener.trialFault(at: .host("localhost", port: number), besides: [port.endpoint]) == nil)
        #expect(Listener.trialFault(at: .unix(path: path), besides: [socket.endpoint]) == nil)
        port.close()
        socket.close()
        #expect(!Listener.places.contains(port.endpoint))
        #expect(Listener.trialFault(at: port.endpoint, besides: []) == nil)
        #expect(Listener.trialFault(at: .unix(path: path), besides: []) == nil)
        #expect(access(path, F_OK) != 0, "the look has left a socket behind")
    }

    @Test(arguments: [
        (Endpoint.unix(path: "/nonexistent/socket"), ENOENT), (.host("no.name", port: 1), EADDRNOTAVAIL),
        (.unix(path: "/" + String(repeating: "a", count: 200)), ENAMETOOLONG),
    ])
    func aPlaceThatIsNoneIsFoundToo(place: Endpoint, code: CInt) {
        #expect(Listener.trialFault(at: place, besides: [])?.code == code)
    }
}
