import Crypto
import Doors
import EndpointWorlds
import Foundation
import HTTP1
import Reactor
import StatusIM
import Testing
import Vectors

@testable import StatusIMEndpoint

/// The whole exchange of the vectors, in order, through the real listeners: over the stream and over HTTP.
@EventLoop
@Suite(.serialized) struct StatusIMExchangeTests {
    /// Sends a message and returns the answer; `nil`: silence.
    ///
    /// - Parameter isAnswered: what is expected, for those who can't see silence.
    private typealias Ask = @EventLoop (_ frame: [UInt8], _ isAnswered: Bool) async throws -> [UInt8]?

    @Test func overTheStream() async throws {
        let world = try await StatusIMWorld()
        let client = try await StatusIMClient(world.streamEndpoint)
        // Silence is known by the answer to what comes next.
        let probe = try #require(StatusIMWorld.vectors.then_queries.last { $0.expect.answered })
        let probed = bytes(hex: try #require(probe.expect.response_payload_hex))
        try await exchange(world) { frame, isAnswered in
            let known = client.answers.count
            client.send(frame: frame)
            if !isAnswered { client.send(frame: bytes(hex: probe.frame_hex)) }
            let answer = try #require(await client.wait(for: known + 1).dropFirst(known).first)
            if isAnswered { return answer }
            #expect(try payload(of: answer, .queryResponse) == probed)
            return nil
        }
        client.close()
        await world.end()
    }

    @Test func overHTTP() async throws {
        let world = try await StatusIMWorld()
        try await exchange(world) { frame, _ in
            let answer = try #require(await world.post("/status/v1/message", frame.dropFirst(4)))
            if answer.status == 204 { return nil }
            #expect(answer.status == 200)
            #expect(answer.fields["content-type"] == "application/octet-stream")
            return answer.body
        }
        await world.end()
    }

    private func exchange(_ world: StatusIMWorld, _ ask: Ask) async throws {
        let vectors = StatusIMWorld.vectors
        try await register(vectors.registrations_in_order, ask)
        for vector in vectors.then_queries {
            let answer = try await ask(bytes(hex: vector.frame_hex), vector.expect.answered)
            guard let answer else {
                #expect(!vector.expect.answered, "\(vector.name)")
                continue
            }
            let expected = try #require(vector.expect.response_payload_hex)
            #expect(try payload(of: answer, .queryResponse) == bytes(hex: expected), "\(vector.name)")
        }
        var answers: [[UInt8]: [UInt8]] = [:]
        var pushes: [PushVector] = []
        for vector in vectors.then_requests_in_order {
            let frame = bytes(hex: vector.frame_hex)
            let answer = try await ask(frame, vector.expect.answered || answers[frame] != nil)
            if let first = answers[frame] {
                // Status' code is silent here; over a stream the stored answer is repeated.
                #expect(answer == first, "\(vector.name)")
                continue
            }
            answers[frame] = answer
            try expect(answer, vector)
            pushes += vector.expect.pushes
            _ = await world.relay.pushes(pushes.count)
        }
        try world.expect(await world.relay.pushes(pushes.count), pushes)
        try await register(vectors.then_unregister_in_order, ask)
        try expect(try await ask(bytes(hex: vectors.then_request.frame_hex), true), vectors.then_request)
        #expect(world.relay.dispatcher.waiting == 0)
        #expect(world.events("repetition") == 1)
    }

    private func register(_ vectors: [StatusIMVectors.Registration], _ ask: Ask) async throws {
        for vector in vectors {
            let answer = try await ask(bytes(hex: vector.frame_hex), true)
            // Signatures by RFC 6979 are the same whoever makes them.
            #expect(answer == bytes(hex: vector.expect.response_message_example_hex), "\(vector.name)")
        }
    }

    private func expect(_ answer: [UInt8]?, _ vector: StatusIMVectors.Request) throws {
        guard let expected = vector.expect.response_payload_hex else {
            #expect(answer == nil, "\(vector.name)")
            return
        }
        #expect(try payload(of: try #require(answer), .response) == bytes(hex: expected), "\(vector.name)")
    }

    /// Of a message that the server has signed.
    private func payload(of encoded: [UInt8], _ kind: SignedMessage.Kind) throws -> [UInt8] {
        let message = try SignedMessage(encoded)
        #expect(message.kind == kind)
        let signer = Secp256k1.PublicKey(
            recoveredFrom: SignedMessage.digest(of: message.payload), signature: message.signature)
        let server = try #require(StatusIMWorld.vectors.keys["server"])
        #expect(signer?.compressed == bytes(hex: server.public_compressed_hex))
        return message.payload
    }
}
