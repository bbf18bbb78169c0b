import Testing
import Vectors

@testable import Relay

@Suite struct MessageTextTests {
    static let block = "AAAAAAAAAAAAAAAAAAAAAA=="
    static let iv = "0123456789abcdef"

    struct Encryption: Decodable {
        let name: String
        let os: String
        let message_string: String?
    }

    @Test func everyMessageThatBisqSealsIsAccepted() throws {
        let entries = try Vectors.bisq("encryption", as: [Encryption].self)
        var checked = 0
        for entry in entries {
            guard let message = entry.message_string else { continue }
            let isAndroid = entry.os == "android"
            #expect(MessageText.isValid(message, for: isAndroid ? .android : .ios), "\(entry.name)")
            #expect(!MessageText.isValid(message, for: isAndroid ? .ios : .android), "\(entry.name)")
            checked += 1
        }
        #expect(checked == 17)
    }

    struct Bad: Decodable {
        let name: String
        let message_string: String
    }

    @Test func everyMessageThatPhonesRefuseIsRefused() throws {
        let entries = try Vectors.bisq("bad_message_strings", as: [Bad].self)
        for entry in entries {
            #expect(!MessageText.isValid(entry.message_string, for: .android), "\(entry.name)")
        }
        #expect(entries.count == 6)
    }

    struct Get: Decodable {
        struct Expect: Decodable {
            let provider: String
            let notification_token: String
            let encrypted: String
        }
        let name: String
        let expect: Expect?
    }

    struct Post: Decodable {
        struct Body: Decodable { let encrypted: String }
        let name: String
        let path: String
        let body: Body
    }

    @Test func whatBisqsRelayTookIsAccepted() throws {
        let gets = try Vectors.bisq("relay_get", as: [Get].self).compactMap { entry in
            entry.expect.map { (entry.name, $0.provider == "fcm", $0.notification_token, $0.encrypted) }
        }
        let posts = try Vectors.bisq("relay_post", as: [Post].self).map { entry in
            (
                entry.name, entry.path.hasPrefix("/v1/fcm"), String(entry.path.split(separator: "/").last!),
                entry.body.encrypted
            )
        }
        for (name, isAndroid, token, message) in gets + posts {
            let form = isAndroid ? DeviceToken(opaque: token) : DeviceToken(hexadecimal: token)
            #expect(form?.text == token, "\(name)")
            #expect(MessageText.isValid(message, for: isAndroid ? .android : .ios), "\(name)")
        }
        #expect(gets.count == 16)
        #expect(posts.count == 4)
    }

    @Test func theSandboxSharesApplesMagic() {
        #expect(MessageText.isValid("BisqMessageiOS|\(Self.iv)|\(Self.block)", for: .ios))
        #expect(!MessageText.isValid("BisqMessageiOSDev|\(Self.iv)|\(Self.block)", for: .ios))
    }

    /// Bytes that base64 stands for, and whether whole AES blocks.
    @Test(arguments: zip([15, 16, 17, 31, 32, 48], [false, true, false, false, true, true]))
    func aSealedMessageIsWholeBlocks(bytes: Int, isValid: Bool) {
        let text = Self.base64(bytes: bytes)
        #expect(MessageText.isValid("BisqMessageAndroid|\(Self.iv)|\(text)", for: .android) == isValid)
    }

    @Test func noBlockIsNoMessage() {
        #expect(!MessageText.isValid("BisqMessageAndroid|\(Self.iv)|", for: .android))
        #expect(!MessageText.isValid("BisqMessageAndroid|\(Self.iv)", for: .android))
        #expect(!MessageText.isValid("BisqMessageAndroid|", for: .android))
        #expect(!MessageText.isValid("BisqMessageAndroid", for: .android))
        #expect(!MessageText.isValid("BisqMessage", for: .android))
    }

    @Test(arguments: [0, 1, 15, 17, 32])
    func anIVHasSixteenCharacters(count: Int) {
        let iv = String(repeating: "0", count: count)
        #expect(!MessageText.isValid("BisqMessageAndroid|\(iv)|\(Self.block)", for: .android))
    }

    @Test(arguments: ["\"", "\\", "\n", "\u{7f}", "\u{1f}", "é", "|"])
    func anIVHoldsNothingThatJSONMustEscape(character: String) {
        let iv = String(Self.iv.dropLast(character.utf8.count)) + character
        #expect(iv.utf8.count == 16)
        #expect(!MessageText.isValid("BisqMessageAndroid|\(iv)|\(Self.block)", for: .android))
    }

    @Test(arguments: [" ", "~", "!", "/"])
    func anIVMayHoldOtherPrintableCharacters(character: String) {
        let iv = String(Self.iv.dropLast()) + character
        #expect(MessageText.isValid("BisqMessageAndroid|\(iv)|\(Self.block)", for: .android))
    }

    @Test func theMagicIsComparedByCase() {
        #expect(!MessageText.isValid("bisqMessageAndroid|\(Self.iv)|\(Self.block)", for: .android))
        #expect(!MessageText.isValid("BisqMessageandroid|\(Self.iv)|\(Self.block)", for: .android))
    }

    @Test(arguments: zip([1, 27, 28, 29, 30, 3000], [false, false, true, true, true, true]))
    func anotherMessageHasANonceAndATag(bytes: Int, isValid: Bool) {
        #expect(MessageText.isValid(Self.base64(bytes: bytes), for: .ios) == isValid)
        #expect(MessageText.isValid(Self.base64(bytes: bytes), for: .android) == isValid)
    }

    @Test(arguments: [
        "", " ", "====", "A===", "AAA", "=", "AAA\n", "AA A", "AAAA-___", "A=AA", "AA=A", "\u{0}AAA",
        "AAAé", "\"AAA", "\\AAA",
    ])
    func whatIsNotStandardBase64IsRefused(tail: String) {
        let head = tail.isEmpty ? "" : String(repeating: "QUJD", count: 12)
        #expect(!MessageText.isValid(head + tail, for: .android))
        #expect(!MessageText.isValid(tail + head, for: .android))
    }

    @Test func paddingStandsAtTheEndOnly() {
        let text = String(repeating: "QUJD", count: 12)
        #expect(MessageText.isValid(text + "QQ==", for: .android))
        #expect(MessageText.isValid(text + "QUI=", for: .android))
        #expect(!MessageText.isValid("QQ==" + text, for: .android))
    }

    static func base64(bytes: Int) -> String {
        let padding = (3 - bytes % 3) % 3
        let digits = (bytes + padding) / 3 * 4 - padding
        return String(repeating: "A", count: digits) + String(repeating: "=", count: padding)
    }
}
