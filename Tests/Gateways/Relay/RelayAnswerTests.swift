import Relay
import Testing

@testable import Gateways

/// What each answer of another relay means.
@Suite struct RelayAnswerTests {
    private static func post(
        accepted: Bool = false, _ code: String? = nil, unregistered: Bool = false, invalid: Bool? = nil
    ) -> String {
        var text = "{\"wasAccepted\":\(accepted)"
        if let code { text += ",\"errorCode\":\"\(code)\"" }
        if let invalid { text += ",\"isTokenInvalid\":\(invalid)" }
        return text + ",\"isUnregistered\":\(unregistered)}"
    }

    static let springs =
        #"{"timestamp":"2026-03-01T10:15:30.123+00:00","status":400,"error":"Bad Request","path":"/relay"}"#

    static let get: [(Int, String, RelayAnswer)] = [
        (200, "success", .accepted),
        (201, "success", .accepted),
        // Bisq 1 takes these 7 bytes and nothing else.
        (200, "success\n", .unclear(reason: "BadAnswer", after: nil)),
        (200, "Success", .unclear(reason: "BadAnswer", after: nil)),
        (200, "", .unclear(reason: "BadAnswer", after: nil)),
        (200, "<html>log in first</html>", .unclear(reason: "BadAnswer", after: nil)),
        (200, "Error: bad token", .doubtful(reason: "Error")),
        (400, springs, .doubtful(reason: "HTTP400")),
        (400, "", .doubtful(reason: "HTTP400")),
        (400, "Unregistered", .dead(reason: "Unregistered")),
        (400, "BadDeviceToken", .refused(reason: "BadDeviceToken")),
        (400, "Expired", .refused(reason: "Expired")),
        (400, "GatewayDisabled", .later(reason: "GatewayDisabled", .host, after: .seconds(300))),
        (400, "Whatever", .doubtful(reason: "Whatever")),
        (413, "MessageTooLarge", .refused(reason: "HTTP413")),
        (414, "", .refused(reason: "HTTP414")),
        (431, "", .refused(reason: "HTTP431")),
    ]

    static let post: [(Int, String, RelayAnswer)] = [
        (200, post(accepted: true), .accepted),
        (202, post(accepted: true), .accepted),
        (200, "", .unclear(reason: "BadAnswer", after: nil)),
        (200, "success", .unclear(reason: "BadAnswer", after: nil)),
        (200, "{", .unclear(reason: "BadAnswer", after: nil)),
        (200, post("BadMessage"), .refused(reason: "BadMessage")),
        (400, post("Unregistered", unregistered: true), .dead(reason: "Unregistered")),
        (400, post("UNREGISTERED", unregistered: true), .dead(reason: "UNREGISTERED")),
        (400, post("UNREGISTERED", invalid: true), .dead(reason: "UNREGISTERED")),
        (400, post("UNREGISTERED", invalid: false), .refused(reason: "UNREGISTERED")),
        (400, post(unregistered: true), .dead(reason: "HTTP400")),
        // It may be the other app's relay, or the other one of Apple's hosts.
        (400, post("BadDeviceToken", unregistered: true), .refused(reason: "BadDeviceToken")),
        (400, post("INVALID_ARGUMENT"), .refused(reason: "INVALID_ARGUMENT")),
        (400, post("PayloadTooLarge"), .refused(reason: "PayloadTooLarge")),
        (400, post(), .refused(reason: "HTTP400")),
        // No circuit to the gateway: the breaker is open.
        (400, post("ServiceUnavailable"), .later(reason: "ServiceUnavailable", .host, after: .seconds(60))),
        (400, post("UNAVAILABLE"), .later(reason: "UNAVAILABLE", .host, after: .seconds(60))),
        (400, post("QUOTA_EXCEEDED"), .later(reason: "QUOTA_EXCEEDED", .host, after: .seconds(60))),
        (400, post("TooManyRequests"), .later(reason: "TooManyRequests", .device, after: .seconds(60))),
        (400, post("TopicDisallowed"), .later(reason: "TopicDisallowed", .host, after: .seconds(300))),
        (
            400, post("THIRD_PARTY_AUTH_ERROR"),
            .later(reason: "THIRD_PARTY_AUTH_ERROR", .host, after: .seconds(300))
        ),
        (400, springs, .doubtful(reason: "HTTP400")),
        (400, "", .doubtful(reason: "HTTP400")),
        (413, post("MessageTooLarge"), .refused(reason: "MessageTooLarge")),
        (503, post("Busy"), .later(reason: "Busy", .host, after: .seconds(10))),
        (503, post("GatewayDisabled"), .later(reason: "GatewayDisabled", .host, after: .seconds(10))),
        (508, post("Loop"), .setup(reason: "Loop")),
    ]

    static let both: [(Int, RelayAnswer)] = [
        (204, .unclear(reason: "BadAnswer", after: nil)),
        (301, .setup(reason: "HTTP301")), (302, .setup(reason: "HTTP302")), (307, .setup(reason: "HTTP307")),
        (304, .setup(reason: "HTTP304")), (401, .setup(reason: "HTTP401")), (403, .setup(reason: "HTTP403")),
        (404, .setup(reason: "HTTP404")), (405, .setup(reason: "HTTP405")),
        (415, .later(reason: "HTTP415", .host, after: .seconds(300))),
        (408, .later(reason: "HTTP408", .host, after: .seconds(10))),
        (429, .later(reason: "HTTP429", .app, after: .seconds(10))),
        (502, .unclear(reason: "HTTP502", after: .seconds(10))),
        (503, .later(reason: "HTTP503", .host, after: .seconds(10))),
        (500, .unclear(reason: "HTTP500", after: nil)), (504, .unclear(reason: "HTTP504", after: nil)),
        (520, .unclear(reason: "HTTP520", after: nil)), (508, .setup(reason: "Loop")),
    ]

    @Test(arguments: get) func answersToGETMeanThis(status: Int, body: String, expected: RelayAnswer) {
        #expect(RelayAnswer(answer(status, body), form: .bisq1) == expected)
    }

    @Test(arguments: post) func answersToPOSTMeanThis(status: Int, body: String, expected: RelayAnswer) {
        #expect(RelayAnswer(answer(status, body), form: .bisq2) == expected)
    }

    @Test(arguments: [RelayForm.bisq1, .bisq2]) func statusesMeanTheSameToBoth(form: RelayForm) {
        for (status, expected) in Self.both { #expect(RelayAnswer(answer(status), form: form) == expected) }
    }

    /// A proxy, a login or a captive portal in the relay's place ends no notification and no device.
    @Test(arguments: [RelayForm.bisq1, .bisq2]) func whatStandsBetweenEndsNothing(form: RelayForm) {
        for status in [300, 301, 302, 303, 307, 308] + Array(400...431) + [451, 500, 502, 503, 504, 508, 511]
        {
            for (body, type) in AnswerAuthorTests.bodies(for: status) {
                var given = answer(status, body)
                given.contentType = type
                switch RelayAnswer(given, form: form) {
                case .later(let reason, let scope, _):
                    #expect(scope != .device && ["WebPage", given.statusWord].contains(reason))
                case .unclear(let reason, _): #expect(status >= 500 && reason == given.statusWord)
                // A redirect: the operator has to name its end.
                case .setup(let reason): #expect(reason == given.statusWord && (300..<400).contains(status))
                // A word may be a node's: it is asked again for a day.
                case .doubtful(let reason): #expect(form == .bisq1 && status == 400 && reason == body)
                case .accepted, .dead, .refused: Issue.record("\(form) \(status) \(body.prefix(40))")
                }
            }
        }
        for (body, type) in AnswerAuthorTests.bodies(for: 200) {
            var given = answer(200, body)
            given.contentType = type
            #expect(RelayAnswer(given, form: form) == .unclear(reason: "BadAnswer", after: nil))
        }
    }

    @Test func aTimeThatIsAskedForIsKept() {
        let asked = Duration.seconds(77)
        #expect(
            RelayAnswer(answer(429, retryAfter: asked), form: .bisq1)
                == .later(reason: "HTTP429", .app, after: asked))
        #expect(
            RelayAnswer(answer(500, retryAfter: asked), form: .bisq2)
                == .unclear(reason: "HTTP500", after: asked))
    }

    static let frames: [(Int32, String, RelayAnswer)] = [
        (2, "", .accepted),
        (3, "BadDeviceToken", .refused(reason: "BadDeviceToken")),
        (3, "NotInPhoneBook", .refused(reason: "NotInPhoneBook")),
        (3, "MessageTooLarge", .refused(reason: "MessageTooLarge")),
        (3, "", .refused(reason: "RelayRefused")),
        (3, "no word", .refused(reason: "RelayRefused")),
        (3, "UnknownApp", .later(reason: "UnknownApp", .host, after: .seconds(300))),
        (3, "UnknownPlatform", .later(reason: "UnknownPlatform", .host, after: .seconds(300))),
        (3, "GatewayDisabled", .later(reason: "GatewayDisabled", .host, after: .seconds(300))),
        (3, "Loop", .setup(reason: "Loop")),
        (4, "Unregistered", .dead(reason: "Unregistered")),
        (4, "UNREGISTERED", .dead(reason: "UNREGISTERED")),
        (4, "", .dead(reason: "Unregistered")),
        (5, "Expired", .refused(reason: "Expired")),
        (6, "Busy", .later(reason: "Busy", .device, after: .seconds(10))),
        (0, "", .unclear(reason: "BadAnswer", after: nil)),
        (7, "", .unclear(reason: "BadAnswer", after: nil)),
        (-1, "", .unclear(reason: "BadAnswer", after: nil)),
    ]

    @Test(arguments: frames) func framesMeanThis(status: Int32, reason: String, expected: RelayAnswer) {
        #expect(RelayAnswer(answer(Int(status), reason), form: .p2p) == expected)
    }

    /// A stranger's words go into logs and metrics only as short words, and none that could hold a device token.
    @Test func wordsThatAreNoneAreLeftOut() {
        let token = String(repeating: "ab", count: 32)
        let body =
            #"{"wasAccepted":false,"errorCode":"a b","errorMessage":"no \#(token)","isUnregistered":false}"#
        #expect(RelayAnswer(answer(400, body), form: .bisq2) == .refused(reason: "HTTP400"))
        // Neither Bisq's relay nor a node writes such a text: something between them did.
        #expect(
            RelayAnswer(answer(400, "Sp ace"), form: .bisq1)
                == .later(reason: "WebPage", .host, after: .seconds(10)))
    }
}
