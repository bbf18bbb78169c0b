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

/// What is kept of a phone, and how much a client may ask for.
extension StatusIMDoorTests {
    /// Of who unregisters nothing readable is left on the disk, and of who is registered only what pushing needs.
    @Test func whoUnregistersIsForgotten() async throws {
        let world = try await StatusIMWorld()
        var client = self.client("4f3c" + String(repeating: "ab", count: 30))
        #expect(try await register(client, at: world) == 0)
        let path = world.relay.outboxPath
        func holds(_ text: [UInt8]) throws -> Bool {
            try ["", "-wal"].contains { ending in
                guard FileManager.default.fileExists(atPath: path + ending) else { return false }
                return try Data(contentsOf: URL(filePath: path + ending)).range(of: Data(text)) != nil
            }
        }
        #expect(try holds(Array(client.registration.deviceToken.utf8)))
        #expect(try !holds(client.hash), "found by digest only")
        client.registration.isUnregister = true
        client.registration.version = 2
        #expect(try await register(client, at: world) == 0)
        await world.end()
        for text in [client.registration.deviceToken, client.registration.accessToken] {
            #expect(try !holds(Array(text.utf8)))
        }
    }

    /// Large answers to small questions, and a client that takes none of them.
    @Test func aClientThatReadsNothingIsAnsweredNoFurther() async throws {
        let world = try await StatusIMWorld()
        var client = self.client()
        client.registration.isFromContactsOnly = true
        client.registration.allowedKeys = Array(repeating: randomBytes(1000), count: 100)
        #expect(try await register(client, at: world) == 0)
        var query = ProtoWriter()
        query.data(1, client.hash)
        let count = 120
        let greedy = try await StatusIMClient(world.streamEndpoint)
        greedy.pauseReading()
        for _ in 0..<count { greedy.send(client.message(.query, query.bytes)) }
        // As long as it gets on, others are answered in between.
        var known = -1
        while known < count, known != world.events("query") {
            known = world.events("query")
            for _ in 0..<20 {
                _ = await world.post("/status/v1/message", client.message(.request, []))
            }
        }
        #expect(known < count, "what the kernel takes, and no more")
        greedy.resumeReading()
        #expect(await greedy.wait(for: known + 5).count >= known + 5)
        greedy.close()
        await world.end()
    }

    /// With a tor that others use too all connections count as one: its share would be that of all phones together.
    @Test func whereCircuitsAreNotToldNobodyHasAShare() async throws {
        let world = try await StatusIMWorld { $0.server.installations = 8 }
        var settings = CircuitsSettings()
        settings.areShared = true
        let endpoint = try world.streamDoor.open(
            on: .host("127.0.0.1", port: 0), by: Circuits(settings: settings))
        let stream = try await StatusIMClient(endpoint)
        for _ in 0..<8 { stream.send(try client().registering(at: server)) }
        for answer in await stream.wait(for: 8) {
            #expect(try SignedMessage(answer).payload[0] == 8, "taken")
        }
        await world.end()
    }

    /// Strangers with many circuits fill a table in which nothing is old. Each of the others finds room, and keeps it.
    @Test func whoFillsTheTableGivesWayToOthers() async throws {
        let world = try await StatusIMWorld {
            $0.server.installations = 32
            $0.registrations.installations = 32
        }
        func register(_ client: StatusIMPhone, from circuit: UInt64) async throws -> UInt8 {
            let message = try client.registering(at: server)
            let reply = await withCheckedContinuation { done in
                world.server.take(message, from: SenderID(circuit)) { done.resume(returning: $0) }
            }
            guard case .message(let answer) = reply else { return .max }
            let payload = try SignedMessage(answer).payload
            return payload[0] == 8 ? 0 : payload[1]
        }
        /// As many as a circuit is given, for each of so many circuits.
        func flood(_ circuits: Range<UInt64>) async throws -> Int {
            var taken = 0
            for circuit in circuits {
                for _ in 0..<20 where try await register(client(), from: circuit) == 0 { taken += 1 }
            }
            return taken
        }
        #expect(try await flood(0..<20) >= 32)
        var honest: [StatusIMPhone] = []
        for circuit in 100..<108 as Range<UInt64> {
            honest.append(client())
            #expect(try await register(honest[honest.count - 1], from: circuit) == 0, "\(circuit)")
        }
        _ = try await flood(20..<60)
        for client in honest {
            // Known: the same version is refused as old.
            #expect(try await register(client, from: 200) == 2)
        }
        await world.end()
    }

    /// Bytes of a registration as it is kept.
    private var size: Int {
        var registration = client().registration
        registration.grant = [UInt8](repeating: 1, count: 65)
        return registration.encoded.count
    }

    private func register(
        _ client: StatusIMPhone, from circuit: UInt64, at world: StatusIMWorld
    ) async throws -> UInt8 {
        let message = try client.registering(at: server)
        let reply = await withCheckedContinuation { done in
            world.server.take(message, from: SenderID(circuit)) { done.resume(returning: $0) }
        }
        guard case .message(let answer) = reply else { return .max }
        let payload = try SignedMessage(answer).payload
        return payload[0] == 8 ? 0 : payload[1]
    }

    /// A phone that was here before asks for no less than one that comes now.
    @Test func newcomersGiveWayToAKnownPhoneTooAndOnlyIfThatSuffices() async throws {
        let size = size
        let world = try await StatusIMWorld { $0.registrations.bytes = 20 * size }
        func count() throws -> Int {
            let file = try RegistrationFile(
                .file(world.relay.outboxPath, DoorKinds(of: StatusIMFeature.tables)), isReadOnly: true)
            var count = 0
            try file.forEach(of: try #require(file.views.first { $0.kind == "status" })) { _ in count += 1 }
            return count
        }
        var known = client()
        #expect(try await register(known, from: 1, at: world) == 0)
        for _ in 0..<19 { #expect(try await register(client(), from: 2, at: world) == 0) }
        known.registration.version = 2
        known.registration.allowedKeys = [randomBytes(40 * size)]
        #expect(try await register(known, from: 1, at: world) != 0, "all together have less room than that")
        #expect(try count() == 20)
        known.registration.allowedKeys = [randomBytes(2 * size)]
        #expect(try await register(known, from: 1, at: world) == 0)
        #expect(try count() == 17, "three of them have a little more than it takes")
        await world.end()
    }

    @Test func whatIsNotKeptTakesNoShareOfItsCircuit() async throws {
        let size = size
        let world = try await StatusIMWorld {
            $0.server.installations = 32
            $0.registrations.bytes = size
        }
        var first = client()
        #expect(try await register(first, from: 1, at: world) == 0)
        for _ in 0..<40 { #expect(try await register(client(), from: 1, at: world) != 0) }
        first.registration.version = 2
        first.registration.isUnregister = true
        #expect(try await register(first, from: 1, at: world) == 0)
        #expect(try await register(client(), from: 1, at: world) == 0)
        await world.end()
    }

    @Test func aRegistrationHasSoManyListElements() async throws {
        let world = try await StatusIMWorld()
        var client = self.client()
        let half = Array(repeating: [UInt8(1)], count: 1024)
        client.registration.allowedKeys = half
        client.registration.blockedChats = half
        client.registration.allowedMentionChats = half
        client.registration.mutedChats = half
        #expect(try await register(client, at: world) == 0)
        client.registration.version = 2
        client.registration.mutedChats.append([1])
        #expect(try await register(client, at: world) == 4)
        client.registration.isUnregister = true
        #expect(try await register(client, at: world) == 0, "who goes may have any")
        await world.end()
    }

    /// Its beginning came with two messages more than the connection's share: the rest is late through us.
    @Test func aMessageHasNoDeadlineWhileItIsNotRead() async throws {
        let world = try await StatusIMWorld {
            $0.stream.rate = 2
            $0.stream.messageDeadline = .milliseconds(200)
        }
        var client = self.client()
        var frames: [UInt8] = []
        for version in 1...4 {
            client.registration.version = UInt64(version)
            let message = try client.registering(at: server)
            frames += MessageStream.prefix(of: message) + message
        }
        let stream = try await StatusIMClient(world.streamEndpoint)
        stream.send(frame: Array(frames.dropLast(10)))
        await stream.wait(for: 1)
        stream.send(frame: Array(frames.suffix(10)))
        #expect(await stream.wait(for: 4).count == 4)
        // One that is read and doesn't come has it.
        stream.send(frame: [0])
        await stream.waitForEnd()
        await world.end()
    }
}
