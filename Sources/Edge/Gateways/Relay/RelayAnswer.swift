import Encodings
import JSONCoding
import Relay

/// Reads another relay's answers: those of Bisq's relay, old and new, of the nginx in front of it, and of an Onionbell.
enum RelayAnswer: Equatable {
    case accepted
    case dead(reason: String, detail: String? = nil)
    case refused(reason: String, detail: String? = nil)
    /// Refused without a word: it may be the device, and it may be the relay's own trouble.
    case doubtful(reason: String)
    /// The relay surely took nothing, and may later.
    case later(reason: String, Deferral.Scope, after: Duration?)
    /// The relay may have taken it.
    case unclear(reason: String, after: Duration?)
    /// Whatever is sent there, this is no way in: the operator has to look.
    case setup(reason: String)

    static let refusedWithoutReason = "RelayRefused"
    /// No answer yet: the notification waits for an upstream that is not connected.
    static let upstreamAway = Upstreams.away
    static let badAnswer = "BadAnswer"
    /// The answer says neither yes nor no.
    private static let unreadable = RelayAnswer.unclear(reason: badAnswer, after: nil)
    /// The time that nginx and an overloaded node get to recover, where they name none.
    static let pause: Duration = .seconds(10)
    /// The time for which Bisq's relay sends nothing to a failing gateway.
    static let breakerPause: Duration = .seconds(60)
    /// The pause when somebody has to mend something there.
    static let faultPause: Duration = .seconds(300)

    init(_ answer: GatewayAnswer, form: RelayForm) {
        self =
            switch form {
            case .bisq1: RelayAnswer.get(answer)
            case .bisq2: RelayAnswer.post(answer)
            case .p2p: RelayAnswer.frame(answer)
            }
    }

    /// Returns what a word of a gateway that a relay hands on means to senders.
    static func kind(of reason: String) -> FailureKind {
        switch reason {
        case "BadDeviceToken": .unknownToken
        case "DeviceTokenNotForTopic", "SENDER_ID_MISMATCH": .foreignToken
        case _: .other
        }
    }

    // MARK: GET

    private static func get(_ answer: GatewayAnswer) -> RelayAnswer {
        switch answer.status {
        case 200..<300:
            if answer.body.elementsEqual("success".utf8) { return .accepted }
            // The relay of before 2024 said so what its gateway refused.
            return answer.body.starts(with: "Error:".utf8)
                ? .doubtful(reason: "Error") : unreadable
        case 400:
            // An Onionbell says why, Bisq's relay doesn't.
            if let word = GatewayAnswer.word(ofText: answer.body) { return ownWord(word) }
            let author = AnswerAuthor(of: answer, isSigned: isOfBisqs(try? JSON(answer.body), answer))
            return author == .between ? between(answer) : .doubtful(reason: answer.statusWord)
        case _:
            let word = GatewayAnswer.word(ofText: answer.body)
            let isOwn = Reason.own.contains { $0.code == word }
            return byStatus(answer, isSigned: isOwn || isOfBisqs(try? JSON(answer.body), answer))
        }
    }

    /// Whether an answer of an error is as the framework of Bisq's relay writes it (Spring Boot, `DefaultErrorAttributes`).
    private static func isOfBisqs(_ json: JSON?, _ answer: GatewayAnswer) -> Bool {
        json?["status"]?.integer == Int64(answer.status)
            && ["timestamp", "error", "path"].allSatisfy { json?[$0]?.string != nil }
    }

    /// Returns the meaning of an answer that something between the node and the relay has given: the relay got nothing.
    private static func between(_ answer: GatewayAnswer) -> RelayAnswer {
        .later(reason: OwnReason.webPage.code, .host, after: answer.retryAfter ?? pause)
    }

    /// Reads an Onionbell's reason code, which came as plain text.
    private static func ownWord(_ word: String) -> RelayAnswer {
        switch word {
        case Reason.unregistered.code: .dead(reason: word)
        case Reason.badDeviceToken.code, Reason.badMessage.code, Reason.expired.code,
            Reason.duplicateUid.code:
            .refused(reason: word)
        case _ where nodeFaults.contains(word): .later(reason: word, .host, after: faultPause)
        case _: .doubtful(reason: word)
        }
    }

    // MARK: POST

    private static func post(_ answer: GatewayAnswer) -> RelayAnswer {
        let json = try? JSON(answer.body)
        let code = GatewayAnswer.word(json?["errorCode"]?.string)
        switch answer.status {
        case 200..<300:
            switch json?["wasAccepted"]?.bool {
            case true?: return .accepted
            case false?: return refusal(answer, json, code: code ?? answer.statusWord)
            case nil: return unreadable
            }
        case 400 where json?["wasAccepted"]?.bool == false:
            return refusal(answer, json, code: code ?? answer.statusWord)
        case 400:
            let author = AnswerAuthor(of: answer, isSigned: isOfBisqs(json, answer))
            return author == .between ? between(answer) : .doubtful(reason: answer.statusWord)
        case _:
            return byStatus(
                answer, code: code, isSigned: json?["wasAccepted"]?.bool != nil || isOfBisqs(json, answer))
        }
    }

    /// Reads an answer whose `wasAccepted` is false.
    private static func refusal(_ answer: GatewayAnswer, _ json: JSON?, code: String) -> RelayAnswer {
        let detail = GatewayAnswer.detail(json?["errorMessage"]?.string)
        let isDead = ["isUnregistered", "isTokenInvalid"].contains { json?[$0]?.bool == true }
        switch code {
        // The relay may serve another app or Apple's other host, so the token isn't called dead.
        case "BadDeviceToken": return .refused(reason: code, detail: detail)
        case _ where isDead: return .dead(reason: code, detail: detail)
        case "ServiceUnavailable":
            return .later(reason: code, .host, after: answer.retryAfter ?? breakerPause)
        // Refused by the gateway behind it, which wants to be spared.
        case _ where theirTroubles.contains(code):
            return .later(reason: code, .host, after: answer.retryAfter ?? breakerPause)
        case "TooManyRequests": return .later(reason: code, .device, after: answer.retryAfter ?? breakerPause)
        case _ where theirFaults.contains(code):
            return .later(reason: code, .host, after: answer.retryAfter ?? faultPause)
        case _: return .refused(reason: code, detail: detail)
        }
    }

    /// The reasons which say that the gateway behind the other relay is overloaded or away.
    static let theirTroubles = [
        "UNAVAILABLE", "INTERNAL", "InternalServerError", "Shutdown", "IdleTimeout", "QUOTA_EXCEEDED",
    ]
    /// The reasons which say that the other relay's credentials are wrong, or that it has none: its operator
    /// has to mend that.
    static let theirFaults = [
        "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR", "UNAUTHENTICATED", "PERMISSION_DENIED",
        "InvalidProviderToken", "MissingProviderToken", "ExpiredProviderToken", "Forbidden",
        "TooManyProviderTokenUpdates", "BadCertificate", "BadCertificateEnvironment", "TopicDisallowed",
        "BadTopic", "MissingTopic", Reason.unknownApp.code, Reason.gatewayDisabled.code,
    ]
    /// The reasons which say that an Onionbell isn't set up for the app: its operator has to mend that.
    private static let nodeFaults = [
        Reason.unknownApp.code, Reason.unknownPlatform.code, Reason.gatewayDisabled.code,
    ]

    // MARK: Frames

    /// Reads the answer to a frame: its status is the number of the response's (`onionbell.proto`).
    private static func frame(_ answer: GatewayAnswer) -> RelayAnswer {
        let word = GatewayAnswer.word(ofText: answer.body)
        switch answer.status {
        case 2: return .accepted
        case 3:
            switch word {
            case Reason.loop.code?: return .setup(reason: Reason.loop.code)
            case let word? where nodeFaults.contains(word):
                return .later(reason: word, .host, after: faultPause)
            case _: return .refused(reason: word ?? refusedWithoutReason)
            }
        case 4: return .dead(reason: word ?? Reason.unregistered.code)
        case 5: return .refused(reason: Reason.expired.code)
        // It doesn't say whether it is full or the device has had its share.
        case 6: return .later(reason: Reason.busy.code, .device, after: answer.retryAfter ?? pause)
        case _: return unreadable
        }
    }

    // MARK: Both

    private static func byStatus(
        _ answer: GatewayAnswer, code: String? = nil, isSigned: Bool
    ) -> RelayAnswer {
        let author = AnswerAuthor(of: answer, isSigned: isSigned)
        let reason = isSigned ? code ?? answer.statusWord : answer.statusWord
        switch answer.status {
        case 408: return .later(reason: reason, .host, after: answer.retryAfter ?? pause)
        // Limits of the relay as a whole: those of a device are kept here.
        case 429: return .later(reason: reason, .app, after: answer.retryAfter ?? pause)
        // A node that is full; nginx's own limit.
        case 503: return .later(reason: reason, .host, after: answer.retryAfter ?? pause)
        // A proxy before a relay that doesn't run, or that has broken off having it (nginx, `ngx_http_upstream.c`).
        case 502: return .unclear(reason: reason, after: answer.retryAfter ?? pause)
        case 400..<500 where author == .between && !answer.body.isEmpty: return between(answer)
        case 413, 414, 431: return .refused(reason: reason)
        // The relay wants another form than this program has: no setting mends that, another relay or version may.
        case 415: return .later(reason: reason, .host, after: answer.retryAfter ?? faultPause)
        case 508 where author != .between: return .setup(reason: Reason.loop.code)
        case 500..<600: return .unclear(reason: reason, after: answer.retryAfter)
        case _: return .setup(reason: answer.statusWord)
        }
    }
}

extension GatewayAnswer {
    /// Returns the word of a text that is a word and nothing else.
    fileprivate static func word(ofText body: [UInt8]) -> String? {
        guard body.count <= 64 else { return nil }
        return word(String(decoding: body, as: UTF8.self))
    }
}
