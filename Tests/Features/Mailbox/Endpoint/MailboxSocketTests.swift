import Doors
import Foundation
import HTTP1
import Reactor
import Testing

@testable import MailboxEndpoint

/// Mailboxes over WebSockets: what a pong acknowledges, and what no client says.
@EventLoop
@Suite(.serialized) struct MailboxSocketTests {
    typealias World = MailboxDoorTests.World
    typealias Reader = MailboxDoorTests.Reader

    /// The handshake of RFC 6455, section 1.3.
    nonisolated static let handshake = """
        Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n
        """

    func open(
        _ world: World, _ query: String = "", token: String = "tk_phone"
    ) async throws -> Reader {
        let reader = try await Reader(world, "/mbmine/ws\(query)", token: token, more: Self.handshake)
        await reader.wait { $0.text.contains("\r\n\r\n") }
        #expect(reader.text.contains("101 Switching Protocols"))
        #expect(reader.text.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
        return reader
    }

    func messages(_ reader: Reader) -> [WebSocketMessage] {
        guard
            let end = reader.bytes.indices.first(where: { reader.bytes[$0...].starts(with: "\r\n\r\n".utf8) })
        else { return [] }
        var decoder = WebSocketDecoder(isMasked: false, limit: 65536)
        decoder.append(Array(reader.bytes[(end + 4)...]).span.bytes)
        var messages: [WebSocketMessage] = []
        while let message = try? decoder.next() { messages.append(message) }
        return messages
    }

    func pings(_ reader: Reader) -> [[UInt8]] {
        messages(reader).compactMap { if case .ping(let bytes) = $0 { bytes } else { nil } }
    }

    func say(_ message: WebSocketMessage, _ reader: Reader) {
        reader.stream.write(message.encoded(mask: [1, 2, 3, 4]))
    }

    /// Until the store has it: it is asked again when it has answered.
    private func waitUntil(_ world: World, hasLeft texts: [String]) async throws {
        while try await world.left() != texts { try Task.checkCancellation() }
    }

    @Test func aPongAcknowledges() async throws {
        let world = try await World()
        let phone = try await open(world)
        let desk = try await open(world, token: "tk_desk")
        await phone.wait { $0.text.contains("open") }
        for _ in 1...3 { try await world.send() }
        for reader in [phone, desk] { await reader.wait { self.pings($0).count == 3 } }
        #expect(phone.text.contains(#""encrypted":"text 3""#))
        say(.pong(pings(phone)[1]), phone)
        say(.pong(pings(desk)[2]), desk)
        try await waitUntil(world, hasLeft: ["text 3"])
        #expect(try await world.left() == ["text 3"])
        await world.close()
        await phone.wait { $0.hasEnded }
        #expect(messages(phone).last == .close(code: 1000))
    }

    /// What was never sent over this line is not acknowledged by it.
    @Test func aPongForWhatNeverCameAcknowledgesNothing() async throws {
        let world = try await World()
        let (phone, desk) = (try await open(world), try await open(world, token: "tk_desk"))
        try await world.send()
        for reader in [phone, desk] { await reader.wait { self.pings($0).count == 1 } }
        for bytes in [[0, 0, 0, 0, 0, 0, 0, 9], [0x7F] + [UInt8](repeating: 0xFF, count: 7), [], [1]] {
            for reader in [phone, desk] { say(.pong(bytes), reader) }
        }
        say(.pong([UInt8](repeating: 0xFF, count: 8)), phone)
        // Its answer comes behind all of these.
        for reader in [phone, desk] {
            say(.ping([7]), reader)
            await reader.wait { self.messages($0).contains(.pong([7])) }
            #expect(messages(reader).contains(.pong([7])))
        }
        #expect(try await world.left() == ["text 1"])
        await world.close()
    }

    @Test func afterACutTheReaderGetsWhatItHasNotAcknowledged() async throws {
        let world = try await World()
        let first = try await open(world)
        let id = try await world.send()
        try await world.send()
        await first.wait { self.pings($0).count == 2 }
        first.close()
        let again = try await open(world, "?since=\(id)")
        await again.wait { self.pings($0).count == 1 }
        #expect(again.text.contains("text 2") && !again.text.contains("text 1"))
        await world.close()
    }

    @Test(
        arguments: [
            // Not masked; reserved bits; an opcode that there is none of; a length with a second spelling; 2^63.
            ([0x81, 1, 65], 1002), ([0xC1, 0x80, 0, 0, 0, 0], 1002), ([0x83, 0x80, 0, 0, 0, 0], 1002),
            ([0x81, 0xFE, 0, 1, 0, 0, 0, 0, 65], 1002), ([0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], 1009),
            ([0x82, 0x80, 0, 0, 0, 0], 1003), ([0x81, 0xFE, 0x10, 1], 1009),
            ([0x81, 0x81, 0, 0, 0, 0, 0xFF], 1007),
            ([0x88, 0x80, 0, 0, 0, 0], 1000),
        ] as [([UInt8], UInt16)]) func whatNoClientSaysEndsIt(bytes: [UInt8], code: UInt16) async throws
    {
        let world = try await World()
        let reader = try await open(world)
        await reader.wait { $0.text.contains("open") }
        // Byte by byte.
        for byte in bytes { reader.stream.write([byte]) }
        await reader.wait { $0.hasEnded }
        #expect(reader.hasEnded && messages(reader).last == .close(code: code))
        #expect(world.door.openReadings == 0)
        await world.close()
    }

    @Test func aSilentClientIsLetGo() async throws {
        let world = try await World { $0.silence = .milliseconds(50) }
        let reader = try await open(world)
        await reader.wait { $0.hasEnded }
        #expect(reader.hasEnded)
        await world.close()
    }

    @Test func aPollEnds() async throws {
        let world = try await World()
        try await world.send()
        let reader = try await open(world, "?poll=1")
        await reader.wait { $0.hasEnded }
        #expect(reader.text.contains("text 1") && messages(reader).last == .close(code: 1000))
        await world.close()
    }
}
