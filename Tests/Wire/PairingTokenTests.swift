import Foundation
import Testing
import Vectors

@testable import Wire

@Suite struct PairingTokenTests {
    /// Whoever copies half of a token sees it at once, and not by a phone that stays silent.
    @Test func theBeginningOfADeviceTokenIsToldFromAWholeOne() {
        let whole = "aku-XrLQrwJs0gwFfkWL2D:APA91b" + String(repeating: "z", count: 134)
        #expect(!PairingToken.isCut(whole))
        for length in 29...(29 + 119) {
            #expect(PairingToken.isCut(String(whole.prefix(length))), "\(length)")
        }
        #expect(!PairingToken.isCut(String(whole.prefix(29 + 120))))
        // What is no token of that form may be any length.
        for text in ["", ":APA91b", String(repeating: "a", count: 40), "nt1:topic", "wp1:a.org:2Fx::k"] {
            #expect(!PairingToken.isCut(text), "\(text)")
        }
    }

    struct Parsed: Decodable {
        var magic: String
        var descriptor: String
        var key: String
        var notification_token: String
        var message_magic: String
    }

    struct Entry: Decodable, CustomTestStringConvertible, Sendable {
        var name: String
        var token: String
        var valid: Bool
        var reason: String?
        var parsed: Parsed?
        var strict_valid: Bool
        var testDescription: String { name }

        static let all = Swift.Result { try Vectors.bisq("pairing_tokens", as: [Entry].self) }
    }

    @Test(arguments: try Entry.all.get())
    func aTokenIsReadAsBisqReadsIt(entry: Entry) throws {
        guard entry.valid else {
            let error = #expect(throws: PairingTokenError.self) { try PairingToken(asBisqReads: entry.token) }
            let numbers = try #require(entry.reason).components(
                separatedBy: CharacterSet.decimalDigits.inverted)
            switch try #require(error) {
            case .sections(let count): #expect(numbers.contains("\(count)"))
            case .keyLength(let count), .deviceTokenLength(let count, _):
                #expect(numbers.contains("\(count)"))
            case .unknownMagic: #expect(entry.reason?.hasPrefix("unknown magic") == true)
            default: Issue.record("Bisq does not look at this")
            }
            return
        }
        let parsed = try #require(entry.parsed)
        let token = try PairingToken(asBisqReads: entry.token)
        #expect(token.platform.pairingMagic == parsed.magic)
        #expect(token.platform.messageMagic.rawValue == parsed.message_magic)
        #expect(token.descriptor == parsed.descriptor)
        #expect(token.key == parsed.key)
        #expect(token.deviceToken == parsed.notification_token)
    }

    @Test(arguments: try Entry.all.get())
    func whatBisqWouldFailOnLaterIsRefusedAtOnce(entry: Entry) throws {
        guard entry.strict_valid else {
            #expect(throws: PairingTokenError.self) { try PairingToken(entry.token) }
            return
        }
        let token = try PairingToken(entry.token)
        #expect(try token == PairingToken(asBisqReads: entry.token))
        #expect(token.text == entry.token)
        #expect(
            try token
                == PairingToken(
                    platform: token.platform, descriptor: token.descriptor, key: token.key,
                    deviceToken: token.deviceToken))
    }

    @Test func theOldFormOfThreePartsIsNoPairingToken() throws {
        struct Legacy: Decodable {
            var phone_id: String
            var pairing_token_valid: Bool
        }
        let entries = try Vectors.bisq("legacy_phone_ids", as: [Legacy].self)
        #expect(!entries.isEmpty)
        for entry in entries {
            #expect(!entry.pairing_token_valid)
            #expect(throws: PairingTokenError.self) { try PairingToken(asBisqReads: entry.phone_id) }
            #expect(throws: PairingTokenError.self) { try PairingToken(entry.phone_id) }
        }
    }

    @Test func contentAvailableFollowsTheDescriptor() throws {
        struct Phone: Decodable {
            var descriptor: String
            var content_available: Bool?
        }
        for phone in try Vectors.bisq("content_available", as: [Phone].self) {
            #expect(
                PairingToken.isContentAvailable(descriptor: phone.descriptor) == phone.content_available
                    ?? false,
                "\(phone.descriptor)")
        }
    }

    @Test func aSeparatorWithinAPartCanNotBeSmuggledIn() {
        #expect(throws: PairingTokenError.sections(count: 5)) {
            try PairingToken(
                platform: .android, descriptor: "a|b", key: String(repeating: "k", count: 32),
                deviceToken: String(repeating: "t", count: 32))
        }
    }

    @Test(arguments: [32, 4_096])
    func androidTokensOfAllowedLengthsAreTaken(length: Int) throws {
        let key = String(repeating: "k", count: 32)
        let token = String(repeating: "t", count: length)
        #expect(try PairingToken("android||\(key)|\(token)").deviceToken == token)
    }

    @Test(arguments: [31, 4_097])
    func androidTokensOfOtherLengthsAreRefused(length: Int) {
        let key = String(repeating: "k", count: 32)
        let token = String(repeating: "t", count: length)
        #expect(throws: PairingTokenError.deviceTokenLength(characters: length, platform: .android)) {
            try PairingToken("android||\(key)|\(token)")
        }
    }

    @Test func noErrorTellsASecret() throws {
        for entry in try Entry.all.get() where !entry.strict_valid {
            do {
                _ = try PairingToken(entry.token)
            } catch {
                for section in entry.token.split(separator: "|").dropFirst(2) {
                    #expect(!"\(error)".contains(section))
                }
            }
        }
    }
}
