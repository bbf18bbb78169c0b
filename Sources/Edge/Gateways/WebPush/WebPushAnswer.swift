import Encodings
import JSONCoding
import Relay

/// Reads the answers of push services (RFC 8030, section 8.4, and what each says beside it).
///
/// A server may be a stranger's: nothing of its text goes to senders or into the log, only words that stand here.
///
/// A subscription is dead when its service says so: by a word of its own, by 404 without a body, or by 410 without a page.
/// A proxy that has lost its server says 404 with a page or a text, and hardly ever 410.
enum WebPushAnswer {
    /// The subscription was made for another node's key.
    static let otherKey = "OtherVapidKey"
    /// An ntfy server lets nobody write to this topic, whatever key it is asked with.
    static let topicForbidden = "TopicForbidden"
    static let topicAdvice =
        "this server lets nobody write to this topic: its operator has to allow it (ntfy access everyone 'up*' write-only)"

    static func verdict(_ answer: GatewayAnswer) -> Verdict {
        let words = Words(answer)
        let author = AnswerAuthor(of: answer, isSigned: words.areTheServices)
        if (200..<300).contains(answer.status) {
            // Services answer what they take with any text, or none.
            return answer.isPage ? .between(answer) : taken(answer)
        }
        let isGone = answer.status == 410 && !answer.isPage
        guard author != .between || isGone else { return .between(answer) }
        let reason = words.word ?? answer.statusWord
        if words.word == otherKey { return Verdict(outcome: .tokenDead(reason: otherKey, since: nil)) }
        switch answer.status {
        case 404, 410: return Verdict(outcome: .tokenDead(reason: reason, since: nil))
        case 401 where isOfTopic(answer), 403 where isOfTopic(answer): return .blocked(topicForbidden)
        // Key, contact or clock; or the token has just come to its end.
        case 401, 403: return .deferred(reason, .device, isUnharmed: true, .renewCredential)
        case 413: return .refused(reason)
        case 408, 421: return .deferred(reason, .device, after: answer.retryAfter)
        // Microsoft says 406 for it, where nobody else has a reason to: no form of an answer is asked for.
        case 406, 429: return .throttled(reason, after: answer.retryAfter)
        case 400..<500: return .refused(reason, .ownFault)
        // With a time to wait all wait; without it one notification does, as single ones fail while others pass.
        case _: return .deferred(reason, answer.retryAfter == nil ? .device : .host, after: answer.retryAfter)
        }
    }

    /// Returns the verdict on a message that was taken. Microsoft takes some messages that it then does not
    /// deliver, and says so.
    private static func taken(_ answer: GatewayAnswer) -> Verdict {
        switch answer.windowsStatus?.word() {
        case "channelthrottled": .throttled("ChannelThrottled", after: answer.retryAfter)
        case "dropped": .deferred("Dropped", .device, after: answer.retryAfter)
        case _: Verdict(outcome: .accepted)
        }
    }

    /// Whether the answer has a code of ntfy's about its own users and topics: the first three digits are the status
    /// (`server/errors.go`).
    private static func isOfTopic(_ answer: GatewayAnswer) -> Bool {
        (try? JSON(answer.body))?["code"]?.integer.map { $0 / 100 == Int64(answer.status) } ?? false
    }

    /// The words of a service's own in an answer.
    private struct Words {
        /// Our word for what the body says; `nil` for what nobody knows.
        var word: String?
        /// Whether only a push service writes so.
        var areTheServices = false

        init(_ answer: GatewayAnswer) {
            if let document = try? JSON(answer.body) {
                if let reason = document["reason"]?.string {
                    (word, areTheServices) = (apple(reason), true)
                } else if let number = document["errno"]?.integer {
                    // Mozilla's numbers say what the status leaves open.
                    let isOtherKey =
                        number == 109
                        && document["message"]?.string?.hasSameBytes(as: mozillasOtherKey) == true
                    if (100...999).contains(number) { word = isOtherKey ? otherKey : "Errno\(number)" }
                    areTheServices = true
                } else {
                    // Of ntfy's five digits; a status is what others have there.
                    areTheServices = document["code"]?.integer.map { (10_000...99_999).contains($0) } ?? false
                }
            } else {
                let text = String(decoding: answer.body.prefix(1024), as: UTF8.self)
                word = text.mentions(googlesOtherKey) ? otherKey : nil
                areTheServices =
                    answer.isPage
                    ? googlesTitles.contains { text.mentions($0) }
                    : googlesTerms.contains { text.mentions($0) }
            }
            if answer.windowsStatus != nil { areTheServices = true }
        }
    }

    /// The terms of Web Push, at least one of which stands in each of Google's plain texts, and in no proxy's.
    private static let googlesTerms = [
        "push subscription", "VAPID ", "JWT ", "authorization header", "crypto-key", "ttl header", "topic",
    ]
    /// The titles of the pages that Google's service itself has written in place of a text.
    private static let googlesTitles = [
        "<TITLE>NotRegistered</TITLE>", "<TITLE>UnauthorizedRegistration</TITLE>",
        "<TITLE>InvalidTokenFormat</TITLE>", "<TITLE>MismatchSenderId</TITLE>",
    ]
    private static let mozillasOtherKey = "VAPID public key mismatch"
    private static let googlesOtherKey =
        "do not correspond to the credentials used to create the subscription"

    private static func apple(_ reason: String) -> String? {
        reason == "VapidPkHashMismatch" ? otherKey : appleReasons.first { $0.hasSameBytes(as: reason) }
    }

    private static let appleReasons = [
        "BadAuthorizationHeader", "BadJwtToken", "BadPath", "BadTtl", "BadUrgency", "BadVapidPublicKey",
        "BadWebPushRequest", "BadWebPushTopic", "ExpiredToken", "InternalServerError", "PayloadTooLarge",
        "ServiceUnavailable", "TooManyRequests", "Unregistered",
    ]
}
