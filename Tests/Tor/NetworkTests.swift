import Lab
import Reactor
import Testing

@testable import Tor

@Suite(.serialized) struct NetworkTests {
    @Test @EventLoop func aClientIsInTheNetworkSoon() async throws {
        let client = try await SharedNetwork.client()
        print(client.socks as Any)
    }
}
