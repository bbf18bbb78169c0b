import Crypto
import Encodings
import Foundation
import Testing

@testable import Tor

/// Keys that other programs keep.
@Suite struct OnionKeyFilesTests {
    private let key = OnionKey(seed: Array(0..<32))!

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func torsOwnFileIsReadAndWritten() throws {
        let file = key.torsFile
        #expect(file.count == 96)
        #expect(file.starts(with: bytes("== ed25519v1-secret: type0 ==\0\0\0")))
        let read = try #require(OnionKey(file: file))
        #expect(read.address == key.address)
        #expect(read.expandedBytes == key.expandedBytes)
    }

    @Test func bisqsFilesAreRead() throws {
        let text = "ED25519-V3:" + Base64.encode(key.expandedBytes)
        let hex = Hex.encode(Array(0..<32))
        for file in [text, text + "\n", hex, hex.uppercased() + "\r\n"] {
            #expect(OnionKey(file: bytes(file))?.address == key.address, "\(file.count)")
        }
    }

    @Test func aCopyOfOurOwnFileIsRead() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/onion-key"
        try OnionKeyFile(path: path).create(key)
        #expect(OnionKey(file: Array(try Data(contentsOf: URL(filePath: path))))?.address == key.address)
    }

    @Test func whatIsNoKeyIsRefused() throws {
        var unclamped = key.torsFile
        unclamped[32] |= 1
        let refused: [[UInt8]] = [
            [], bytes("\n"), key.torsFile.dropLast(), key.torsFile + [0], unclamped, bytes("ED25519-V3:"),
            bytes("ED25519-V3:AAAA"), bytes("RSA1024:" + Base64.encode(key.expandedBytes)),
            bytes(String(repeating: "0", count: 63)), bytes(String(repeating: "g", count: 64)),
            bytes("== ed25519v1-public: type0 ==\0\0\0") + [UInt8](repeating: 1, count: 32),
        ].map { Array($0) }
        for file in refused { #expect(OnionKey(file: file) == nil, "\(file.count)") }
    }
}
