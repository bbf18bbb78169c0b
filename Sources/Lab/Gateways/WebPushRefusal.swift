/// The refusals of browsers' push services, each in its own status and words: as far as their sources, their documents and
/// the texts that other projects quote tell.
package enum WebPushRefusal: String, CaseIterable, Sendable {
    /// The browser has unsubscribed.
    case gone
    /// The subscription was made for another application server.
    case otherKey = "other-key"
    /// The token of the application server: its audience, its end or its contact.
    case badToken = "bad-token"
    /// A message of more bytes than the service takes.
    case tooLarge = "too-large"
    case noTTL = "no-ttl"
    case badTopic = "bad-topic"
    /// Too many requests for one browser; Mozilla never says so.
    case tooMany = "too-many"
    /// A fault of the service's own.
    case broken
    /// The service takes nothing now: all senders are to wait.
    case unavailable
}

extension WebPushRules.Manner {
    /// Returns a refusal as a fault that a script can have.
    ///
    /// - Returns: `nil`: this service never answers so.
    package func fault(_ refusal: WebPushRefusal) -> GatewayFault? {
        guard let answer = answer(refusal) else { return nil }
        return .text(
            status: answer.status, String(decoding: answer.body, as: UTF8.self),
            retryAfter: answer.headers["retry-after"])
    }

    func answer(_ refusal: WebPushRefusal) -> SimulatedAnswer? {
        switch self {
        case .mozilla: mozillas(refusal)
        case .apple: apples(refusal)
        case .google: googles(refusal)
        case .unifiedPush: ofAServerOfOnesOwn(refusal)
        }
    }

    private func mozillas(_ refusal: WebPushRefusal) -> SimulatedAnswer? {
        func answer(_ status: Int, _ errno: Int, _ error: String, _ message: String) -> SimulatedAnswer {
            WebPushRules.json(
                status,
                #"{"code":\#(status),"errno":\#(errno),"error":"\#(error)","message":"\#(message)","more_info":"http://autopush.readthedocs.io/en/latest/http.html#error-codes"}"#
            )
        }
        switch refusal {
        case .gone:
            var gone = answer(410, 106, "Gone", "No such subscription")
            gone.headers.add("cache-control", "max-age=86400")
            return gone
        case .otherKey: return answer(401, 109, "Unauthorized", "VAPID public key mismatch")
        case .badToken: return answer(401, 109, "Unauthorized", "Invalid VAPID audience")
        case .tooLarge: return answer(413, 104, "Payload Too Large", "Data payload too large")
        case .noTTL: return answer(400, 111, "Bad Request", "Missing TTL value")
        case .badTopic: return answer(400, 113, "Bad Request", "Invalid topic")
        case .tooMany: return nil
        case .broken: return answer(500, 999, "Internal Server Error", "Internal error")
        case .unavailable:
            var unavailable = answer(503, 201, "Service Unavailable", "Use exponential back-off for retries")
            unavailable.headers.add("retry-after", "120")
            return unavailable
        }
    }

    private func apples(_ refusal: WebPushRefusal) -> SimulatedAnswer {
        let (status, reason) =
            switch refusal {
            case .gone: (410, "Unregistered")
            case .otherKey: (400, "VapidPkHashMismatch")
            case .badToken: (403, "BadJwtToken")
            case .tooLarge: (413, "PayloadTooLarge")
            case .noTTL: (400, "BadTtl")
            case .badTopic: (400, "BadWebPushTopic")
            case .tooMany: (429, "TooManyRequests")
            case .broken: (500, "InternalServerError")
            case .unavailable: (503, "ServiceUnavailable")
            }
        return WebPushRules.json(status, #"{"reason":"\#(reason)"}"#)
    }

    private func googles(_ refusal: WebPushRefusal) -> SimulatedAnswer {
        let (status, text) =
            switch refusal {
            case .gone: (410, "push subscription has unsubscribed or expired.\n")
            case .otherKey:
                (
                    403,
                    "the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.\n"
                )
            case .badToken: (403, "invalid JWT provided\n")
            case .tooLarge: (413, "")
            case .noTTL: (400, "ttl header is required\n")
            case .badTopic: (400, "invalid topic\n")
            case .tooMany: (429, "")
            case .broken: (500, "")
            case .unavailable: (503, "")
            }
        return SimulatedAnswer(status: status, body: Array(text.utf8))
    }

    /// Returns the answer of a server of one's own. Such servers know no application servers' keys, and some
    /// say nothing beside the status.
    private func ofAServerOfOnesOwn(_ refusal: WebPushRefusal) -> SimulatedAnswer? {
        switch refusal {
        case .gone: SimulatedAnswer(status: 404)
        case .tooLarge: SimulatedAnswer(status: 413)
        case .noTTL, .badTopic: SimulatedAnswer(status: 400)
        case .tooMany:
            WebPushRules.json(
                429, #"{"code":42901,"http":429,"error":"limit reached: too many requests"}"#,
                retryAfter: "5")
        case .broken: SimulatedAnswer(status: 500)
        case .unavailable: SimulatedAnswer(status: 503)
        case .otherKey, .badToken: nil
        }
    }
}

extension WebPushRules {
    static func json(_ status: Int, _ text: String, retryAfter: String? = nil) -> SimulatedAnswer {
        var answer = SimulatedAnswer(status: status, body: Array(text.utf8))
        answer.headers.add("content-type", "application/json; charset=UTF-8")
        if let retryAfter { answer.headers.add("retry-after", retryAfter) }
        return answer
    }
}
