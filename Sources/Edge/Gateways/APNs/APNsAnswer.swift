import Clocks
import Encodings
import JSONCoding
import Relay

/// Reads APNs' answers (Apple, "Handling notification responses from APNs").
enum APNsAnswer {
    /// Returns the verdict on an answer.
    ///
    /// - Parameters:
    ///   - isProven: Whether this connection has had a notification accepted.
    ///   - hasOwnTopic: Whether the sender chose the topic: what Apple says of it says nothing of the app's.
    static func verdict(
        _ answer: GatewayAnswer, isProven: Bool, hasOwnTopic: @autoclosure () -> Bool = false
    ) -> Verdict {
        if answer.status == 200, answer.body.isEmpty { return Verdict(outcome: .accepted) }
        let body = try? JSON(answer.body)
        let reason = GatewayAnswer.word(body?["reason"]?.string)
        let since = body?["timestamp"]?.integer.map { UnixTime(milliseconds: $0) }
        let known = reason.flatMap { verdict(answer, reason: $0, since: since, isProven: isProven) }
        let isSigned = answer.hasAppleID ? reason != nil : known != nil && hasApplesForm(body)
        guard AnswerAuthor(of: answer, isSigned: isSigned) != .between else { return .between(answer) }
        guard let reason else { return byStatus(answer) }
        if topicFaults.contains(reason), hasOwnTopic() { return .refused(reason) }
        return known ?? unknown(answer, reason: reason, since: since)
    }

    /// Whether a body has no more than Apple's: `reason`, and `timestamp` where the device is dead.
    static func hasApplesForm(_ body: JSON?) -> Bool {
        body?.object?.keys.allSatisfy { ["reason", "timestamp"].contains($0) } ?? false
    }

    private static let topicFaults = ["TopicDisallowed", "BadTopic", "MissingTopic"]

    /// Returns what a word for a refused device token means to senders.
    static func kind(of reason: String) -> FailureKind {
        switch reason {
        case "BadDeviceToken": .unknownToken
        case "DeviceTokenNotForTopic": .foreignToken
        case _: .other
        }
    }

    /// Returns the meaning of a word that came as an answer's `reason`; `nil` for one that Apple's page doesn't have.
    private static func verdict(
        _ answer: GatewayAnswer, reason: String, since: UnixTime?, isProven: Bool
    ) -> Verdict? {
        switch reason {
        // The environment may be the wrong one, so the token isn't called dead.
        case "BadDeviceToken", "DeviceTokenNotForTopic": return .refused(reason, kind: kind(of: reason))
        case _ where topicFaults.contains(reason): return .blocked(reason)
        case "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "InvalidPushType",
            "DuplicateHeaders", "PayloadEmpty", "MissingDeviceToken", "BadPath", "MethodNotAllowed":
            return .refused(reason, .ownFault)
        case "IdleTimeout", "Shutdown": return .deferred(reason, .device, isUnharmed: true, .reconnect)
        case "ExpiredProviderToken": return .deferred(reason, .device, isUnharmed: true, .renewCredential)
        case "InvalidProviderToken", "MissingProviderToken", "Forbidden": return .blocked(reason)
        case "BadCertificate", "BadCertificateEnvironment": return .blocked(reason, .reconnect)
        // Bound to another key at its first request: a new connection helps, unless this was its first request.
        case "UnrelatedKeyIdInToken":
            return isProven
                ? .deferred(reason, .device, isUnharmed: true, .reconnect) : .blocked(reason, .reconnect)
        case "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken": return .blocked(reason, .reconnect)
        case "Unregistered", "ExpiredToken": return dead(reason, since: since)
        case "PayloadTooLarge": return .refused(reason)
        case "TooManyRequests": return .throttled(reason, after: answer.retryAfter)
        case "TooManyProviderTokenUpdates":
            return .deferred(reason, .host, after: answer.retryAfter, witnesses: 1, .keepCredential)
        case "InternalServerError", "ServiceUnavailable": return unavailable(answer, reason)
        case _: return nil
        }
    }

    /// Returns the verdict on a word that Apple's page doesn't have (yet), in an answer that is Apple's by its `apns-id`: the
    /// status says what kind of answer it is.
    private static func unknown(_ answer: GatewayAnswer, reason: String, since: UnixTime?) -> Verdict {
        switch answer.status {
        case 401, 403: .blocked(reason)
        case 410: dead(reason, since: since)
        case 408, 421: .deferred(reason, .device)
        case 429: .deferred(reason, .device, after: answer.retryAfter)
        case 400..<500: .refused(reason)
        case _: unavailable(answer, reason)
        }
    }

    /// Returns the verdict on an answer without a body: not Apple but something between us may have answered,
    /// so nothing is given up for it.
    private static func byStatus(_ answer: GatewayAnswer) -> Verdict {
        switch answer.status {
        case 401, 403: .blocked(answer.statusWord)
        case 429: .deferred(answer.statusWord, .device, after: answer.retryAfter)
        case _: unavailable(answer, answer.statusWord)
        }
    }

    private static func dead(_ reason: String, since: UnixTime?) -> Verdict {
        let time = since.flatMap { UTCTime.text($0.milliseconds) }
        return Verdict(
            outcome: .tokenDead(reason: reason, since: since, detail: time.map(Ending.detail(deadSince:))))
    }

    /// Returns the verdict on an unavailable service. If the answer names a time to wait, all wait; if not,
    /// one notification does, as single ones fail while others pass.
    private static func unavailable(_ answer: GatewayAnswer, _ reason: String) -> Verdict {
        .deferred(reason, answer.retryAfter == nil ? .device : .host, after: answer.retryAfter)
    }

    /// Whether a GOAWAY for that reason says that the operator must mend something: a certificate's faults show up only
    /// there.
    static func isBlocking(goAwayReason reason: String) -> Bool {
        let answer = GatewayAnswer(status: 400, body: [])
        if case .blocked? = verdict(answer, reason: reason, since: nil, isProven: false)?.outcome {
            return true
        }
        return false
    }
}
