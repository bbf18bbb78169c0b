import Testing
import Vectors

@testable import Relay

@Suite struct DeviceTokenTests {
    /// Two spellings of one letter are two addresses, and a stranger's run of marks costs as much as it is long: by its normal
    /// form each of these took minutes.
    @Test func twoTokensAreTheSameWhenTheirBytesAre() {
        let (one, other) = (DeviceToken("\u{E9}"), DeviceToken("e\u{301}"))
        #expect(one != other && Set([one, other, DeviceToken("\u{E9}")]).count == 2)
        let marks =
            String(repeating: "\u{300}", count: 200_000) + String(repeating: "\u{316}", count: 200_000)
        #expect(Set([DeviceToken(marks), DeviceToken(marks)]).count == 1)
        #expect(!Sample.validator.isOfNobody(DeviceToken(marks)))
        #expect(Sample.validator.isOfNobody(DeviceToken.opaqueOfNobody))
    }

    /// Whichever endpoint made it: of a text over the limit no more is kept than makes it one that is refused.
    @Test(arguments: ["z", "\u{300}", "é", "\u{1F514}", "\r\n"])
    func noTokenIsMuchLongerThanTheLongestAddress(character: String) {
        let filler = String(repeating: "z", count: DeviceToken.longest - character.utf8.count)
        #expect(DeviceToken(filler + character).text == filler + character)
        for text in [filler + "z" + character, String(repeating: character, count: 60_000)] {
            #expect((4097...4100).contains(DeviceToken(text).text.utf8.count))
            #expect(throws: Reason.badDeviceToken) {
                try Sample.validator.recipient(
                    of: Submission(platform: .android, deviceToken: text, message: "x"))
            }
        }
    }

    @Test func aTextCouldHoldATokenFromItsShortestLengthOn() {
        let almost = String(repeating: "a", count: 31)
        #expect(!DeviceToken.couldBe(in: "token \(almost) is \(almost)"))
        #expect(DeviceToken.couldBe(in: "token \(almost)1"))
        #expect(DeviceToken.couldBe(in: "-\(almost) is bad"))
        #expect(!DeviceToken.couldBe(in: ""))
    }

    @Test(arguments: [64, 66, 160, 512])
    func anAppleTokenHasSixtyFourToFiveHundredAndTwelveDigits(count: Int) {
        let token = String(repeating: "9", count: count)
        #expect(DeviceToken(hexadecimal: token)?.text == token)
    }

    @Test(arguments: [0, 1, 62, 63, 65, 511, 513, 514])
    func anAppleTokenOfAnotherLengthIsRefused(count: Int) {
        #expect(DeviceToken(hexadecimal: String(repeating: "9", count: count))?.text == nil)
    }

    @Test func anAppleTokenIsComparedInLowerCase() {
        let mixed = String(repeating: "aBcDeF01", count: 8)
        #expect(DeviceToken(hexadecimal: mixed)?.text == mixed.lowercased())
    }

    @Test(arguments: ["g", "G", "/", ":", "@", "`", " ", "\u{0}", "é", "٣"])
    func anAppleTokenIsHexadecimal(character: String) {
        let filler = String(repeating: "a", count: 128 - character.utf8.count)
        #expect(DeviceToken(hexadecimal: filler + character)?.text == nil)
        #expect(DeviceToken(hexadecimal: character + filler)?.text == nil)
    }

    @Test(arguments: [32, 33, 163, 4096])
    func aGoogleTokenHasThirtyTwoToFourThousandNinetySixCharacters(count: Int) {
        let token = String(repeating: "Z", count: count)
        #expect(DeviceToken(opaque: token)?.text == token)
    }

    @Test(arguments: [0, 31, 4097])
    func aGoogleTokenOfAnotherLengthIsRefused(count: Int) {
        #expect(DeviceToken(opaque: String(repeating: "Z", count: count))?.text == nil)
    }

    @Test func aGoogleTokenKeepsItsCase() {
        let token = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.-"
        #expect(DeviceToken(opaque: token)?.text == token)
    }

    @Test(arguments: ["/", "%", "+", "=", "@", "[", "`", "{", ";", ",", " ", "\n", "\u{0}", "ü"])
    func aGoogleTokenHasNoOtherCharacter(character: String) {
        #expect(DeviceToken(opaque: Sample.androidToken + character)?.text == nil)
    }

    /// Such an address goes to the service that claims it, and never to Google.
    @Test(arguments: ["wp1:", "mb1:", "al1:", "nt1:"])
    func anAddressWithAPrefixIsNoGoogleToken(prefix: String) {
        #expect(DeviceToken(opaque: prefix + Sample.androidToken) == nil)
        for other in [
            prefix.uppercased(), "a" + prefix, String(prefix.dropLast()), prefix.replacing("1", with: "2"),
        ] {
            #expect(DeviceToken(opaque: other + Sample.androidToken) != nil, "\(other)")
        }
    }

    @Test func aTokenIsNeverPrinted() {
        let recipient = Sample.androidPhone
        var dumped = ""
        dump(recipient, to: &dumped)
        for text in ["\(recipient.deviceToken)", "\(recipient)", String(reflecting: recipient), dumped] {
            #expect(!text.contains(Sample.androidToken))
            #expect(text.contains("<token>") || text == dumped)
        }
        #expect("\(recipient.deviceToken)" == "<token>")
    }

    struct Pairing: Decodable {
        struct Parsed: Decodable {
            let notification_token: String
            let isAndroid: Bool
        }
        let name: String
        let parsed: Parsed?
        let strict_valid: Bool
    }

    /// What phones really have is accepted as it is.
    @Test func tokensOfPairedPhonesAreAccepted() throws {
        let valid = try Vectors.bisq("pairing_tokens", as: [Pairing].self).filter(\.strict_valid)
        for pairing in valid {
            let parsed = try #require(pairing.parsed)
            let token = parsed.notification_token
            let form = parsed.isAndroid ? DeviceToken(opaque: token) : DeviceToken(hexadecimal: token)
            #expect(form?.text == token, "\(pairing.name)")
        }
        #expect(valid.count >= 4)
    }

    @Test func anAppleTokenThatIsNotHexadecimalIsRefusedThoughBisqAcceptsIt() throws {
        let name = "iOS token is not hexadecimal"
        let pairing = try #require(
            try Vectors.bisq("pairing_tokens", as: [Pairing].self).first { $0.name == name })
        #expect(DeviceToken(hexadecimal: try #require(pairing.parsed).notification_token)?.text == nil)
    }
}
