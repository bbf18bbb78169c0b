import Reactor
import Testing

@testable import Gateways

@Suite @EventLoop struct WebPushLookUpTests {
    /// One public address does not excuse another one, and yesterday's answer not today's.
    @Test func eachAnswerOfANameServerIsLookedAt() async throws {
        let world = try WebPushWorld()
        let url = GatewayURL(isSecure: true, host: "push.example.com", port: 443, path: "/")
        var answers = [["1.1.1.1"], ["127.0.0.1"], ["1.1.1.1", "10.0.0.1"], ["1.1.1.1", "2606:4700::1111"]]
        let lookUp = world.shared.lookUp(for: url) { (_, deadline) async throws(ConnectError) in
            var addresses: [SocketAddress] = []
            for address in answers.removeFirst() {
                addresses += try await Stream.addresses(of: .host(address, port: 443), deadline: deadline)
            }
            return addresses
        }
        #expect(try await lookUp(url.endpoint, .seconds(5)).count == 1)
        await #expect(throws: ConnectError.self) { _ = try await lookUp(url.endpoint, .seconds(5)) }
        await #expect(throws: ConnectError.self) { _ = try await lookUp(url.endpoint, .seconds(5)) }
        #expect(try await lookUp(url.endpoint, .seconds(5)).count == 2)
        #expect(answers == [])
        world.end()
    }
}
