import HTTP1
import Relay

/// The answers to Web Push senders.
enum WebPushReceipt {
    /// The pause where the operator has to mend something; senders retry several times over hours.
    private static let retryWhenMended: Duration = .seconds(300)

    /// Returns the answer to a receipt.
    ///
    /// - Parameters:
    ///   - state: The id under which the message's state can be asked; `nil`: it was not stored.
    ///   - isDoubtful: Whether the gateway refuses one device after the other: rather the operator's settings
    ///     are wrong.
    static func response(
        to receipt: Receipt, state: NotificationID? = nil, isDoubtful: Bool = false, on route: WebPushRoute
    ) -> HTTPResponse {
        switch receipt.answer {
        case .taken: accepted(state, route)
        case .later(let busy): HTTPResponse(busy)
        case .failed(let failure):
            switch failure.kind {
            case .expired: accepted(state, route)
            case .messageTooLarge: HTTPResponse(status: 413, text: failure.code)
            case .deadToken: HTTPResponse(status: 410, text: failure.code)
            // It stands in the endpoint, which is no phone's.
            case .malformedToken: HTTPResponse(status: 410, text: failure.code)
            // Of no app, or of another one.
            case .unknownToken, .foreignToken:
                isDoubtful ? fault(502, failure.code) : HTTPResponse(status: 410, text: failure.code)
            case .notServed: fault(503, failure.code)
            case .loop, .full, .other: fault(502, failure.code)
            }
        }
    }

    private static func accepted(_ state: NotificationID?, _ route: WebPushRoute) -> HTTPResponse {
        // Metatext's relay says 202, and has no Location.
        if case .push = route { return HTTPResponse(status: 202) }
        var response = HTTPResponse(status: 201)
        if let state { response.fields.append("location", WebPushRoute.path(ofState: state)) }
        return response
    }

    private static func fault(_ status: Int, _ text: String) -> HTTPResponse {
        var response = HTTPResponse(status: status, text: text)
        response.addRetryAfter(.node(retryAfter: retryWhenMended))
        return response
    }

    // MARK: What became of a message

    static func response(toState state: NotificationState?) -> HTTPResponse {
        switch state {
        case nil: HTTPResponse(status: 404, text: "unknown")
        case .waiting: HTTPResponse(status: 200, text: "waiting")
        case .ended(let ending): HTTPResponse(status: 200, text: ending.word)
        }
    }
}
