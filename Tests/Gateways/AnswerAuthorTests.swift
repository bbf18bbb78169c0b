import HTTP1
import Relay
import Testing

@testable import Gateways

/// What a proxy, a login or a captive portal answers in a push service's place ends no notification and no device.
@Suite struct AnswerAuthorTests {
    enum Service: CaseIterable, Sendable {
        case webPush
        case ntfy
        case fcm
        case apns

        func verdict(_ answer: GatewayAnswer) -> Verdict {
            switch self {
            case .webPush: WebPushAnswer.verdict(answer)
            case .ntfy: NtfyAnswer.verdict(answer)
            case .fcm: FCMAnswer.verdict(answer)
            case .apns: APNsAnswer.verdict(answer, isProven: true)
            }
        }
    }

    /// Bodies of what stands between, with their types.
    static let bodies: [(body: String, type: String?)] = [
        ("<!DOCTYPE html><title>502</title>", "text/html"), ("\r\n <html>", nil), ("\u{FEFF}<html>", nil),
        ("<html>", "Text/HTML; charset=utf-8"), ("Sorry, we are away.", "text/html"),
        ("404 page not found\n", "text/plain; charset=utf-8"), ("no available server\n", "text/plain"),
        ("default backend - 404", "text/plain"), ("Not Found", nil), ("Unauthorized", "text/plain"),
        (#"{"message":"no Route matched with those values"}"#, "application/json"), ("[]", nil), ("{}", nil),
        (#"{"error":"no such registration"}"#, nil), ("Gone", nil), ("no such topic", "text/plain"),
        (#"{"error":{"code":404,"message":"Not Found"}}"#, nil), (#"{"error":{"details":[7]}}"#, nil),
        (#"{"error":{"code":404,"status":"Not Found","details":[{"@type":"x"}]}}"#, nil),
        (#"{"kind":"Status","status":"Failure","reason":"NotFound","code":404}"#, "application/json"),
        (#"{"type":"about:blank","title":"Gone","status":410}"#, "application/problem+json"),
        (#"{"code":"ECONNREFUSED","errno":-111,"syscall":"connect"}"#, nil),
        (#"{"code":404,"errno":-2,"error":"Not Found","message":"x"}"#, nil),
        (#"{"code":1,"errno":102,"error":"Not Found","message":"x"}"#, nil),
        (#"{"reason":"Unregistered","code":410}"#, nil), (#"{"reason":"BadDeviceToken","error":"x"}"#, nil),
        (#"{"reason":7}"#, nil), (#"{"reason":"gone"}"#, nil), (#"{"reason":"Not Found"}"#, nil),
        (#"<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>"#, "application/xml"),
        (String(repeating: "<br>", count: 4096), "text/html"),
    ]

    /// Two members of those that errors of any program have, with each of their values: no two make a service's form.
    static func pairs(for status: Int) -> [(body: String, type: String?)] {
        let members = [
            ("code", ["\(status)", "\(status)01", #""not_found""#]), ("http", ["\(status)"]),
            ("status", ["\(status)", #""error""#]), ("errno", ["102", "-2", "null"]),
            ("path", [#""/relay""#]),
            ("error", [#""Not Found""#, "true", #"{"code":\#(status)}"#]), ("message", [#""Not Found""#]),
            ("reason", [#""Not Found""#, #""NotFound""#, "7"]),
            ("timestamp", [#""2026-03-01T10:15:30Z""#, "1"]),
            ("event", [#""error""#]), ("id", [#""x""#]), ("name", [#""x""#]), ("more_info", [#""x""#]),
        ]
        var bodies: [(String, String?)] = []
        for (index, (name, values)) in members.enumerated() {
            for value in values {
                bodies.append((#"{"\#(name)":\#(value)}"#, "application/json"))
                for (other, others) in members[(index + 1)...] {
                    for second in others {
                        bodies.append((#"{"\#(name)":\#(value),"\#(other)":\#(second)}"#, "application/json"))
                    }
                }
            }
        }
        return bodies
    }

    /// What is foreign to every service, with one status.
    static func bodies(for status: Int) -> [(body: String, type: String?)] {
        let isOften = [200, 400, 401, 403, 404, 405, 410, 413, 429, 500, 503].contains(status)
        return bodies + (isOften ? pairs(for: status) : [])
    }

    @Test(arguments: Service.allCases)
    func whatStandsBetweenEndsNothing(service: Service) {
        for status in [300, 301, 302, 303, 307, 308] + Array(400...431) + [451, 500, 502, 503, 504, 511] {
            for (body, type) in Self.bodies(for: status) {
                var given = answer(status, body)
                given.contentType = type
                let verdict = service.verdict(given)
                switch verdict.outcome {
                case .deferred(let deferral): #expect(deferral.scope == .host || service == .ntfy)
                // A redirect: the operator of an ntfy app has to name its end.
                case .blocked: #expect(service == .ntfy && (300..<400).contains(status))
                case .accepted, .kept, .tokenDead, .refused:
                    Issue.record("\(service) \(status) \(body.prefix(40)): \(verdict)")
                }
                #expect(verdict.consequence == .none, "\(service) \(status) \(body.prefix(40))")
            }
            // A redirect, a method that is not allowed and the login of a proxy have no need of a body.
            guard (300..<400).contains(status) || [405, 407, 511].contains(status) else { continue }
            switch service.verdict(answer(status)).outcome {
            case .deferred(let deferral): #expect(deferral.scope == .host)
            case .blocked: #expect(service == .ntfy)
            case .accepted, .kept, .tokenDead, .refused: Issue.record("\(service) \(status)")
            }
        }
    }

    /// 200 with a page is a login's; of Google, Apple and ntfy, with anything but their own.
    @Test(arguments: Service.allCases)
    func whatStandsBetweenTakesNothing(service: Service) {
        for (body, type) in Self.bodies(for: 200) {
            var given = answer(200, body)
            given.contentType = type
            // A push server of one's own may say anything when it takes a message.
            if service == .webPush, !given.isPage { continue }
            #expect(service.verdict(given) == .deferred("WebPage", .host), "\(service) \(body.prefix(40))")
        }
        if service == .fcm { #expect(service.verdict(answer(200)) == .deferred("WebPage", .host)) }
    }

    /// What has taken a message must not get it again and again for the type of its answer.
    @Test func aServersYesIsBelievedWhateverItsType() {
        for body in ["OK", #"{"id":"x"}"#] {
            var given = answer(200, body)
            given.contentType = "text/html; charset=UTF-8"
            #expect(WebPushAnswer.verdict(given).outcome == .accepted)
        }
    }

    /// Google types an answer without a body as a page.
    @Test func anAnswerWithoutABodyIsNoPage() {
        for status in [201, 404, 410] {
            var given = answer(status)
            given.contentType = "text/html; charset=UTF-8"
            #expect(WebPushAnswer.verdict(given) == WebPushAnswer.verdict(answer(status)))
        }
    }

    /// A login in front of the server says nothing of the node's key.
    @Test(arguments: ["Basic realm=\"push\"", "basic", "Digest x", "Negotiate"])
    func theQuestionForALoginIsAProxys(challenge: String) {
        for body in ["", "Unauthorized", "<html>"] {
            var given = answer(401, body)
            given.challenge = challenge
            #expect(WebPushAnswer.verdict(given) == .deferred("WebPage", .host))
        }
        var given = answer(401)
        given.challenge = "vapid"
        #expect(WebPushAnswer.verdict(given).consequence == .renewCredential)
        // ntfy names it beside its own words.
        var own = answer(401, #"{"code":40101,"http":401,"error":"unauthorized"}"#)
        own.challenge = challenge
        #expect(WebPushAnswer.verdict(own) == .blocked("TopicForbidden"))
    }

    /// What browsers' services themselves say when a subscription is over.
    @Test(arguments: [
        (404, ""), (410, ""), (404, #"{"code":404,"errno":102,"error":"Not Found","message":"x"}"#),
        (410, #"{"code":410,"errno":106,"error":"Gone","message":"No such subscription","more_info":"x"}"#),
        (410, #"{"reason":"Unregistered"}"#), (410, "push subscription has unsubscribed or expired.\n"),
        (404, "A valid push subscription endpoint should be specified in the URL as such: https://x/"),
        (404, #"{"code":40401,"http":404,"error":"page not found"}"#),
        (410, "<HTML>\n<HEAD>\n<TITLE>NotRegistered</TITLE>\n</HEAD>\n<BODY></BODY></HTML>"),
    ])
    func whatAServiceCallsDeadIsDead(status: Int, body: String) {
        guard case .tokenDead = WebPushAnswer.verdict(answer(status, body)).outcome else {
            return #expect(Bool(false), "\(status) \(body)")
        }
    }

    /// A reason that nobody has heard yet is Apple's where its field stands beside it, and anybody's without.
    @Test func applesFieldIsASignature() {
        for status in [400, 403, 404, 410] {
            var given = answer(status, #"{"reason":"NewReason","code":1}"#)
            #expect(APNsAnswer.verdict(given, isProven: true) == .deferred("WebPage", .host))
            #expect(WebPushAnswer.verdict(given) == .deferred("WebPage", .host))
            given.hasAppleID = true
            #expect(APNsAnswer.verdict(given, isProven: true) != .deferred("WebPage", .host))
            #expect(WebPushAnswer.verdict(given) != .deferred("WebPage", .host))
        }
        var page = answer(410, "<html>")
        page.hasAppleID = true
        #expect(APNsAnswer.verdict(page, isProven: true) == .deferred("WebPage", .host))
        #expect(WebPushAnswer.verdict(page) == .deferred("WebPage", .host))
    }

    @Test func microsoftsFieldsAreASignature() {
        var given = answer(404, "Not Found")
        given.windowsStatus = "dropped"
        #expect(WebPushAnswer.verdict(given).outcome == .tokenDead(reason: "HTTP404", since: nil))
    }
}
