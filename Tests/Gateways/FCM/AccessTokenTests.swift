import Clocks
import Crypto
import Encodings
import JSONCoding
import Relay
import Testing
import Vectors

@testable import Gateways

@Suite struct AccessTokenTests {
    private var random = SystemRandomNumberGenerator()

    private mutating func life(lifetime: Duration = .seconds(3600)) -> AccessTokenLife {
        var life = AccessTokenLife()
        _ = life.beginFetching(at: 0)
        life.fetched(lifetime: lifetime, at: 0, using: &random)
        return life
    }

    @Test func oneFetchesForAll() {
        var life = AccessTokenLife()
        #expect(!life.hasToken(at: 0))
        expect(life.beginFetching(at: 0), is: true)
        expect(life.beginFetching(at: 0), is: false)
    }

    @Test mutating func theNextIsFetchedFiveToSixMinutesEarlyAndTheOldOneServesUntilItsEnd() {
        var life = life()
        #expect((MonotonicTime.second(3240) ... .second(3300)).contains(life.nextFetch))
        expect(life.beginFetching(at: life.nextFetch - .nanoseconds(1)), is: false)
        expect(life.beginFetching(at: life.nextFetch), is: true)
        life.failed(at: .second(3300), retryAfter: nil, using: &random)
        #expect(life.hasToken(at: .second(3600) - .nanoseconds(1)))
        #expect(!life.hasToken(at: .second(3600)))
    }

    @Test mutating func aShortLivedTokenIsRenewedHalfWay() {
        expect(life(lifetime: .seconds(10)).nextFetch, is: .second(5))
    }

    @Test mutating func failuresWaitLongerAndLongerUpToFiveMinutes() {
        var life = AccessTokenLife()
        var time: MonotonicTime = 0
        for bound in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            expect(life.beginFetching(at: time), is: true)
            life.failed(at: time, retryAfter: nil, using: &random)
            #expect((.milliseconds(bound * 500) ... .seconds(bound)).contains(life.nextFetch - time))
            time = life.nextFetch
        }
        expect(life.beginFetching(at: time), is: true)
        life.failed(at: time, retryAfter: .seconds(1000), using: &random)
        #expect(life.nextFetch == time + .seconds(1000))
    }

    @Test mutating func theOperatorWaitsForNoPauseThatWasAskedFor() {
        var life = AccessTokenLife()
        expect(life.beginFetching(at: 0), is: true)
        life.failed(at: 0, retryAfter: .seconds(86400), using: &random)
        expect(life.beginFetching(at: .second(10)), is: false)
        life.retryNow(at: .second(10))
        expect(life.beginFetching(at: .second(10)), is: true)
    }

    @Test mutating func aRefusedTokenIsReplacedOnceAndThenTheOperatorMustLook() {
        var life = life()
        expect(life.refused(generation: 1, at: 7), is: .due)
        #expect(!life.hasToken(at: 7))
        expect(life.refused(generation: 1, at: 8), is: .replaced)
        expect(life.beginFetching(at: 8), is: true)
        life.fetched(lifetime: .seconds(3600), at: 9, using: &random)
        expect(life.refused(generation: 1, at: 10), is: .replaced)
        expect(life.refused(generation: 2, at: 10), is: .hopeless)
        #expect(life.hasToken(at: 10))
        // The operator may mend the account: what is got after that is tried within a minute.
        expect(life.beginFetching(at: 10), is: false)
        expect(life.beginFetching(at: .second(60) + .nanoseconds(10)), is: true)
    }

    @Test mutating func aTokenThatServedMayBeReplacedAgain() {
        var life = life()
        expect(life.refused(generation: 1, at: 7), is: .due)
        expect(life.beginFetching(at: 8), is: true)
        life.fetched(lifetime: .seconds(3600), at: 9, using: &random)
        life.proved(generation: 1)
        expect(life.refused(generation: 2, at: 10), is: .hopeless)
        life.proved(generation: 2)
        expect(life.refused(generation: 2, at: 10), is: .due)
    }

    @Test func aServiceAccountSignsWhatGoogleAsksFor() throws {
        let key = try SigningKey.generate(.rs256)
        var file = Array(
            #"{"type":"service_account","project_id":"p","private_key_id":"k1","client_email":"a@b","token_uri":"https://oauth2.googleapis.com/token","private_key":"#
                .utf8)
        file.append(jsonString: text(try key.privatePEM().bytes))
        file.append(UInt8(ascii: "}"))
        let account = try ServiceAccount(file: file)
        #expect(account.projectID == "p")
        let parts = try account.assertion(now: 1_795_000_000).text.split(separator: ".").map(String.init)
        #expect(
            text(try #require(Base64.decodeFromURL(parts[0]))) == #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#)
        let claims = try JSON(try #require(Base64.decodeFromURL(parts[1])))
        #expect(
            claims
                == .object([
                    "iss": .string("a@b"),
                    "scope": .string("https://www.googleapis.com/auth/firebase.messaging"),
                    "aud": .string("https://oauth2.googleapis.com/token"), "iat": .integer(1_795_000_000),
                    "exp": .integer(1_795_003_600),
                ]))
        let signature = try #require(Base64.decodeFromURL(parts[2]))
        #expect(key.verifyingKey.accepts(signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test func aFileThatIsNoServiceAccountIsNamed() {
        func fault(_ text: String) -> ServiceAccount.Fault? {
            do throws(ServiceAccount.Fault) {
                _ = try ServiceAccount(file: Array(text.utf8))
                return nil
            } catch { return error }
        }
        #expect(fault("") == .mistaken("the file is empty"))
        #expect(fault("[") == .notJSON(.unexpectedEnd))
        for (text, words) in [
            ("<!DOCTYPE html>", "web page"), ("-----BEGIN PRIVATE KEY-----\n", "this is PEM"),
            (#"{"type":"service_account""#, "cut off"),
            (#"{"project_info":{},"client":[]}"#, "google-services.json"),
            (#"{"installed":{}}"#, "OAuth client"),
            (#"{"type":"authorized_user"}"#, "gcloud"),
        ] {
            if case .mistaken(let found) = fault(text) {
                #expect(found.contains(words), "\(found)")
            } else {
                Issue.record("\(text) is not named")
            }
        }
        #expect(fault("\u{feff}{}") == .notServiceAccount)
        #expect(fault("{}") == .notServiceAccount)
        #expect(fault(#"{"type":"service_account"}"#) == .missing(key: "project_id"))
        let almost =
            #"{"type":"service_account","project_id":"p","private_key_id":"k","client_email":"a","token_uri":"u","private_key":"#
        #expect(fault(almost + "7}") == .missing(key: "private_key"))
        if case .badKey = fault(almost + #""x"}"#) {} else { Issue.record("a bad key is not named") }
    }

    @Test func theTokenServersAnswersAreTold() {
        func read(_ status: Int, _ body: String, after: Duration? = nil) -> OAuthExchange.Answer {
            OAuthExchange.read(answer(status, body, retryAfter: after))
        }
        #expect(
            read(200, #"{"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"}"#)
                == .token(Secret("Bearer ya29.x"), lifetime: .seconds(3599)))
        #expect(read(400, #"{"error":"invalid_grant"}"#) == .refused(reason: "invalid_grant"))
        #expect(read(401, #"{"error":"unauthorized_client"}"#) == .refused(reason: "unauthorized_client"))
        #expect(read(503, "", after: .seconds(3)) == .failed(reason: "HTTP503", retryAfter: .seconds(3)))
        #expect(read(403, "<html>") == .failed(reason: "HTTP403", retryAfter: nil))
        for body in [
            "", "{}", #"{"access_token":"","expires_in":1}"#, #"{"access_token":"a\r\nb","expires_in":1}"#,
            #"{"access_token":"a","expires_in":0}"#, #"{"access_token":"a","expires_in":86401}"#,
        ] {
            #expect(read(200, body) == .failed(reason: "BadTokenAnswer", retryAfter: nil))
        }
    }

    @Test func theExchangesFormIsEncoded() {
        #expect(
            text(OAuthExchange.body(assertion: Secret("a.b.c")))
                == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=a.b.c")
    }
}
