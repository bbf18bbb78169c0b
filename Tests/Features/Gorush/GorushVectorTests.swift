import EndpointWorlds
import Foundation
import HTTP1
import Lab
import PushEndpoints
import Reactor
import Testing
import Vectors

@testable import Gorush

/// What gorush's clients send, through the real door and over TLS to Apple and Google.
@EventLoop
@Suite(.serialized) struct GorushVectorTests {
    nonisolated static let vectors = try! GorushVectors.read()

    @Test(arguments: vectors.cases)
    func aRequestHasItsAnswerAndItsPushes(vector: GorushVectors.Case) async throws {
        let world = try await StatusIMWorld {
            $0.gorush.broadcasts = true
            if vector.config["android.enabled"] == .bool(false) { $0.gorush.apps.android = nil }
        }
        let answer = try #require(await world.push(try JSONEncoder().encode(vector.request_body)))
        #expect(answer.status == vector.expect.response.status)
        #expect(try world.json(answer.body) == vector.expect.response.body)
        let pushes = await world.relay.pushes(vector.expect.pushes.count)
        try world.expect(pushes, vector.expect.pushes)
        await world.end()
    }

    @Test(arguments: vectors.errors)
    func whatCannotBeTakenIsToldInGorushsWords(vector: GorushVectors.Fault) async throws {
        let world = try await StatusIMWorld {
            if case .integer(let limit) = vector.config?["core.max_notification"] {
                $0.gorush.notifications = Int(limit)
            }
        }
        let answer = try #require(await world.push(Data(vector.body_text.utf8)))
        #expect(answer.status == vector.status)
        #expect(try world.json(answer.body) == vector.body)
        #expect(world.relay.dispatcher.waiting == 0)
        await world.end()
    }

    /// Gorush's `core.sync`: what Apple refuses comes back in the answer.
    @Test func whoWaitsIsToldOfFailures() async throws {
        let world = try await StatusIMWorld {
            $0.gorush.waits = true
            $0.gorush.hidesTokens = false
        }
        let vector = Self.vectors.sync
        world.relay.sandbox.faults = FaultScript([
            FaultRule(
                .answer(status: 400, reason: "BadDeviceToken"),
                when: .deviceToken("c33d2d5c50156a479dd1dffaaff416b21e1171a940ce565bce280ded828bd5ad"))
        ])
        let answer = try #require(await world.push(try JSONEncoder().encode(vector.request_body)))
        #expect(try world.json(answer.body) == vector.expect_response.body)
        await world.end()
    }

    @Test func tokensAreMaskedAsGorushMasksThem() {
        for vector in Self.vectors.token_masking {
            #expect(GorushAnswer.masked(vector.token) == vector.shown)
        }
    }
}

extension GorushVectors.Case: CustomTestStringConvertible {
    public var testDescription: String { name }
}

extension GorushVectors.Fault: CustomTestStringConvertible {
    public var testDescription: String { name }
}
