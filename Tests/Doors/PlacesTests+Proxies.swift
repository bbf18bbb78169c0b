import EndpointWorlds
import Foundation
import HTTP1
import Reactor
import Testing

@testable import Doors

/// Places of addresses that proxies tell of.
extension PlacesTests {
    /// All come from one machine here, which the proxy's word tells apart.
    @Test func anAddressHasSoManyConnectionsBehindAProxyThatIsTrusted() async throws {
        var settings = HTTPServerSettings()
        settings.connectionsPerAddress = 2
        settings.clientAddressHeader = "x-forwarded-for"
        settings.trustedProxies = [try #require(NetworkAddress.Range("127.0.0.0/8"))]
        let server = server(settings, Circuits(settings: .addresses(connections: 2)))
        let endpoint = try server.open(on: Self.loopback)
        var clients: [HTTPClient] = []
        func status(of address: String) async throws -> Int? {
            let client = try await HTTPClient(endpoint)
            clients.append(client)
            return await client.get("/", fields: "X-Forwarded-For: \(address)\r\n")?.status
        }
        #expect(try await status(of: "192.0.2.1") == 200)
        #expect(try await status(of: "198.51.100.7, 192.0.2.1") == 200)
        #expect(try await status(of: "192.0.2.1") == 429)
        #expect(try await status(of: "192.0.2.2") == 200)
        // The /64 of an IPv6 address is one client's.
        #expect(try await status(of: "2001:db8::1") == 200)
        #expect(try await status(of: "2001:db8::2") == 200)
        #expect(try await status(of: "2001:db8::3") == 429)
        #expect(try await status(of: "2001:db8:0:1::3") == 200)
        // The forms of Azure and of Forwarded, and a chain of trusted proxies, are the same client's.
        #expect(try await status(of: "192.0.2.1:51000") == 429)
        #expect(try await status(of: "[2001:db8::4]:51000") == 429)
        #expect(try await status(of: "192.0.2.1,127.0.0.3\t, 127.0.0.2:80") == 429)
        // No address: they are the proxy's, all together.
        var unknown = 0
        server.onUnknownClient = { unknown += 1 }
        #expect(try await status(of: "unknown") == 200)
        #expect(try await status(of: "_hidden") == 200)
        #expect(try await status(of: "-") == 429)
        #expect(unknown == 3)
        await server.close()
    }

    /// Only a proxy of this machine comes by a Unix socket.
    @Test func whoeverComesByAUnixSocketSaysWhoseARequestIs() async throws {
        var settings = HTTPServerSettings()
        settings.clientAddressHeader = "forwarded"
        let server = server(settings, Circuits(settings: .addresses(connections: 2)))
        let path = FileManager.default.temporaryDirectory.path + "/onionbell-\(UUID().uuidString)"
        let endpoint = try server.open(on: .unix(path: path))
        var clients: [HTTPClient] = []
        func status(of fields: String) async throws -> Int? {
            let client = try await HTTPClient(endpoint)
            clients.append(client)
            return await client.get("/", fields: fields)?.status
        }
        for fields in ["Forwarded: for=192.0.2.1\r\n", "Forwarded: for=\"[2001:db8::1]:80\"\r\n", ""] {
            var statuses: [Int?] = []
            for _ in 0..<3 { statuses.append(try await status(of: fields)) }
            #expect(statuses == [200, 200, 429], "\(fields)")
        }
        await server.close()
    }

    @Test func anAddressHasSoManyConnectionsAndAStrangersWordIsNotBelieved() async throws {
        var settings = HTTPServerSettings()
        settings.clientAddressHeader = "x-forwarded-for"
        settings.trustedProxies = [try #require(NetworkAddress.Range("10.0.0.0/8"))]
        let server = server(settings, Circuits(settings: .addresses(connections: 2)))
        let endpoint = try server.open(on: Self.loopback)
        var clients: [HTTPClient] = []
        for number in 1...3 {
            let client = try await HTTPClient(endpoint)
            let answer = await client.get("/", fields: "X-Forwarded-For: 192.0.2.\(number)\r\n")
            #expect((answer?.status == 200) == (number < 3))
            clients.append(client)
        }
        await server.close()
    }
}
