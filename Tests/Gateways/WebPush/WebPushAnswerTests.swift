import HTTP1
import Relay
import Testing
import Vectors

@testable import Gateways

@Suite struct WebPushAnswerTests {
    struct Answer: Decodable, Sendable {
        let name: String
        let status: Int
        let headers: [String: String]
        let body: String
        let verdict: String
        let seconds: Int?
    }

    @Test func answersMeanWhatTheVectorsSay() throws {
        let now = try #require(HTTPDate.seconds("Sun, 22 Nov 2026 10:00:00 GMT", now: 1_795_341_600))
        for one in try Vectors.webPush("answer", as: Answer.self) {
            let wish = one.headers["retry-after"].flatMap { RetryAfter.duration($0, now: now) }
            if let seconds = one.seconds { #expect(wish == .seconds(seconds), "\(one.name)") }
            let verdict = WebPushAnswer.verdict(
                GatewayAnswer(status: one.status, retryAfter: wish, body: Array(one.body.utf8)))
            switch (one.verdict, verdict.outcome) {
            case ("delivered", .accepted), ("gone", .tokenDead), ("ours", .refused): break
            case ("keys-or-gone", .tokenDead("OtherVapidKey", nil, nil)): break
            case ("later", .deferred(let deferral)):
                if let seconds = one.seconds { #expect(deferral.retryAfter == .seconds(seconds)) }
                #expect(!deferral.isUnharmed)
            case _: Issue.record("\(one.name): \(verdict.outcome)")
            }
        }
    }

    private func verdict(_ status: Int, _ body: String = "", after: Duration? = nil) -> Verdict {
        WebPushAnswer.verdict(GatewayAnswer(status: status, retryAfter: after, body: Array(body.utf8)))
    }

    @Test func anAnswerThatIsNotTheServicesEndsNoSubscription() {
        let page = "\r\n <!DOCTYPE html><title>Log in</title>"
        #expect(verdict(200, page) == .deferred("WebPage", .host))
        for status in [404, 410] { #expect(verdict(status, page) == .deferred("WebPage", .host)) }
        #expect(verdict(404, "404 page not found\n") == .deferred("WebPage", .host))
        #expect(verdict(302, page) == .deferred("HTTP302", .host))
        #expect(verdict(200, #"{"id":"x"}"#).outcome == .accepted)
    }

    /// Microsoft's way of saying 429, and what it does with what it has taken.
    @Test(arguments: [
        (201, "received", Verdict(outcome: .accepted)), (201, nil, Verdict(outcome: .accepted)),
        (201, "channelThrottled", .throttled("ChannelThrottled", after: nil)),
        (200, "dropped", .deferred("Dropped", .device)), (406, nil, .throttled("HTTP406", after: nil)),
        (406, "channelthrottled", .throttled("HTTP406", after: nil)),
    ])
    func microsoftSaysWhatItDoesWithANotification(status: Int, word: String?, expected: Verdict) {
        var answer = GatewayAnswer(status: status, body: [])
        answer.windowsStatus = word
        #expect(WebPushAnswer.verdict(answer) == expected)
    }

    /// A UnifiedPush server of ntfy's: no other key of the node's would help.
    @Test func aTopicThatNobodyMayWriteToIsNoMatterOfTheKey() {
        let body = #"{"code":40301,"http":403,"error":"forbidden"}"#
        #expect(verdict(403, body) == .blocked("TopicForbidden"))
        #expect(
            verdict(401, #"{"code":40101,"http":401,"error":"unauthorized"}"#) == .blocked("TopicForbidden"))
        // Another status than its code says: no ntfy server's.
        #expect(
            verdict(403, #"{"code":40101,"http":401,"error":"x"}"#) == .deferred("WebPage", .host))
        // Mozilla's code is the status itself.
        #expect(verdict(401, mozilla(401, 109)).consequence == .renewCredential)
    }

    /// Key, contact or clock: another token may help, else the operator.
    @Test func otherRefusalsOfTheTokenAreTheLanes() {
        for (status, body, word) in [
            (403, #"{"reason":"BadJwtToken"}"#, "BadJwtToken"), (401, "", "HTTP401"),
            (401, mozilla(401, 109, "Invalid VAPID audience"), "Errno109"),
            (403, "invalid JWT provided\n", "HTTP403"), (403, "", "HTTP403"),
        ] {
            #expect(
                verdict(status, body)
                    == .deferred(word, .device, isUnharmed: true, .renewCredential), "\(status) \(body)")
        }
        for status in [400, 403] {
            #expect(
                verdict(status, #"{"reason":"VapidPkHashMismatch"}"#).outcome
                    == .tokenDead(reason: "OtherVapidKey", since: nil))
        }
    }

    /// Whoever has a server may write into its answers what he likes.
    @Test func noTextOfAServerGoesFurther() {
        var given = GatewayAnswer(status: 400, body: Array(#"{"reason":"wp1_some_secret"}"#.utf8))
        given.hasAppleID = true
        #expect(WebPushAnswer.verdict(given) == .refused("HTTP400", .ownFault))
        #expect(verdict(400, mozilla(400, 9_999_999_999)) == .deferred("WebPage", .host))
        #expect(verdict(404, mozilla(404, 102)).outcome == .tokenDead(reason: "Errno102", since: nil))
        #expect(verdict(413, mozilla(413, 104)) == .refused("Errno104"))
    }

    /// Makes an error as Mozilla's service writes it.
    private func mozilla(_ status: Int, _ number: Int, _ message: String = "m") -> String {
        #"{"code":\#(status),"errno":\#(number),"error":"e","message":"\#(message)","more_info":"i"}"#
    }

    @Test func anOverloadedServiceIsSpared() {
        #expect(
            verdict(503, mozilla(503, 201), after: .seconds(120))
                == .deferred("Errno201", .host, after: .seconds(120)))
        #expect(verdict(502, mozilla(502, 902)) == .deferred("Errno902", .device))
        #expect(verdict(429, after: .seconds(5)) == .throttled("HTTP429", after: .seconds(5)))
    }
}
