import Crypto
import Encodings
import JSONCoding
import Relay
import Testing

@testable import Gateways

@Suite struct ProviderTokenTests {
    private func signed(atMinute minute: Int64) -> ProviderTokenLife {
        var life = ProviderTokenLife()
        life.signed(at: instant(minutes: minute))
        return life
    }

    @Test func oneIsSignedAtOnceAndTheNextAt45Minutes() {
        #expect(ProviderTokenLife().isDue(at: instant(minutes: 0)))
        let life = signed(atMinute: 10)
        #expect(!life.isDue(at: instant(minutes: 54)))
        #expect(life.isDue(at: instant(minutes: 55)))
    }

    @Test func aSleepingMachineRenewsByTheWallClock() {
        let life = signed(atMinute: 0)
        #expect(!life.isDue(at: instant(minutes: 19, wall: 90)))
        #expect(life.isDue(at: instant(minutes: 20, wall: 90)))
    }

    @Test func aClockThatWasSetBackRenewsToo() {
        let life = signed(atMinute: 0)
        #expect(!life.isDue(at: instant(minutes: 21, wall: 17)))
        #expect(life.isDue(at: instant(minutes: 21, wall: 16)))
    }

    @Test func anExpiredOneIsRenewedOnceAndNeverWithin20Minutes() {
        var life = signed(atMinute: 0)
        expect(life.expired(generation: 1, at: instant(minutes: 19)), is: .clockFault)
        #expect(!life.isDue(at: instant(minutes: 20)))
        expect(life.expired(generation: 1, at: instant(minutes: 20)), is: .due)
        #expect(life.isDue(at: instant(minutes: 20)))
        life.signed(at: instant(minutes: 20))
        expect(life.expired(generation: 1, at: instant(minutes: 20)), is: .replaced)
        expect(life.expired(generation: 2, at: instant(minutes: 21)), is: .clockFault)
    }

    @Test func oneSignedByAWrongClockIsRenewedOnceThatIsSet() {
        var life = signed(atMinute: 0)
        #expect(!life.isDue(at: instant(minutes: 1, wall: 61)))
        expect(life.expired(generation: 1, at: instant(minutes: 1, wall: 5)), is: .clockFault)
        #expect(!life.isDue(at: instant(minutes: 1, wall: 5)))
        expect(life.expired(generation: 1, at: instant(minutes: 2, wall: 62)), is: .due)
        #expect(life.isDue(at: instant(minutes: 2, wall: 62)))
        life.signed(at: instant(minutes: 2, wall: 62))
        #expect(!life.isDue(at: instant(minutes: 3, wall: 63)))
        expect(life.expired(generation: 2, at: instant(minutes: 3, wall: 63)), is: .clockFault)
    }

    @Test func afterTooManyChangesNoneIsSignedFor20Minutes() {
        var life = signed(atMinute: 0)
        life.changedTooOften(at: instant(minutes: 40))
        #expect(!life.isDue(at: instant(minutes: 59)))
        #expect(life.isDue(at: instant(minutes: 60)))
    }

    /// Apple takes no token for longer than an hour, however often it finds the changes too frequent.
    @Test func noTokenIsKeptForLongerThanItLives() {
        var life = signed(atMinute: 0)
        for minute in [40, 50, 59] as [Int64] { life.changedTooOften(at: instant(minutes: minute)) }
        #expect(!life.isDue(at: instant(minutes: 59)))
        #expect(life.isDue(at: instant(minutes: 60)))
        // The next one is spared again.
        life.signed(at: instant(minutes: 60))
        #expect(!life.isDue(at: instant(minutes: 78)))
    }

    @Test func anotherKeyIsUsedAtOnce() {
        var life = signed(atMinute: 0)
        life.keyChanged()
        #expect(life.isDue(at: instant(minutes: 1)))
    }

    @Test func aTokenSaysWhoAndWhenAndNothingElse() throws {
        let key = try SigningKey.generate(.es256)
        let provider = try ProviderKey(
            keyID: "ABC123DEFG", teamID: "DEF123GHIJ", p8: try key.privatePEM().bytes)
        let parts = try provider.authorization(now: 1_795_000_000).text.split(separator: ".").map(String.init)
        #expect(parts[0].hasPrefix("bearer "))
        let header = try #require(Base64.decodeFromURL(String(parts[0].dropFirst(7))))
        let claims = try #require(Base64.decodeFromURL(parts[1]))
        #expect(text(header) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(text(claims) == #"{"iss":"DEF123GHIJ","iat":1795000000}"#)
        let signature = try #require(Base64.decodeFromURL(parts[2]))
        #expect(key.verifyingKey.accepts(signature, of: Array("\(parts[0].dropFirst(7)).\(parts[1])".utf8)))
    }
}
