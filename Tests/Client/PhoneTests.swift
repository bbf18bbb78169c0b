import Crypto
import Encodings
import Testing
import Vectors
import Wire

@testable import Client

@Suite struct PhoneTests {
    @Test(arguments: try EncryptedVector.all.get().filter { $0.padding == "blank" })
    func aMessageIsSealedByteForByteAsBisqDoes(entry: EncryptedVector) throws {
        let sealed = try BisqSender(to: try entry.token(entry.platform))
            .seal(entry.message, iv: Array(entry.iv.utf8))
        #expect(sealed.text == entry.message_string)
    }

    @Test(arguments: try EncryptedVector.all.get().filter { $0.message_string != nil }, Platform.allCases)
    func aPhoneOpensWhatItsAppOpens(entry: EncryptedVector, platform: Platform) throws {
        let original = try MessageString(try #require(entry.message_string), for: entry.platform.messageMagic)
        let text = MessageString(
            magic: platform.messageMagic, iv: original.iv, cipherText: original.cipherText
        ).text
        let phone = Phone(try entry.token(platform))
        let isAccepted = platform == .android ? entry.android_app_accepts : entry.ios_app_accepts
        if isAccepted == true {
            #expect(try phone.open(text) == entry.message)
        } else {
            #expect(throws: PhoneError.unreadableText) { try phone.open(text) }
        }
    }

    /// Bisq counts characters when it fills; its cipher then refuses, and the notification is lost.
    @Test(arguments: try EncryptedVector.all.get().filter { $0.padding == "blank-by-characters" })
    func fillingByCharactersCanNotBeEncrypted(entry: EncryptedVector) throws {
        #expect(entry.message_string == nil)
        let blanks = entry.padded_utf8_bytes - entry.json_utf8_bytes
        let filled = Array(entry.message.json.utf8) + [UInt8](repeating: 0x20, count: blanks)
        #expect(throws: CryptoError.self) {
            try AES256CBC.encrypt(filled, key: Array(entry.key.utf8), iv: Array(entry.iv.utf8))
        }
        // By bytes the same message arrives.
        let token = try entry.token(entry.platform)
        let sealed = try BisqSender(to: token).seal(entry.message)
        #expect(try Phone(token).open(sealed.text) == entry.message)
    }

    @Test(arguments: Platform.allCases)
    func aNewPhoneCanBeReachedByWhatItShows(platform: Platform) throws {
        let phone = try Phone.new(platform, descriptor: "iPhone 8 Plus")
        let token = try PairingToken(phone.pairingToken.text)
        #expect(try PairingToken(asBisqReads: phone.pairingToken.text) == token)
        let message = PhoneText(
            sentDate: 1_655_910_136_568, transactionID: "x", title: "Grüße 🚀", message: "a \"b\" <c>",
            kind: .trade)
        let request = try BisqSender(to: token).request(for: message)
        #expect(try phone.open(request.message) == message)
        #expect(request.deviceToken == token.deviceToken)
        #expect(request.platform == platform)
        #expect(request.isContentAvailable)
        let other = try BisqSender(to: token).request(for: message)
        #expect(other.uid != request.uid)
        #expect(other.message != request.message)
    }

    @Test func twoPhonesHaveTwoKeysAndTokens() throws {
        let (one, other) = (try Phone.new(.android, descriptor: ""), try Phone.new(.android, descriptor: ""))
        #expect(one.pairingToken.key != other.pairingToken.key)
        #expect(one.pairingToken.deviceToken != other.pairingToken.deviceToken)
        let sealed = try BisqSender(to: one.pairingToken).seal(PhoneText(sentDate: 1, kind: .erase))
        #expect(throws: PhoneError.unreadableText) { try other.open(sealed.text) }
    }

    @Test func aPhoneOfTheOtherKindRefusesTheMagic() throws {
        let phone = try Phone.new(.ios, descriptor: "")
        let sealed = try BisqSender(to: phone.pairingToken).seal(PhoneText(sentDate: 1, kind: .erase))
        let text = MessageString(magic: .android, iv: sealed.iv, cipherText: sealed.cipherText).text
        #expect(throws: PhoneError.messageString(.wrongPlatform(.android))) { try phone.open(text) }
    }

    /// Without the key a bit of one block can be changed by that of the one before it, which is chance from then on.
    @Test func bitsThatSomebodyChangedAreSeenByTheBlockBeforeThem() throws {
        let text = #"{"sentDate":1800000000000,"txId":"abc","title":"sixteen and more","type":"TRADE"}"#
        var opened = 0
        for _ in 0..<2000 {
            let phone = try Phone.new(.android, descriptor: "")
            let key = Array(phone.pairingToken.key.utf8)
            var plain = Array(text.utf8)
            while !plain.count.isMultiple(of: 16) { plain.append(0x20) }
            let iv = Array("0123456789abcdef".utf8)
            var sealed = try AES256CBC.encrypt(plain, key: key, iv: iv)
            let kind = text.utf8.count - #"TRADE"}"#.utf8.count
            for (offset, pair) in zip("TRADE".utf8, "ERASE".utf8).enumerated() {
                sealed[kind + offset - 16] ^= pair.0 ^ pair.1
            }
            let forged = MessageString(magic: .android, iv: iv, cipherText: sealed).text
            opened += (try? phone.open(forged)) == nil ? 0 : 1
        }
        #expect(opened <= 1)
    }

    @Test func theTwoAppsTreatFieldsTheirOwnWay() throws {
        func sealed(_ json: String, for phone: Phone) throws -> String {
            var text = Array(json.utf8)
            while !text.count.isMultiple(of: 16) { text.append(0x20) }
            let iv = Array("0123456789abcdef".utf8)
            let cipherText = try AES256CBC.encrypt(text, key: Array(phone.pairingToken.key.utf8), iv: iv)
            return MessageString(
                magic: phone.pairingToken.platform.messageMagic, iv: iv, cipherText: cipherText
            ).text
        }
        let android = try Phone.new(.android, descriptor: "")
        let ios = try Phone.new(.ios, descriptor: "")
        let short = "{\"type\":\"TRADE\"}"
        #expect(
            try android.open(sealed(short, for: android))
                == PhoneText(sentDate: 0, kind: .trade, version: 0))
        #expect(throws: PhoneError.self) { try ios.open(sealed(short, for: ios)) }
        let full = PhoneText(sentDate: 1, kind: .trade).json.dropLast() + ",\"more\":1}"
        #expect(throws: PhoneError.field("more")) { try android.open(sealed(String(full), for: android)) }
        #expect(try ios.open(sealed(String(full), for: ios)) == PhoneText(sentDate: 1, kind: .trade))
    }
}

extension EncryptedVector {
    fileprivate func token(_ platform: Platform) throws -> PairingToken {
        try PairingToken(
            platform: platform, descriptor: "", key: key, deviceToken: String(repeating: "ab", count: 32))
    }

    fileprivate var platform: Platform { os == "android" ? .android : os == "iOS" ? .ios : .iosDev }
}
