import Encodings
import Foundation
import Lab
import LabParts
import Reactor
import Testing

@testable import Client

/// The pairing code of a trusted node of Bisq 2.
@EventLoop
@Suite struct TrustedNodeCodeTests {
    /// By hand from the layout in `PairingQrCodeEncoder.java` and `PairingCodeEncoder.java`.
    private nonisolated static let made: [UInt8] =
        [1, 0, 33, 1, 0, 4] + Array("ab-1".utf8) + [0, 0, 1, 0xA0, 0, 0, 0, 1]
        + [0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 3] + [0, 10] + Array("ws://x.y:1".utf8) + [0]

    @Test func theLayoutIsTheOriginals() throws {
        // 1 + 2 + 4 + 8 + 4 + 3 * 4 bytes of code.
        var bytes = Self.made
        bytes[2] = 31
        let code = try TrustedNodeCode(Base64.encodeForURL(bytes))
        #expect(code.pairingID == "ab-1" && code.url == "ws://x.y:1")
        #expect(code.expiresAt == 0x1_A000_0000_01 && !code.needsTorClientKey && !code.hasCertificate)
    }

    @Test func whatTheSimulatedNodeMakesIsRead() throws {
        let node = try SimulatedTrustedNode()
        defer { node.close() }
        let code = try TrustedNodeCode(node.code(flags: 3))
        #expect(code.url == "ws://\(node.endpoint)" && code.needsTorClientKey && code.hasCertificate)
        #expect(throws: TrustedNodeCode.Fault.noPermission) {
            try TrustedNodeCode(node.code(permissions: 0...9))
        }
    }

    /// Cut anywhere, and with each byte another one: refused or read, never a trap.
    @Test func damagedCodesAreRefused() throws {
        let node = try SimulatedTrustedNode()
        defer { node.close() }
        let bytes = try #require(Base64.decodeFromURL(node.code()))
        for count in 0..<bytes.count {
            #expect(throws: TrustedNodeCode.Fault.notACode) {
                try TrustedNodeCode(Base64.encodeForURL(Array(bytes[..<count])))
            }
        }
        for index in bytes.indices {
            for value in [0, 0x7F, 0xFF] as [UInt8] {
                var bytes = bytes
                bytes[index] = value
                _ = try? TrustedNodeCode(Base64.encodeForURL(bytes))
            }
        }
        for text in ["", "x", "ä", String(repeating: "A", count: 100_000)] {
            #expect(throws: TrustedNodeCode.Fault.notACode) { try TrustedNodeCode(text) }
        }
        // A line break in the address or in the id would be one in a request.
        let broken = String(decoding: bytes, as: UTF8.self).replacing("ws://", with: "ws:\r\n")
        #expect(throws: TrustedNodeCode.Fault.notACode) {
            try TrustedNodeCode(Base64.encodeForURL(Array(broken.utf8)))
        }
    }
}
