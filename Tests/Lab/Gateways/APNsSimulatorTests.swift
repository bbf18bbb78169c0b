import Crypto
import HTTP2
import JSONCoding
import Reactor
import TLS
import Testing

@testable import Lab

@EventLoop
@Suite struct APNsSimulatorTests {
    let lab: LabCredentials
    let simulator: GatewaySimulator
    let path = "/3/device/\(LabCredentials.deviceToken)"
    let payload = Array(#"{"aps":{"alert":"x"}}"#.utf8)

    init() async throws {
        lab = await LabCredentials.prepared()
        simulator = try GatewaySimulator(
            .apns(lab.apnsRules(topics: [LabCredentials.topic])), try lab.serverContext())
    }

    private func connect(topic: String? = nil) async throws -> PushClient {
        try await PushClient.connect(to: simulator, try lab.clientContext(topic: topic))
    }

    @Test func aGoodPushIsAcceptedAndWrittenDown() async throws {
        var delivered: [AcceptedPush] = []
        simulator.onPush(to: LabCredentials.deviceToken) { delivered.append($0) }
        let client = try await connect()
        let outcome = await client.send(client.head(path: path, try lab.pushFields()), payload)
        #expect(outcome == .answered(200, ""))
        #expect(client.lastAnswer?.headers["apns-id"] == "123e4567-e89b-12d3-a456-42661417400f")
        let push = try #require(simulator.book.first)
        #expect(simulator.book.count == 1)
        #expect(push.deviceToken == LabCredentials.deviceToken)
        #expect(push.body == payload)
        #expect(push.headers["apns-topic"] == LabCredentials.topic)
        #expect(push.connection == 1)
        #expect(delivered.count == 1)
        #expect(simulator.figures == .init(requests: 1, accepted: 1, connections: 1, openConnections: 1))
        simulator.close()
    }

    @Test func streamsOpenUpWithTheFirstGoodPush() async throws {
        let client = try await connect()
        #expect(client.http2.maxConcurrentStreams == 1)
        let bad = await client.send(
            client.head(path: path, try lab.pushFields(["apns-topic": "other"])), payload)
        #expect(bad == .answered(400, #"{"reason":"TopicDisallowed"}"#))
        #expect(client.http2.maxConcurrentStreams == 1)
        _ = await client.send(client.head(path: path, try lab.pushFields()), payload)
        _ = await client.send(client.head(path: path, try lab.pushFields()), payload)
        #expect(client.http2.maxConcurrentStreams == 1000)
        // A token that is over brings it back to one.
        simulator.clockOffset = .seconds(3700)
        let late = await client.send(client.head(path: path, try lab.pushFields()), payload)
        #expect(late == .answered(403, #"{"reason":"ExpiredProviderToken"}"#))
        _ = await client.send(client.head(path: path, try lab.pushFields()), payload)
        #expect(client.http2.maxConcurrentStreams == 1)
        simulator.close()
    }

    @Test(
        arguments: [
            ([:], "x", 400, "BadDeviceToken"),
            (["apns-topic": nil], nil, 400, "MissingTopic"),
            (["authorization": nil], nil, 403, "MissingProviderToken"),
            (["authorization": "bearer a.b.c"], nil, 403, "InvalidProviderToken"),
            (["apns-id": "123E4567-e89b-12d3-a456-42661417400f"], nil, 400, "BadMessageId"),
            (["apns-expiration": "soon"], nil, 400, "BadExpirationDate"),
            (["apns-collapse-id": String(repeating: "x", count: 65)], nil, 400, "BadCollapseId"),
            (["apns-push-type": "loud"], nil, 400, "InvalidPushType"),
            (["apns-push-type": "background"], nil, 400, "BadPriority"),
            (["apns-priority": "7"], nil, 400, "BadPriority"),
            (["apns-push-type": "background", "apns-priority": "5"], nil, 200, ""),
            (["apns-collapse-id": String(repeating: "x", count: 64), "apns-expiration": "0"], nil, 200, ""),
            (["apns-id": nil, "apns-push-type": nil, "apns-priority": nil], nil, 200, ""),
        ] as [([String: String?], String?, Int, String)])
    func rulesAreKept(changes: [String: String?], token: String?, status: Int, reason: String) async throws {
        let client = try await connect()
        let path = "/3/device/\(token ?? LabCredentials.deviceToken)"
        let outcome = await client.send(client.head(path: path, try lab.pushFields(changes)), payload)
        #expect(outcome == .answered(status, reason.isEmpty ? "" : #"{"reason":"\#(reason)"}"#))
        #expect(client.lastAnswer?.headers["apns-id"]?.utf8.count == 36)
        #expect(simulator.book.count == (status == 200 ? 1 : 0))
        simulator.close()
    }

    /// The largest payload that is accepted, and the first that is not.
    @Test func payloadsAreBounded() async throws {
        let client = try await connect()
        let head = client.head(path: path, try lab.pushFields())
        #expect(await client.send(head, []) == .answered(400, #"{"reason":"PayloadEmpty"}"#))
        #expect(await client.send(head, [UInt8](repeating: 0x20, count: 4096)) == .answered(200, ""))
        #expect(
            await client.send(head, [UInt8](repeating: 0x20, count: 4097))
                == .answered(413, #"{"reason":"PayloadTooLarge"}"#))
        #expect(
            await client.send(client.head(path: "/4", try lab.pushFields()), payload)
                == .answered(404, #"{"reason":"BadPath"}"#))
        simulator.close()
    }

    @Test func providerTokensAreVerified() async throws {
        let stranger = try SigningKey.generate(.es256)
        let now = EventLoop.unixMilliseconds / 1000
        let forged = try webToken(
            stranger, kid: lab.keyID, claims: #"{"iss":"\#(lab.teamID)","iat":\#(now)}"#)
        for (token, reason) in [
            (forged, "InvalidProviderToken"),
            (try lab.providerToken(kid: "XXXXXXXXXX"), "InvalidProviderToken"),
            (try lab.providerToken(team: "XXXXXXXXXX"), "InvalidProviderToken"),
            (try lab.providerToken(age: 3700), "ExpiredProviderToken"),
            (try lab.providerToken(age: -3700), "ExpiredProviderToken"),
        ] {
            let client = try await connect()
            let fields = try lab.pushFields(["authorization": "bearer \(token)"])
            #expect(
                await client.send(client.head(path: path, fields), payload)
                    == .answered(403, #"{"reason":"\#(reason)"}"#))
        }
        #expect(simulator.book.isEmpty)
        simulator.close()
    }

    @Test func aTokenThatIsRenewedTooOftenIsRefused() async throws {
        let client = try await connect()
        let first = try lab.pushFields()
        let second = try lab.pushFields(["authorization": "bearer \(try lab.providerToken(age: 60))"])
        #expect(await client.send(client.head(path: path, first), payload) == .answered(200, ""))
        #expect(
            await client.send(client.head(path: path, second), payload)
                == .answered(429, #"{"reason":"TooManyProviderTokenUpdates"}"#))
        #expect(await client.send(client.head(path: path, first), payload) == .answered(200, ""))
        simulator.clockOffset = .seconds(1201)
        #expect(await client.send(client.head(path: path, second), payload) == .answered(200, ""))
        simulator.close()
    }

    @Test func aCertificateStandsForATokenAndItsTopic() async throws {
        let client = try await connect(topic: LabCredentials.topic)
        #expect(client.http2.maxConcurrentStreams == 1000)
        let fields = try lab.pushFields(["authorization": nil, "apns-topic": nil])
        #expect(await client.send(client.head(path: path, fields), payload) == .answered(200, ""))
        let other = try lab.pushFields(["authorization": nil, "apns-topic": "org.example.other"])
        #expect(
            await client.send(client.head(path: path, other), payload)
                == .answered(400, #"{"reason":"TopicDisallowed"}"#))
        simulator.close()
    }

    @Test func aCertificateOfAStrangerOpensNothing() async throws {
        let stranger = try await LabCredentials.stranger()
        let identity = try stranger.authority.client(topic: LabCredentials.topic)
        let context = try TLSContext(
            trusting: .authorities(pem: try lab.authorityPEM()), protocols: ["h2"],
            credentials: TLSCredentials(
                chainPEM: try identity.chainPEM(), keyPEM: try identity.keyPEM().bytes))
        let client = try await PushClient.connect(to: simulator, context)
        await client.ended()
        guard case .failed(.refusedByPeer) = client.tlsState else {
            Issue.record("the client is \(client.tlsState)")
            return
        }
        simulator.close()
    }
}
