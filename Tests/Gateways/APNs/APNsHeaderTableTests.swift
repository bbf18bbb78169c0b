import Clocks
import Crypto
import HTTP2
import Relay
import Testing

@testable import Gateways

@Suite struct APNsHeaderTableTests {
    /// Apple keeps a small table of header fields: what changes must not push out what stays.
    @Test func onlyTheFirstRequestOfAConnectionFillsApplesTable() {
        let client = HTTP2ClientSession()
        let server = HTTP2ServerSession(maxConcurrentStreams: 100)
        func exchange() -> Int {
            var fromServer: [UInt8] = []
            _ = server.takeOutput(into: &fromServer)
            client.receive(fromServer.span.bytes)
            var fromClient: [UInt8] = []
            _ = client.takeOutput(into: &fromClient)
            server.receive(fromClient.span.bytes)
            return fromClient.count
        }
        for _ in 0..<3 { _ = exchange() }
        var writer = APNsHeads(authority: "api.push.apple.com", topic: "bisqremote.joachimneumann.com")
        let sizes = (0..<100).map { number in
            client.submit(
                writer.head(
                    of: notification(
                        deviceToken: String(repeating: "ab", count: 32),
                        expiresAt: UnixTime(milliseconds: 1_800_000_000_000 + Int64(number) * 1000),
                        id: NotificationID(high: 0x1111_1111_1111_1111, low: 0x1111_1111_1111_1111)),
                    authorization: Secret("bearer " + String(repeating: "x", count: 200))),
                body: [], tag: number)
            return exchange()
        }
        #expect(sizes[1] < sizes[0] - 60)
        // A digit more or less in a number is all that may change.
        #expect(sizes.dropFirst().allSatisfy { abs($0 - sizes[1]) <= 8 })
        let heads = server.takeEvents().compactMap { event in
            if case .request(_, let request) = event { request.headers } else { nil }
        }
        #expect(heads.count == 100)
        #expect(heads.allSatisfy { $0["authorization"]?.count == 207 && $0[":path"]?.count == 74 })
    }
}
