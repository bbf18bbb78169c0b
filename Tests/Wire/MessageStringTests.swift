import Foundation
import Testing
import Vectors

@testable import Wire

@Suite struct MessageStringTests {
    @Test(arguments: try EncryptedVector.all.get())
    func theTextInsideIsWrittenAsGsonWritesIt(entry: EncryptedVector) {
        #expect(entry.message.json == entry.json)
    }

    @Test(arguments: try EncryptedVector.all.get().filter { $0.padding == "blank" })
    func theTextIsFilledWithBlanksByBytes(entry: EncryptedVector) throws {
        let blocks = entry.message.blocks
        #expect(blocks.count == entry.padded_utf8_bytes)
        #expect(blocks.suffix(16) == bytes(hex: try #require(entry.decrypted_utf8_hex_tail))[...])
        #expect(String(decoding: blocks, as: UTF8.self).hasPrefix(entry.json))
    }

    @Test(arguments: try EncryptedVector.all.get().filter { $0.message_string != nil })
    func aMessageStringIsReadAndWrittenUnchanged(entry: EncryptedVector) throws {
        let text = try #require(entry.message_string)
        let magic: MessageMagic = entry.os == "android" ? .android : .ios
        let message = try MessageString(text, for: magic)
        #expect(message.iv == Array(entry.iv.utf8))
        #expect(message.cipherText == Array(Data(base64Encoded: try #require(entry.ciphertext_base64))!))
        #expect(message.text == text)
    }

    @Test func whatAnAppRefusesIsRefused() throws {
        struct Bad: Decodable {
            var name: String
            var message_string: String
        }
        let expected: [String: MessageStringError] = [
            "wrong magic for the platform": .wrongPlatform(.ios),
            "iv of 15 characters": .ivLength(characters: 15),
            "two sections": .sections(count: 2), "four sections": .sections(count: 4),
            "not Base64": .notBase64,
            "ciphertext not a multiple of 16": .cipherTextLength(bytes: 127),
        ]
        let entries = try Vectors.bisq("bad_message_strings", as: [Bad].self)
        #expect(entries.count == expected.count)
        for entry in entries {
            #expect(throws: try #require(expected[entry.name])) {
                try MessageString(entry.message_string, for: .android)
            }
        }
    }

    @Test(arguments: [
        "", "BisqMessageAndroid|44bddb02f8774c40|", "BisqMessageX|44bddb02f8774c40|AAAA", "||",
        "BisqMessageAndroid|44bddb02f8774cé|AAAA",
    ])
    func moreTextsThatNoAppAccepts(text: String) {
        #expect(throws: MessageStringError.self) { try MessageString(text, for: .android) }
    }
}
