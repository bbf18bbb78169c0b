import Crypto
import Doors
import Encodings
import EndpointWorlds
import Foundation
import HTTP1
import PushEndpoints
import Reactor
import Testing
import Vectors

@testable import Bitwarden

/// What Bitwarden's own server and Vaultwarden send, through the real door and over TLS to Apple and Google.
@EventLoop
@Suite(.serialized) struct BitwardenVectorTests {
    nonisolated static let vectors = try! BitwardenVectors.read()

    @Test func aTokenIsAJWTInShape() async throws {
        let world = try await BitwardenWorld()
        let before = Int(Date().timeIntervalSince1970)
        let answer = try await world.askToken(Self.vectors.token.request.body)
        #expect(answer.status == 200)
        #expect(answer.fields["cache-control"] == "no-store")
        let fields = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
        #expect(fields["expires_in"] as? Int == 86400)
        #expect(fields["token_type"] as? String == "Bearer")
        #expect(fields["scope"] as? String == "api.push")
        let parts = try #require(fields["access_token"] as? String).split(separator: ".")
        #expect(parts.count == 3)
        let claims = try #require(Base64.decodeFromURL(String(parts[1])))
        let read = try #require(try JSONSerialization.jsonObject(with: Data(claims)) as? [String: Any])
        let end = try #require(read["exp"] as? Int)
        #expect((before + 86400...before + 86460).contains(end))
        await world.end()
    }

    @Test func whoGetsNoTokenIsToldWhyInOAuthsWords() async throws {
        let world = try await BitwardenWorld()
        for failure in Self.vectors.token.failures {
            let answer = try await world.askToken(failure.body)
            #expect(answer.status == failure.status, "\(failure.name)")
            guard case .object(let fields) = try world.json(answer.body),
                case .string(let error) = fields["error"]
            else { throw MissingField() }
            #expect(failure.error.components(separatedBy: " or ").contains(error), "\(failure.name)")
        }
        await world.end()
    }

    @Test func registrationsSendsAndChangesInOrder() async throws {
        let world = try await BitwardenWorld()
        try await world.registerAll()
        for call in Self.vectors.register_errors {
            let answer = try await world.ask("POST", "/push/register", as: call.as, call.body)
            try check(answer, call, in: world)
        }
        for send in Self.vectors.then_sends {
            let answer = try await world.ask("POST", "/push/send", as: send.as, send.body)
            #expect(answer.status == send.expect.status, "\(send.name)")
            #expect(answer.body.isEmpty, "\(send.name)")
            try await world.expect(send.expect.pushes)
        }
        for call in Self.vectors.send_errors {
            let answer = try await world.ask("POST", "/push/send", as: call.as, call.body)
            try check(answer, call, in: world)
        }
        for change in Self.vectors.then_changes_in_order {
            let answer = try await world.ask(change.method, change.path, as: change.as, change.body)
            #expect(answer.status == change.status, "\(change.name)")
            guard let send = change.then_send else { continue }
            #expect(try await world.ask("POST", "/push/send", as: change.as, send).status == 200)
            try await world.expect(try #require(change.then_pushes))
        }
        await world.end()
    }

    private func check(
        _ answer: HTTPResponse, _ call: BitwardenVectors.Call, in world: BitwardenWorld
    ) throws {
        #expect(answer.status == call.status, "\(call.name)")
        guard case .object(let fields) = try world.json(answer.body) else { throw MissingField() }
        #expect(fields["object"] == .string("error"), "\(call.name)")
        if let message = call.message { #expect(fields["message"] == .string(message), "\(call.name)") }
    }

    private struct MissingField: Error {}
}
