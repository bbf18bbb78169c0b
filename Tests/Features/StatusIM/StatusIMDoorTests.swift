import Crypto
import Doors
import EndpointWorlds
import Foundation
import HTTP1
import Lab
import LabParts
import Persistence
import Reactor
import Relay
import StatusIM
import Testing
import Vectors
import Wire

@testable import StatusIMEndpoint

/// What the vectors don't tell: limits, dead phones, failing disks, repetitions, strangers.
@EventLoop
@Suite(.serialized) struct StatusIMDoorTests {
    let vectors = StatusIMWorld.vectors
    let server: Secp256k1.PublicKey

    init() throws {
        server = try Secp256k1.PublicKey(
            bytes(hex: try #require(StatusIMWorld.vectors.keys["server"]).public_compressed_hex))
    }

    func client(_ deviceToken: String = String(repeating: "ab", count: 32)) -> StatusIMPhone {
        StatusIMPhone(.apns, deviceToken: deviceToken, topic: "im.fqixvywn")
    }

    func ask(_ world: StatusIMWorld, _ message: [UInt8]) async throws -> [UInt8] {
        let answer = try #require(await world.post("/status/v1/message", message))
        #expect(answer.status == 200)
        return try SignedMessage(answer.body).payload
    }

    /// What a registration is answered: 0 for success, else the error.
    func register(_ client: StatusIMPhone, at world: StatusIMWorld) async throws -> UInt8 {
        let payload = try await ask(world, try client.registering(at: server))
        return payload[0] == 8 ? 0 : payload[1]
    }

    /// The reports of a request's answer: 0 for success, else the error.
    func reports(_ payload: [UInt8]) throws -> [UInt64] {
        var reader = ProtoReader(0..<payload.count)
        var reports: [UInt64] = []
        while let field = try reader.nextField(in: payload.span) {
            guard field.number == 2 else {
                try reader.skip(field, in: payload.span)
                continue
            }
            var report = ProtoReader(try reader.delimited(in: payload.span))
            var value: UInt64 = 0
            while let part = try report.nextField(in: payload.span) {
                if part.number == 2 {
                    value = try report.varint(in: payload.span)
                } else {
                    try report.skip(part, in: payload.span)
                }
            }
            reports.append(value)
        }
        return reports
    }

    /// Asks for a phone whose token Apple calls dead since then.
    private func lose(
        _ client: StatusIMPhone, at world: StatusIMWorld, since: Int64 = EventLoop.unixMilliseconds
    ) async throws {
        world.relay.sandbox.faults = FaultScript([
            FaultRule(.answer(status: 410, reason: "Unregistered", timestamp: since), times: 1)
        ])
        #expect(try reports(try await ask(world, client.request())) == [0])
        try await EventLoop.until { world.events("forgotten") > 0 }
    }

    @Test func aDeadDeviceTokenIsRemovedAndAHigherVersionBringsThePhoneBack() async throws {
        let world = try await StatusIMWorld()
        var client = self.client()
        #expect(try await register(client, at: world) == 0)
        try await lose(client, at: world)
        #expect(try reports(try await ask(world, client.request())) == [3])
        #expect(try await register(client, at: world) == 2)
        client.registration.version = 2
        client.registration.deviceToken = String(repeating: "cd", count: 32)
        #expect(try await register(client, at: world) == 0)
        #expect(try reports(try await ask(world, client.request())) == [0])
        _ = await world.relay.pushes(1)
        await world.end()
    }

    /// Of what is known already the sender hears at once.
    @Test func aTokenThatIsKnownToBeDeadIsToldAsNotRegistered() async throws {
        let world = try await StatusIMWorld()
        let (one, other) = (client(), client())
        for client in [one, other] { #expect(try await register(client, at: world) == 0) }
        try await lose(one, at: world, since: EventLoop.unixMilliseconds + 60_000)
        #expect(try reports(try await ask(world, other.request())) == [3])
        await world.end()
    }

    /// The same token, registered after it died: the app was installed again.
    @Test func aPhoneThatRegistersAgainWithTheSameTokenIsHeardAgain() async throws {
        let world = try await StatusIMWorld()
        var client = self.client()
        #expect(try await register(client, at: world) == 0)
        try await lose(client, at: world)
        #expect(world.relay.dispatcher.deadTokens == 1)
        client.registration.version = 2
        #expect(try await register(client, at: world) == 0)
        #expect(try reports(try await ask(world, client.request())) == [0])
        #expect(await world.relay.pushes(1).count == 1)
        #expect(world.relay.dispatcher.deadTokens == 0)
        await world.end()
    }

    @Test func whatCannotBePushedIsAnInternalError() async throws {
        let world = try await StatusIMWorld()
        var client = self.client("no token of Apple's")
        #expect(try await register(client, at: world) == 0, "the shape of tokens is not looked at")
        #expect(try reports(try await ask(world, client.request())) == [2])
        client = self.client()
        client.registration.topic = "com.another.app"
        #expect(try await register(client, at: world) == 0)
        #expect(try reports(try await ask(world, client.request())) == [2])
        client = self.client()
        client.registration.tokenType = 9
        #expect(try await register(client, at: world) == 0)
        #expect(try reports(try await ask(world, client.request())) == [0], "gorush drops it in silence")
        #expect(world.relay.dispatcher.waiting == 0)
        await world.end()
    }

    @Test func aRepetitionIsAnsweredAndPushedOnceAlsoWhenItComesAtTheSameTime() async throws {
        let world = try await StatusIMWorld()
        let client = self.client()
        #expect(try await register(client, at: world) == 0)
        let request = client.request(count: 3)
        var answers: [[UInt8]] = []
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<8 { group.addTask { try await ask(world, request) } }
            for try await answer in group { answers.append(answer) }
        }
        #expect(Set(answers).count == 1)
        #expect(try reports(answers[0]) == [0, 0, 0])
        #expect(try await ask(world, request) == answers[0])
        #expect(await world.relay.pushes(3).count == 3)
        #expect(world.relay.sandbox.book.count == 3)
        await world.end()
    }

    @Test func nothingIsAnsweredAsTakenThatIsNotStored() async throws {
        let world = try await StatusIMWorld()
        let client = self.client()
        #expect(try await register(client, at: world) == 0)
        await world.relay.outbox.setFault(.full)
        let request = client.request()
        #expect(try reports(try await ask(world, request)) == [2])
        await world.relay.outbox.setFault(nil)
        // It was not remembered: the same message is tried again.
        #expect(try reports(try await ask(world, request)) == [0])
        #expect(await world.relay.pushes(1).count == 1)
        await world.end()
    }

    @Test func whatIsTooManyIsRefusedInStatusOwnWords() async throws {
        let world = try await StatusIMWorld {
            $0.server.entriesPerRequest = 2
            $0.server.keysPerQuery = 2
            $0.registrations.perOwner = 1
            $0.registrations.installations = 3
        }
        var client = self.client()
        #expect(try await register(client, at: world) == 0)
        #expect(try reports(try await ask(world, client.request(count: 2))) == [0, 0])
        #expect(try reports(try await ask(world, client.request(count: 3))) == [2, 2])
        var writer = ProtoWriter()
        for _ in 0..<3 { writer.data(1, client.hash) }
        let answer = try await ask(world, client.message(.query, writer.bytes))
        #expect(answer.count == 34, "an id, and no success")
        client.registration.installationID = UUID().uuidString
        #expect(try await register(client, at: world) == 4, "the second phone of one client")
        #expect(try await register(self.client(), at: world) == 0)
        #expect(try await register(self.client(), at: world) == 0)
        #expect(try await register(self.client(), at: world) == 4, "the fourth phone of all")
        _ = await world.relay.pushes(2)
        await world.end()
    }

    /// Whoever registers made-up phones fills the table for nobody but himself.
    @Test func oneCircuitFillsNoMoreThanItsShare() async throws {
        let world = try await StatusIMWorld { $0.server.installations = 32 }
        func register(from sender: UInt64) async throws -> UInt8 {
            let message = try client().registering(at: server)
            let reply = await withCheckedContinuation { done in
                world.server.take(message, from: SenderID(sender)) { done.resume(returning: $0) }
            }
            guard case .message(let answer) = reply else { return .max }
            let payload = try SignedMessage(answer).payload
            return payload[0] == 8 ? 0 : payload[1]
        }
        var taken = 0
        for _ in 0..<20 where try await register(from: 1) == 0 { taken += 1 }
        #expect(taken == 16, "half, and then a sixteenth, which it has")
        #expect(try await register(from: 2) == 0)
        await world.end()
    }

    /// In the order of one phone's life; 0: taken, else the error.
    @Test func versionsDecideAlsoAfterUnregistering() async throws {
        let world = try await StatusIMWorld()
        var client = self.client()
        func register(_ version: UInt64, leaves: Bool = false) async throws -> UInt8 {
            client.registration.version = version
            client.registration.isUnregister = leaves
            return try await self.register(client, at: world)
        }
        // Of who was never there nothing is kept, so a lower version may come.
        #expect(try await register(9, leaves: true) == 0)
        var answers: [UInt8] = []
        for (version, leaves) in [
            (0, false), (5, false), (5, false), (4, false), (4, true), (5, true), (6, true), (6, true),
            (6, false),
            (7, false), (UInt64.max, false), (UInt64.max, true),
        ] as [(UInt64, Bool)] {
            answers.append(try await register(version, leaves: leaves))
        }
        #expect(answers == [2, 0, 2, 2, 2, 2, 0, 2, 2, 0, 0, 2])
        await world.end()
    }

    /// What Go's parser takes for a UUID is one here; what others send must then be the same text.
    @Test(arguments: [
        "{id}", "{id}".uppercased(), "urn:uuid:{id}", "{{id}}", "{plain}",
    ])
    func everyFormOfAUUIDNamesAPhone(form: String) async throws {
        let world = try await StatusIMWorld()
        var client = self.client()
        let id = UUID().uuidString.lowercased()
        let text = form.lowercased().replacing("{id}", with: id)
            .replacing("{plain}", with: id.replacing("-", with: ""))
        client.registration.installationID = form == form.lowercased() ? text : text.uppercased()
        client.registration.accessToken = client.registration.installationID
        #expect(try await register(client, at: world) == 0)
        #expect(try reports(try await ask(world, client.request())) == [0])
        var other = client
        other.registration.accessToken =
            text.uppercased() == client.registration.accessToken ? id : text.uppercased()
        #expect(try reports(try await ask(world, other.request())) == [1], "another text is another token")
        _ = await world.relay.pushes(1)
        await world.end()
    }

    /// Whatever is wrong with it, a registration is answered under the id of what was sealed.
    @Test func aRegistrationThatIsRefusedIsAnsweredUnderItsID() async throws {
        let world = try await StatusIMWorld()
        let client = self.client()
        for sealed in [[1], Array(repeating: 0, count: 12), Array(repeating: 0, count: 28)] as [[UInt8]] {
            let payload = try await ask(world, client.message(.registration, sealed))
            #expect(payload == [0x10, 1, 0x1a, 64] + Keccak.shake256(sealed))
        }
        await world.end()
    }

    @Test func strangersAndNoiseAreRefused() async throws {
        let world = try await StatusIMWorld()
        let client = self.client()
        let good = try client.registering(at: server)
        var unsigned = try SignedMessage(good)
        unsigned.signature = []
        var forged = try SignedMessage(good)
        forged.signature[64] = 27
        let answer = client.message(.registrationResponse, [1])
        for message in [[], [1, 2, 3], unsigned.encoded, forged.encoded, answer] {
            #expect(await world.post("/status/v1/message", message)?.status == 400)
        }
        #expect(await world.post("/status/v1/message", client.message(.query, []))?.status == 204)
        let http = try await world.client()
        #expect(await http.get("/status/v1/message")?.status == 405)
        // The same on the stream: silence, and an end to it.
        let stream = try await StatusIMClient(world.streamEndpoint)
        for _ in 0..<8 { stream.send(unsigned.encoded) }
        await stream.waitForEnd()
        #expect(stream.answers.isEmpty)
        let endless = try await StatusIMClient(world.streamEndpoint)
        endless.send(frame: [0x7f, 0xff, 0xff, 0xff])
        await endless.waitForEnd()
        await world.end()
    }

    /// A message sealed for another server is refused: that is what the sealing is for.
    @Test func whatWasMeantForAnotherServerIsMalformed() async throws {
        let world = try await StatusIMWorld()
        let other = try Secp256k1.PublicKey(
            bytes(hex: try #require(vectors.keys["other_server"]).public_compressed_hex))
        let payload = try await ask(world, try self.client().registering(at: other))
        #expect(payload.prefix(2) == [0x10, 1])
        await world.end()
    }

    @Test(arguments: [(3, 1000), (1000, 3)])
    func messagesSentAheadAreAnsweredInOrderAndAtTheirPace(rate: Int, totalRate: Int) async throws {
        let world = try await StatusIMWorld {
            $0.stream.rate = rate
            $0.stream.totalRate = totalRate
        }
        var client = self.client()
        let stream = try await StatusIMClient(world.streamEndpoint)
        for version in 1...5 {
            client.registration.version = UInt64(version)
            stream.send(try client.registering(at: server))
        }
        let answers = await stream.wait(for: 5)
        for answer in answers { #expect(try SignedMessage(answer).payload.prefix(2) == [8, 1]) }
        stream.close()
        await world.end()
    }
}
