import Foundation
import Testing
import Vectors

@testable import Wire

@Suite struct MessageStringTests {
    struct Content: Decodable {
        var sentDate: Int64
        var txId: String
        var title: String
        var message: String
        var type: String
        var actionRequired: String
        var version: Int64
    }

    struct Encrypted: Decodable, CustomTestStringConvertible, Sendable {
        var name: String
        var os: String
        var iv: String
        var mobile_message: Content
        var json: String
        var padding: String
        var padded_utf8_bytes: Int
        var decrypted_utf8_hex_tail: String?
        var ciphertext_base64: String?
        var message_string: String?
        var testDescription: String { name }

        static let all = Swift.Result { try Vectors.bisq("encryption", as: [Encrypted].self) }

        var message: PhoneText {
            PhoneText(
                sentDate: mobile_message.sentDate, transactionID: mobile_message.txId,
                title: mobile_message.title, message: mobile_message.message,
                kind: PhoneText.Kind(rawValue: mobile_message.type)!,
                actionRequired: mobile_message.actionRequired, version: mobile_message.version)
        }
    }

    @Test(arguments: try Encrypted.all.get())
    func theTextInsideIsWrittenAsGsonWritesIt(entry: Encrypted) {
        #expect(entry.message.json == entry.json)
    }

    @Test(arguments: try Encrypted.all.get().filter { $0.padding == "blank" })
    func theTextIsFilledWithBlanksByBytes(entry: Encrypted) throws {
        let blocks = entry.message.blocks
        #expect(blocks.count == entry.padded_utf8_bytes)
        #expect(blocks.suffix(16) == bytes(hex: try #require(entry.decrypted_utf8_hex_tail))[...])
        #expect(String(decoding: blocks, as: UTF8.self).hasPrefix(entry.json))
    }

    @Test(arguments: try Encrypted.all.get().filter { $0.message_string != nil })
    func aMessageStringIsReadAndWrittenUnchanged(entry: Encrypted) throws {
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
