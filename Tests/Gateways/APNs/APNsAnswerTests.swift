import Relay
import Testing

@testable import Gateways

@Suite struct APNsAnswerTests {
    /// What Apple answers, and what it says. ``APNsGatewayTests`` gets the same rows over the wire.
    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let reason: String
        var timestamp: Int64?
        var retryAfter: Wait?
        let verdict: Verdict

        var testDescription: String { "\(status) \(reason)" }
        var body: String {
            #"{"reason":"\#(reason)"\#(timestamp.map { #","timestamp":\#($0)"# } ?? "")}"#
        }
    }

    /// Apple's table of answers, row by row.
    static let table: [Row] = [
        Row(status: 400, reason: "BadDeviceToken", verdict: .refused("BadDeviceToken", kind: .unknownToken)),
        Row(
            status: 400, reason: "DeviceTokenNotForTopic",
            verdict: .refused("DeviceTokenNotForTopic", kind: .foreignToken)),
        Row(status: 400, reason: "TopicDisallowed", verdict: .blocked("TopicDisallowed")),
        Row(status: 400, reason: "BadTopic", verdict: .blocked("BadTopic")),
        Row(status: 400, reason: "MissingTopic", verdict: .blocked("MissingTopic")),
        Row(status: 400, reason: "BadCollapseId", verdict: .refused("BadCollapseId", .ownFault)),
        Row(status: 400, reason: "BadExpirationDate", verdict: .refused("BadExpirationDate", .ownFault)),
        Row(status: 400, reason: "BadMessageId", verdict: .refused("BadMessageId", .ownFault)),
        Row(status: 400, reason: "BadPriority", verdict: .refused("BadPriority", .ownFault)),
        Row(status: 400, reason: "InvalidPushType", verdict: .refused("InvalidPushType", .ownFault)),
        Row(status: 400, reason: "DuplicateHeaders", verdict: .refused("DuplicateHeaders", .ownFault)),
        Row(status: 400, reason: "PayloadEmpty", verdict: .refused("PayloadEmpty", .ownFault)),
        Row(status: 400, reason: "MissingDeviceToken", verdict: .refused("MissingDeviceToken", .ownFault)),
        Row(
            status: 400, reason: "IdleTimeout",
            verdict: .deferred("IdleTimeout", .device, isUnharmed: true, .reconnect)),
        Row(
            status: 403, reason: "ExpiredProviderToken",
            verdict: .deferred("ExpiredProviderToken", .device, isUnharmed: true, .renewCredential)),
        Row(status: 403, reason: "InvalidProviderToken", verdict: .blocked("InvalidProviderToken")),
        Row(status: 403, reason: "MissingProviderToken", verdict: .blocked("MissingProviderToken")),
        Row(status: 403, reason: "Forbidden", verdict: .blocked("Forbidden")),
        Row(status: 403, reason: "BadCertificate", verdict: .blocked("BadCertificate", .reconnect)),
        Row(
            status: 403, reason: "BadCertificateEnvironment",
            verdict: .blocked("BadCertificateEnvironment", .reconnect)),
        Row(
            status: 403, reason: "UnrelatedKeyIdInToken",
            verdict: .deferred("UnrelatedKeyIdInToken", .device, isUnharmed: true, .reconnect)),
        Row(
            status: 403, reason: "BadEnvironmentKeyIdInToken",
            verdict: .blocked("BadEnvironmentKeyIdInToken", .reconnect)),
        Row(
            status: 403, reason: "BadEnvironmentKeyInToken",
            verdict: .blocked("BadEnvironmentKeyInToken", .reconnect)),
        Row(status: 404, reason: "BadPath", verdict: .refused("BadPath", .ownFault)),
        Row(status: 405, reason: "MethodNotAllowed", verdict: .refused("MethodNotAllowed", .ownFault)),
        Row(
            status: 410, reason: "Unregistered",
            verdict: Verdict(outcome: .tokenDead(reason: "Unregistered", since: nil))),
        Row(
            status: 410, reason: "Unregistered", timestamp: 1_772_360_130_123,
            verdict: Verdict(
                outcome: .tokenDead(
                    reason: "Unregistered", since: 1_772_360_130_123,
                    detail: "Token is invalid as of 2026-03-01T10:15:30.123Z"))),
        Row(
            status: 410, reason: "ExpiredToken",
            verdict: Verdict(outcome: .tokenDead(reason: "ExpiredToken", since: nil))),
        Row(status: 413, reason: "PayloadTooLarge", verdict: .refused("PayloadTooLarge")),
        Row(status: 429, reason: "TooManyRequests", verdict: .throttled("TooManyRequests", after: nil)),
        Row(
            status: 429, reason: "TooManyProviderTokenUpdates",
            verdict: .deferred("TooManyProviderTokenUpdates", .host, witnesses: 1, .keepCredential)),
        Row(
            status: 429, reason: "TooManyRequests", retryAfter: .seconds(7),
            verdict: .throttled("TooManyRequests", after: .seconds(7))),
        Row(
            status: 429, reason: "TooManyRequests", retryAfter: .until(farAway),
            verdict: .throttled("TooManyRequests", after: untilFarAway)),
        Row(status: 500, reason: "InternalServerError", verdict: .deferred("InternalServerError", .device)),
        Row(status: 503, reason: "ServiceUnavailable", verdict: .deferred("ServiceUnavailable", .device)),
        Row(
            status: 503, reason: "Shutdown",
            verdict: .deferred("Shutdown", .device, isUnharmed: true, .reconnect)),
        Row(
            status: 503, reason: "ServiceUnavailable", retryAfter: .seconds(7),
            verdict: .deferred("ServiceUnavailable", .host, after: .seconds(7))),
        Row(
            status: 503, reason: "ServiceUnavailable", retryAfter: .until(farAway),
            verdict: .deferred("ServiceUnavailable", .host, after: untilFarAway)),
        Row(
            status: 500, reason: "InternalServerError", retryAfter: .until(longAgo),
            verdict: .deferred("InternalServerError", .host, after: .zero)),
    ]

    @Test(arguments: table)
    func eachRowOfApplesTableHasItsMeaning(row: Row) {
        let given = answer(row.status, row.body, retryAfter: row.retryAfter?.duration)
        #expect(APNsAnswer.verdict(given, isProven: true) == row.verdict)
    }

    @Test func twoHundredIsAccepted() {
        #expect(APNsAnswer.verdict(answer(200), isProven: false) == Verdict(outcome: .accepted))
    }

    @Test func aTimeBeforeAllTimesIsNotShown() {
        let odd = answer(410, #"{"reason":"Unregistered","timestamp":-1}"#)
        #expect(
            APNsAnswer.verdict(odd, isProven: true).outcome == .tokenDead(reason: "Unregistered", since: -1))
    }

    @Test func anotherKeyOnAFreshConnectionIsTheOperatorsFault() {
        let given = answer(403, #"{"reason":"UnrelatedKeyIdInToken"}"#)
        #expect(APNsAnswer.verdict(given, isProven: false) == .blocked("UnrelatedKeyIdInToken", .reconnect))
    }

    @Test func anUnknownWordIsJudgedByItsStatus() {
        func outcome(_ status: Int) -> Verdict {
            var given = answer(status, #"{"reason":"New_Word1"}"#)
            given.hasAppleID = true
            return APNsAnswer.verdict(given, isProven: true)
        }
        #expect(outcome(400) == .refused("New_Word1"))
        #expect(outcome(403) == .blocked("New_Word1"))
        #expect(outcome(410) == Verdict(outcome: .tokenDead(reason: "New_Word1", since: nil)))
        #expect(outcome(429) == .deferred("New_Word1", .device))
        #expect(outcome(500) == .deferred("New_Word1", .device))
        #expect(outcome(302) == .deferred("New_Word1", .device))
    }

    @Test func whatAppleDidNotSayKillsNoTokenAndLosesNothing() {
        for status in [204, 400, 404, 410, 413, 421, 500, 502, 503, 504] {
            let verdict = APNsAnswer.verdict(answer(status, ""), isProven: true)
            #expect(verdict == .deferred("HTTP\(status)", .device))
        }
        #expect(APNsAnswer.verdict(answer(403, ""), isProven: true) == .blocked("HTTP403"))
        #expect(APNsAnswer.verdict(answer(401, ""), isProven: true) == .blocked("HTTP401"))
        for body in [#"{"reason":""}"#, #"{"reason":"a b"}"#] {
            #expect(APNsAnswer.verdict(answer(410, body), isProven: true) == .deferred("WebPage", .host))
        }
    }

    @Test func aGoAwaySaysWhyInTheSameWords() {
        let bytes = Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8)
        #expect(GatewayAnswer.word(inGoAway: bytes) == "BadCertificateEnvironment")
        #expect(GatewayAnswer.word(inGoAway: []) == nil)
        #expect(GatewayAnswer.word(inGoAway: Array("max_age".utf8)) == "max_age")
        #expect(GatewayAnswer.word(inGoAway: [0xFF, 0x00]) == nil)
        #expect(APNsAnswer.isBlocking(goAwayReason: "BadCertificateEnvironment"))
        #expect(APNsAnswer.isBlocking(goAwayReason: "InvalidProviderToken"))
        #expect(!APNsAnswer.isBlocking(goAwayReason: "Shutdown"))
        #expect(!APNsAnswer.isBlocking(goAwayReason: "NeverHeard"))
    }

    @Test func aLongWordIsNoWord() {
        #expect(GatewayAnswer.word(String(repeating: "a", count: 64)) != nil)
        #expect(GatewayAnswer.word(String(repeating: "a", count: 65)) == nil)
    }
}
