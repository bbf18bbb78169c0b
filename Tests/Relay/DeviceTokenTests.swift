import Testing
import Vectors

@testable import Relay

@Suite struct DeviceTokenTests {
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
        #expect(DeviceToken.normalized(token, for: .apns) == token)
    }

    @Test(arguments: [0, 1, 62, 63, 65, 511, 513, 514])
    func anAppleTokenOfAnotherLengthIsRefused(count: Int) {
        #expect(DeviceToken.normalized(String(repeating: "9", count: count), for: .apns) == nil)
    }

    @Test func anAppleTokenIsComparedInLowerCase() {
        let mixed = String(repeating: "aBcDeF01", count: 8)
        #expect(DeviceToken.normalized(mixed, for: .apns) == mixed.lowercased())
    }

    @Test(arguments: ["g", "G", "/", ":", "@", "`", " ", "\u{0}", "é", "٣"])
    func anAppleTokenIsHexadecimal(character: String) {
        let filler = String(repeating: "a", count: 128 - character.utf8.count)
        #expect(DeviceToken.normalized(filler + character, for: .apns) == nil)
        #expect(DeviceToken.normalized(character + filler, for: .apns) == nil)
    }

    @Test(arguments: [32, 33, 163, 4096])
    func aGoogleTokenHasThirtyTwoToFourThousandNinetySixCharacters(count: Int) {
        let token = String(repeating: "Z", count: count)
        #expect(DeviceToken.normalized(token, for: .fcm) == token)
    }

    @Test(arguments: [0, 31, 4097])
    func aGoogleTokenOfAnotherLengthIsRefused(count: Int) {
        #expect(DeviceToken.normalized(String(repeating: "Z", count: count), for: .fcm) == nil)
    }

    @Test func aGoogleTokenKeepsItsCase() {
        let token = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.-"
        #expect(DeviceToken.normalized(token, for: .fcm) == token)
    }

    @Test(arguments: ["/", "%", "+", "=", "@", "[", "`", "{", ";", ",", " ", "\n", "\u{0}", "ü"])
    func aGoogleTokenHasNoOtherCharacter(character: String) {
        #expect(DeviceToken.normalized(Sample.androidToken + character, for: .fcm) == nil)
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
            #expect(
                DeviceToken.normalized(token, for: parsed.isAndroid ? .fcm : .apns) == token,
                "\(pairing.name)")
        }
        #expect(valid.count >= 4)
    }

    @Test func anAppleTokenThatIsNotHexadecimalIsRefusedThoughBisqAcceptsIt() throws {
        let name = "iOS token is not hexadecimal"
        let pairing = try #require(
            try Vectors.bisq("pairing_tokens", as: [Pairing].self).first { $0.name == name })
        #expect(DeviceToken.normalized(try #require(pairing.parsed).notification_token, for: .apns) == nil)
    }
}
