import Relay
import Testing

@testable import Gateways

@Suite struct FCMAnswerTests {
    /// What Google answers, and what it says. ``FCMGatewayTests`` gets the same rows over the wire.
    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let body: String
        var retryAfter: Wait?
        let verdict: Verdict

        var testDescription: String { "\(status) \(body)" }
    }

    static func fcm(_ code: String, status: String = "X", extra: String = "") -> String {
        #"{"error":{"code":0,"message":"m","status":"\#(status)","details":[\#(extra){"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}]}}"#
    }

    static func rpc(_ code: Int, _ status: String, details: String = "") -> String {
        #"{"error":{"code":\#(code),"message":"m","status":"\#(status)","details":[\#(details)]}}"#
    }

    static let violation =
        #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.data","description":"d"}]}"#
    static let deviceQuota =
        #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"device","description":"Device message rate"}]}"#
    static let projectQuota =
        #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"project:1","description":"Quota"}]}"#

    /// Firebase's table of errors, row by row, and what may stand in their places.
    static let table: [Row] = [
        Row(status: 400, body: fcm("INVALID_ARGUMENT"), verdict: .refused("INVALID_ARGUMENT", detail: "m")),
        Row(
            status: 404, body: fcm("UNREGISTERED"),
            verdict: Verdict(outcome: .tokenDead(reason: "UNREGISTERED", since: nil, detail: "m"))),
        Row(
            status: 404, body: fcm("UNREGISTERED_FID"),
            verdict: Verdict(outcome: .tokenDead(reason: "UNREGISTERED_FID", since: nil, detail: "m"))),
        // A word of FCM's is about one message, also one that nobody knows yet.
        Row(status: 404, body: fcm("SOMETHING_NEW"), verdict: .refused("SOMETHING_NEW", detail: "m")),
        Row(
            status: 403, body: fcm("SENDER_ID_MISMATCH"),
            verdict: .refused("SENDER_ID_MISMATCH", kind: .foreignToken, detail: "m")
        ),
        Row(
            status: 429, body: fcm("QUOTA_EXCEEDED"),
            verdict: .deferred("QUOTA_EXCEEDED", .host, after: .seconds(60), witnesses: 2)),
        Row(
            status: 429, body: fcm("QUOTA_EXCEEDED", extra: projectQuota + ","),
            verdict: .deferred("QUOTA_EXCEEDED", .host, after: .seconds(60), witnesses: 2)),
        Row(
            status: 429, body: fcm("QUOTA_EXCEEDED", extra: deviceQuota + ","),
            verdict: .throttled("QUOTA_EXCEEDED", after: .seconds(60))),
        Row(
            status: 503, body: fcm("UNAVAILABLE"),
            verdict: .deferred("UNAVAILABLE", .host, after: .seconds(10))),
        Row(status: 500, body: fcm("INTERNAL"), verdict: .deferred("INTERNAL", .device, after: .seconds(10))),
        Row(status: 401, body: fcm("THIRD_PARTY_AUTH_ERROR"), verdict: .blocked("THIRD_PARTY_AUTH_ERROR")),
        Row(status: 401, body: fcm("APNS_AUTH_ERROR"), verdict: .blocked("APNS_AUTH_ERROR")),
        Row(
            status: 401, body: rpc(401, "UNAUTHENTICATED"),
            verdict: .deferred("UNAUTHENTICATED", .device, isUnharmed: true, .renewCredential)),
        Row(status: 403, body: rpc(403, "PERMISSION_DENIED"), verdict: .blocked("PERMISSION_DENIED")),
        Row(status: 404, body: rpc(404, "NOT_FOUND"), verdict: .blocked("NOT_FOUND")),
        Row(
            status: 400, body: rpc(400, "INVALID_ARGUMENT", details: violation),
            verdict: .refused("INVALID_ARGUMENT", .ownFault, detail: "m")),
        Row(
            status: 503, body: fcm("UNSPECIFIED_ERROR", status: "UNAVAILABLE"),
            verdict: .deferred("UNAVAILABLE", .host, after: .seconds(10))),
        Row(
            status: 500, body: fcm("NEW_CODE", status: "INTERNAL"),
            verdict: .deferred("INTERNAL", .device, after: .seconds(10))),
        Row(
            status: 429, body: fcm("QUOTA_EXCEEDED"), retryAfter: .seconds(5),
            verdict: .deferred("QUOTA_EXCEEDED", .host, after: .seconds(5), witnesses: 2)),
        Row(
            status: 429, body: fcm("QUOTA_EXCEEDED", extra: deviceQuota + ","), retryAfter: .until(farAway),
            verdict: .throttled("QUOTA_EXCEEDED", after: untilFarAway)),
        Row(
            status: 503, body: fcm("UNAVAILABLE"), retryAfter: .seconds(90),
            verdict: .deferred("UNAVAILABLE", .host, after: .seconds(90))),
        Row(
            status: 503, body: fcm("UNAVAILABLE"), retryAfter: .until(farAway),
            verdict: .deferred("UNAVAILABLE", .host, after: untilFarAway)),
        Row(
            status: 500, body: fcm("INTERNAL"), retryAfter: .seconds(90),
            verdict: .deferred("INTERNAL", .host, after: .seconds(90))),
        Row(
            status: 500, body: fcm("INTERNAL"), retryAfter: .until(longAgo),
            verdict: .deferred("INTERNAL", .host, after: .zero)),
    ]

    @Test(arguments: table)
    func eachRowOfGooglesTableHasItsMeaning(row: Row) {
        let given = answer(row.status, row.body, retryAfter: row.retryAfter?.duration)
        #expect(FCMAnswer.verdict(given) == row.verdict)
    }

    /// What Google writes goes to the sender only if it is short, plain and surely names no device.
    @Test(
        arguments: [
            ("Requested entity was not found.", "Requested entity was not found."),
            (String(repeating: "no ", count: 100), String(repeating: "no ", count: 85) + "n"),
            ("\(String(repeating: "t", count: 32)) is no token", nil), ("a\\nb", nil), ("é", nil), ("", nil),
        ] as [(String, String?)])
    func googlesTextReachesTheSenderIfItNamesNoDevice(text: String, detail: String?) {
        let body =
            #"{"error":{"code":400,"message":"\#(text)","status":"INVALID_ARGUMENT"}}"#
        #expect(FCMAnswer.verdict(answer(400, body)) == .refused("INVALID_ARGUMENT", detail: detail))
    }

    @Test func twoHundredIsAccepted() {
        #expect(
            FCMAnswer.verdict(answer(200, #"{"name":"projects/p/messages/1"}"#))
                == Verdict(outcome: .accepted))
        // Any program may have a name.
        for body in [#"{"name":"gateway"}"#, #"{"name":"projects/p"}"#, #"{"name":7}"#] {
            #expect(FCMAnswer.verdict(answer(200, body)) == .deferred("WebPage", .host))
        }
    }

    @Test func whatGoogleDidNotSayKillsNoTokenAndLosesNothing() {
        let body = ""
        #expect(FCMAnswer.verdict(answer(404, body)) == .blocked("HTTP404"))
        #expect(FCMAnswer.verdict(answer(403, body)) == .blocked("HTTP403"))
        #expect(FCMAnswer.verdict(answer(400, body)) == .deferred("HTTP400", .host))
        #expect(
            FCMAnswer.verdict(answer(429, body))
                == .deferred("HTTP429", .host, after: .seconds(60), witnesses: 2))
        #expect(FCMAnswer.verdict(answer(500, body)) == .deferred("HTTP500", .device, after: .seconds(10)))
        for status in [502, 503, 504] {
            #expect(
                FCMAnswer.verdict(answer(status, body))
                    == .deferred("HTTP\(status)", .host, after: .seconds(10)))
        }
        #expect(
            FCMAnswer.verdict(answer(401, body))
                == .deferred("HTTP401", .device, isUnharmed: true, .renewCredential))
    }
}
