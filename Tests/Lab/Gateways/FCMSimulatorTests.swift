import Crypto
import Foundation
import HTTP2
import JSONCoding
import Reactor
import TLS
import Testing

@testable import Lab

@EventLoop
@Suite struct FCMSimulatorTests {
    let lab: LabCredentials
    let simulator: GatewaySimulator
    let path: String
    let token = String(repeating: "a", count: 22) + ":APA91b" + String(repeating: "Z", count: 120)

    init() async throws {
        lab = await LabCredentials.prepared()
        simulator = try GatewaySimulator(.fcm(lab.fcmRules()), try lab.serverContext())
        path = "/v1/projects/\(lab.projectID)/messages:send"
    }

    private func connect() async throws -> PushClient {
        try await PushClient.connect(to: simulator, try lab.clientContext(), presumedStreams: 100)
    }

    private func requestToken(_ client: PushClient, changes: [String: String] = [:]) async throws
        -> PushOutcome
    {
        let assertion = try lab.assertion(audience: simulator.url + "/token", changes: changes)
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        let head = client.head(path: "/token", ["content-type": "application/x-www-form-urlencoded"])
        return await client.send(head, Array(form.utf8))
    }

    private func accessToken(_ client: PushClient) async throws -> String {
        guard case .answered(200, let body) = try await requestToken(client) else { return "" }
        return try JSON(Array(body.utf8))["access_token"]?.string ?? ""
    }

    private func send(_ client: PushClient, bearer: String, _ body: String? = nil) async -> PushOutcome {
        let body = body ?? #"{"message":{"token":"\#(token)","data":{"encrypted":"x"}}}"#
        let fields = ["authorization": "Bearer \(bearer)", "content-type": "application/json"]
        return await client.send(client.head(path: path, fields), Array(body.utf8))
    }

    private func errorCode(_ outcome: PushOutcome) -> String? {
        guard case .answered(_, let body) = outcome, let json = try? JSON(Array(body.utf8)) else {
            return nil
        }
        return json["error"]?["details"]?.array?.first?["errorCode"]?.string
    }

    @Test func aSignedAssertionBuysATokenThatSends() async throws {
        let client = try await connect()
        let bearer = try await accessToken(client)
        #expect(!bearer.isEmpty)
        #expect(
            await send(client, bearer: bearer)
                == .answered(200, #"{"name":"projects/onionbell-lab/messages/0:1"}"#))
        #expect(simulator.book.first?.deviceToken == token)
        #expect(simulator.issuedTokens == 1)
        #expect(client.http2.maxConcurrentStreams == 100)
        // Revoked: a 401 that heals after a refresh.
        simulator.revokeTokens()
        guard case .answered(401, let body) = await send(client, bearer: bearer) else {
            Issue.record("a revoked token was accepted")
            return
        }
        #expect(try JSON(Array(body.utf8))["error"]?["status"]?.string == "UNAUTHENTICATED")
        let again = try await accessToken(client)
        guard case .answered(200, _) = await send(client, bearer: again) else {
            Issue.record("a new token was refused")
            return
        }
        simulator.clockOffset = .seconds(3600)
        guard case .answered(401, _) = await send(client, bearer: again) else {
            Issue.record("a token over its time was accepted")
            return
        }
        simulator.close()
    }

    @Test(arguments: [
        ("iss", "\"someone@example.com\"", "invalid_grant"),
        ("aud", "\"https://other/token\"", "invalid_grant"),
        ("exp", "1", "invalid_grant"), ("exp", "99999999999", "invalid_grant"), ("iat", "1", "invalid_grant"),
        ("scope", "\"email\"", "invalid_scope"),
    ])
    func assertionsAreVerified(claim: String, value: String, error: String) async throws {
        let client = try await connect()
        #expect(
            try await requestToken(client, changes: [claim: value])
                == .answered(400, #"{"error":"\#(error)","error_description":"Simulated."}"#))
        #expect(simulator.issuedTokens == 0)
        simulator.close()
    }

    @Test(arguments: [
        #"{"message":{"data":{"a":"b"}}}"#, #"{"message":{"token":"TOKEN","data":{"a":1}}}"#,
        #"{"message":{"token":"TOKEN","data":{"from":"x"}}}"#, "not JSON",
        #"{"message":{"token":"TOKEN","android":{"ttl":"2419201s"}}}"#,
        #"{"message":{"token":"TOKEN","android":{"priority":"loud"}}}"#,
    ])
    func badMessagesNameTheField(body: String) async throws {
        let client = try await connect()
        let bearer = try await accessToken(client)
        let text = body.replacing("TOKEN", with: token)
        let outcome = await send(client, bearer: bearer, text)
        guard case .answered(400, let answer) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(answer.contains("fieldViolations"))
        #expect(errorCode(outcome) == nil)
        #expect(simulator.book.isEmpty)
        simulator.close()
    }

    @Test func badTokensAreInvalidArguments() async throws {
        let client = try await connect()
        let bearer = try await accessToken(client)
        let outcome = await send(client, bearer: bearer, #"{"message":{"token":"short"}}"#)
        #expect(errorCode(outcome) == "INVALID_ARGUMENT")
        let fields = ["authorization": "Bearer \(bearer)"]
        let wrong = await client.send(
            client.head(path: "/v1/projects/other/messages:send", fields), [0x7b, 0x7d])
        guard case .answered(404, _) = wrong else {
            Issue.record("\(wrong)")
            return
        }
        #expect(errorCode(wrong) == nil)
        simulator.close()
    }

    @Test func faultsComeInGooglesForm() async throws {
        let client = try await connect()
        let bearer = try await accessToken(client)
        simulator.faults = FaultScript([
            FaultRule(.answer(status: 404, reason: "UNREGISTERED"), when: .deviceToken(token), times: 1),
            FaultRule(.answer(status: 503, reason: "UNAVAILABLE", retryAfter: "30"), times: 1),
            FaultRule(.answer(status: 500, reason: nil), on: .token),
        ])
        #expect(errorCode(await send(client, bearer: bearer)) == "UNREGISTERED")
        #expect(errorCode(await send(client, bearer: bearer)) == "UNAVAILABLE")
        #expect(client.lastAnswer?.headers["retry-after"] == "30")
        #expect(
            try await requestToken(client)
                == .answered(500, #"{"error":"internal_failure","error_description":"Simulated."}"#))
        guard case .answered(200, _) = await send(client, bearer: bearer) else {
            Issue.record("the fault of the token endpoint struck a push")
            return
        }
        simulator.close()
    }

    @Test func theServiceAccountsFileIsJSONWithTheKey() throws {
        let file = try JSON(lab.serviceAccountFile(tokenURL: "https://localhost:1/token"))
        let pem = try #require(file["private_key"]?.string)
        let key = try SigningKey(pem: Array(pem.utf8), algorithm: .rs256)
        #expect(lab.accountKey.verifyingKey.accepts(try key.sign([1]), of: [1]))
        #expect(file["token_uri"]?.string == "https://localhost:1/token")
        #expect(file["project_id"]?.string == "onionbell-lab")
    }
}
