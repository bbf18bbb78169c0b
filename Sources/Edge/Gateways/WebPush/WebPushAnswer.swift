import Encodings
import JSONCoding
import Relay

/// Reads the answers of push services (RFC 8030, section 8.4, and what each says beside it).
///
/// A server may be a stranger's: nothing of its text goes to senders or into the log, only words that stand here.
///
/// A subscription is dead when its service says so: by an answer in its own form, or by 404 or 410 without a body. A proxy
/// that has lost its server, and a program in the server's place, say more than that.
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
        guard author != .between else { return .between(answer) }
        let reason = words.word ?? answer.statusWord
        if words.word == otherKey { return Verdict(outcome: .tokenDead(reason: otherKey, since: nil)) }
        switch answer.status {
        case 404, 410: return Verdict(outcome: .tokenDead(reason: reason, since: nil))
        // An ntfy server's own users and topics.
        case 401 where words.areNtfys, 403 where words.areNtfys: return .blocked(topicForbidden)
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

    /// The words of a service's own in an answer.
    private struct Words {
        /// Our word for what the body says; `nil` for what nobody knows.
        var word: String?
        /// Whether only a push service writes so.
        var areTheServices = false
        /// Whether an ntfy server writes so.
        var areNtfys = false

        init(_ answer: GatewayAnswer) {
            if let document = try? JSON(answer.body) {
                if let reason = document["reason"]?.string {
                    word = apple(reason)
                    areTheServices =
                        answer.hasAppleID || word != nil && APNsAnswer.hasApplesForm(document)
                } else if document["errno"] != nil {
                    areTheServices = isMozillas(document, answer)
                    if areTheServices { word = mozilla(document) }
                } else {
                    areNtfys = NtfyAnswer.errorCode(document, of: answer) != nil
                    areTheServices = areNtfys
                }
            } else {
                let text = String(decoding: answer.body.prefix(1024), as: UTF8.self)
                word = text.mentions(googlesOtherKey) ? otherKey : nil
                let isDead = [404, 410].contains(answer.status)
                areTheServices =
                    answer.isPage
                    ? googlesTitles.contains { text.mentions($0) }
                    : text.mentions(googlesSubscription)
                        || !isDead && googlesTerms.contains { text.mentions($0) }
            }
            if answer.windowsStatus != nil { areTheServices = true }
        }
    }

    /// The term in each of Google's plain texts about a subscription that is over.
    private static let googlesSubscription = "push subscription"
    /// The terms of Web Push, at least one of which stands in each of Google's other plain texts.
    private static let googlesTerms = [
        "VAPID ", "JWT ", "authorization header", "crypto-key", "ttl header", "invalid topic",
    ]
    /// The titles of the pages that Google's service itself has written in place of a text.
    private static let googlesTitles = [
        "<TITLE>NotRegistered</TITLE>", "<TITLE>UnauthorizedRegistration</TITLE>",
        "<TITLE>InvalidTokenFormat</TITLE>", "<TITLE>MismatchSenderId</TITLE>",
    ]
    private static let mozillasOtherKey = "VAPID public key mismatch"
    private static let googlesOtherKey =
        "do not correspond to the credentials used to create the subscription"

    /// Whether an error has all that Mozilla's have (`autopush-rs`, `autoendpoint/src/error.rs`). Some have no number.
    private static func isMozillas(_ error: JSON, _ answer: GatewayAnswer) -> Bool {
        let isNumbered =
            switch error["errno"] {
            case .integer(let number)?: (100...999).contains(number)
            case .null?: error["more_info"] != nil
            case _: false
            }
        return isNumbered && error["code"]?.integer == Int64(answer.status)
            && error["error"]?.string != nil && error["message"]?.string != nil
    }

    /// Returns the word for a number of Mozilla's, which says what the status leaves open.
    private static func mozilla(_ error: JSON) -> String? {
        guard let number = error["errno"]?.integer else { return nil }
        let isOtherKey =
            number == 109 && error["message"]?.string?.hasSameBytes(as: mozillasOtherKey) == true
        return isOtherKey ? otherKey : "Errno\(number)"
    }

    private static func apple(_ reason: String) -> String? {
        reason == "VapidPkHashMismatch" ? otherKey : appleReasons.first { $0.hasSameBytes(as: reason) }
    }

    private static let appleReasons = [
        "BadAuthorizationHeader", "BadJwtToken", "BadPath", "BadTtl", "BadUrgency", "BadVapidPublicKey",
        "BadWebPushRequest", "BadWebPushTopic", "ExpiredToken", "InternalServerError", "PayloadTooLarge",
        "ServiceUnavailable", "TooManyRequests", "Unregistered",
    ]
}
