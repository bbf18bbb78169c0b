import Encodings
import JSONCoding
import Relay

/// Reads FCM's answers (Firebase, "ErrorCode" and "FCM error codes").
enum FCMAnswer {
    /// The pause that Google asks for before a repetition, where it names no time.
    private static let quotaPause: Duration = .seconds(60)
    private static let faultPause: Duration = .seconds(10)

    static func verdict(_ answer: GatewayAnswer) -> Verdict {
        let document = try? JSON(answer.body)
        if answer.status == 200 {
            let isGoogles = document?["name"]?.string.map(isMessage) ?? false
            return isGoogles ? Verdict(outcome: .accepted) : .between(answer)
        }
        let error = document?["error"]
        let details = error?["details"]?.array ?? []
        let isSigned =
            hasGooglesForm(error, answer)
            || details.contains { $0["@type"]?.string?.hasPrefix(typePrefix) == true }
        guard AnswerAuthor(of: answer, isSigned: isSigned) != .between else { return .between(answer) }
        let code = details.first { type(of: $0, is: "google.firebase.fcm.v1.FcmError") }?["errorCode"]?.string
        let text = GatewayAnswer.detail(error?["message"]?.string)
        if let code = GatewayAnswer.word(code),
            let verdict = verdict(answer, code: code, details: details, text: text)
        {
            return verdict
        }
        return byStatus(
            answer, word: GatewayAnswer.word(error?["status"]?.string), details: details, text: text)
    }

    /// Whether a name is a message's: `projects/PROJECT/messages/ID`.
    private static func isMessage(_ name: String) -> Bool {
        name.hasPrefix("projects/") && name.mentions("/messages/")
    }

    /// Whether an error has what those of all of Google's interfaces have (`google/rpc/status.proto`, "JSON encoding"): the
    /// HTTP status, a message, and the name of a code in capitals.
    private static func hasGooglesForm(_ error: JSON?, _ answer: GatewayAnswer) -> Bool {
        guard error?["code"]?.integer == Int64(answer.status), error?["message"]?.string != nil,
            let name = error?["status"]?.string
        else { return false }
        return !name.isEmpty && name.utf8.allSatisfy { (65...90).contains($0) || $0 == UInt8(ascii: "_") }
    }

    private static let typePrefix = "type.googleapis.com/"

    /// Returns the verdict by FCM's own code, which decides wherever it is given; `nil` for one that says
    /// nothing.
    private static func verdict(
        _ answer: GatewayAnswer, code: String, details: [JSON], text: String?
    ) -> Verdict? {
        switch code {
        case "INVALID_ARGUMENT", "SENDER_ID_MISMATCH": .refused(code, kind: kind(of: code), detail: text)
        // The second is of an installation that is named by its id (firebase-admin-node, `messaging/error.ts`).
        case "UNREGISTERED", "UNREGISTERED_FID":
            Verdict(outcome: .tokenDead(reason: code, since: nil, detail: text))
        case "QUOTA_EXCEEDED": overQuota(answer, code, details)
        case "UNAVAILABLE": .deferred(code, .host, after: max(answer.retryAfter ?? faultPause, .zero))
        case "INTERNAL": fault(answer, code)
        // The key that the Firebase project holds for Apple or for web push: no new access token mends it.
        case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR": .blocked(code)
        // A word that Firebase's page doesn't have (yet), of what this one message is for: a missing project has none.
        case _ where answer.status == 404: .refused(code, detail: text)
        case _: nil
        }
    }

    /// Returns what a code for a refused device token means to senders.
    static func kind(of code: String) -> FailureKind {
        code.hasSameBytes(as: "SENDER_ID_MISMATCH") ? .foreignToken : .other
    }

    private static func byStatus(
        _ answer: GatewayAnswer, word: String?, details: [JSON], text: String?
    ) -> Verdict {
        let reason = word ?? answer.statusWord
        switch answer.status {
        case 400:
            // A named field is wrong in what we built. Without a word of Google's something else may have answered.
            return word == nil
                ? .deferred(reason, .host, after: answer.retryAfter)
                : .refused(reason, violatesFields(details) ? .ownFault : .none, detail: text)
        case 401: return .deferred(reason, .device, isUnharmed: true, .renewCredential)
        // API switched off, role missing, another project, or no such project: a token is never judged by these.
        case 403, 404: return .blocked(reason)
        case 429: return overQuota(answer, reason, details)
        case 500: return fault(answer, reason)
        case _: return .deferred(reason, .host, after: answer.retryAfter ?? faultPause)
        }
    }

    private static func overQuota(_ answer: GatewayAnswer, _ reason: String, _ details: [JSON]) -> Verdict {
        let pause = answer.retryAfter ?? quotaPause
        // Google documents no form for it: what doesn't name the device may mean it all the same.
        return isDeviceQuota(details)
            ? .throttled(reason, after: pause) : .deferred(reason, .host, after: pause, witnesses: 2)
    }

    private static func fault(_ answer: GatewayAnswer, _ reason: String) -> Verdict {
        .deferred(reason, answer.retryAfter == nil ? .device : .host, after: answer.retryAfter ?? faultPause)
    }

    private static func violatesFields(_ details: [JSON]) -> Bool {
        details.contains {
            type(of: $0, is: "google.rpc.BadRequest") && $0["fieldViolations"]?.array?.isEmpty == false
        }
    }

    /// Whether the quota is one device's, by the words that Google chose for it.
    private static func isDeviceQuota(_ details: [JSON]) -> Bool {
        let violations = details.filter { type(of: $0, is: "google.rpc.QuotaFailure") }
            .flatMap { $0["violations"]?.array ?? [] }
        return !violations.isEmpty
            && violations.allSatisfy { violation in
                ["subject", "description"].contains {
                    violation[$0]?.string?.lowercased().mentions("device") == true
                }
            }
    }

    private static func type(of detail: JSON, is name: String) -> Bool {
        detail["@type"]?.string == typePrefix + name
    }
}
