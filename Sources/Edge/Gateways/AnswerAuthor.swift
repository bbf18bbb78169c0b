import Relay

/// The author of an answer: the push service, or what stands between it and the node (a reverse proxy that has lost its
/// server, a login page, a captive portal).
///
/// Each gateway knows its service's own words. What stands between knows nothing of notifications and devices, so
/// its answers end neither: ``Verdict/between(_:)`` tries again, by the rule of the host.
///
/// A member of JSON is no signature: any program's errors have a `code`, an `error`, a `message` or a `reason`. A service's
/// own answer has all that its page says an error has, with values that only this service writes.
enum AnswerAuthor: Equatable, Sendable {
    /// The service: the body has the form that only its answers have.
    case service
    /// An author that can't be told: there is no body, and the status is one that services give.
    case unsigned
    /// Something else: a page, a text of another kind than the service's, a redirect, the question for a login.
    case between

    /// Finds out whose an answer is.
    ///
    /// - Parameter isSigned: Whether the body is the service's own.
    init(of answer: GatewayAnswer, isSigned: Bool) {
        if isSigned {
            self = .service
        } else if answer.body.isEmpty, !answer.wantsLogin, !AnswerAuthor.isForeign(answer.status) {
            self = .unsigned
        } else {
            self = .between
        }
    }

    /// Whether no push service gives a status: redirects, a method that is not allowed, and the logins of proxies (407) and
    /// networks (511).
    private static func isForeign(_ status: Int) -> Bool {
        (300..<400).contains(status) || [405, 407, 511].contains(status)
    }
}

extension Verdict {
    /// Returns the verdict on an answer that something between the node and the service has given.
    static func between(_ answer: GatewayAnswer) -> Verdict {
        switch answer.status {
        // Such a status says more than that a page came with it.
        case 300..<400, 407, 429, 500...:
            .deferred(answer.statusWord, .host, after: answer.retryAfter)
        case _: .deferred(OwnReason.webPage.code, .host, after: answer.retryAfter)
        }
    }
}
