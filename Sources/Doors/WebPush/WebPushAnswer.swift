import HTTP1
import Relay

/// What a Web Push sender is told.
enum WebPushAnswer {
    /// The operator has to mend something; senders come again some times over hours.
    private static let retryWhenMended: Duration = .seconds(300)

    /// - Parameters:
    ///   - state: Under which id the message's state can be asked; `nil`: it was not stored.
    ///   - isDoubtful: The gateway refuses one device after the other: rather the operator's settings are wrong.
    static func response(
        to receipt: Receipt, state: NotificationID? = nil, isDoubtful: Bool = false, on route: WebPushRoute
    ) -> HTTPResponse {
        switch receipt {
        // Held: it is the node's to deliver, whatever the operator has to mend before.
        case .stored, .held, .ended(.delivered), .ended(.expired):
            return accepted(state, route)
        case .busy(let busy): return fault(busy.status, Reason.busy.code, after: busy.retryAfter)
        case .ended(.tokenDead(let reason, _)): return HTTPResponse(status: 410, text: reason.code)
        case .ended(.refused(let reason, _)):
            return response(toRefusal: reason, isDoubtful: isDoubtful)
        }
    }

    private static func accepted(_ state: NotificationID?, _ route: WebPushRoute) -> HTTPResponse {
        // Metatext's relay says 202, and has no Location.
        if case .push = route { return HTTPResponse(status: 202) }
        var response = HTTPResponse(status: 201)
        if let state { response.fields.append("location", WebPushRoute.path(ofState: state)) }
        return response
    }

    private static func response(toRefusal reason: Reason, isDoubtful: Bool) -> HTTPResponse {
        switch reason {
        case .messageTooLarge: HTTPResponse(status: 413, text: reason.code)
        // Of no app, or of another one.
        case .badDeviceToken, .gateway("BadDeviceToken"), .gateway("DeviceTokenNotForTopic"),
            .gateway("SENDER_ID_MISMATCH"):
            isDoubtful
                ? fault(502, reason.code, after: retryWhenMended)
                : HTTPResponse(status: 410, text: reason.code)
        case .unknownApp, .gatewayDisabled:
            fault(503, reason.code, after: retryWhenMended)
        case _: fault(502, reason.code, after: retryWhenMended)
        }
    }

    private static func fault(_ status: Int, _ text: String, after time: Duration) -> HTTPResponse {
        var response = HTTPResponse(status: status, text: text)
        response.addRetryAfter(.node(retryAfter: time))
        return response
    }

    // MARK: What became of a message

    static func response(toState state: NotificationState?) -> HTTPResponse {
        guard let state else { return HTTPResponse(status: 404, text: "unknown") }
        let word =
            switch state {
            case .waiting: "waiting"
            case .ended(.delivered): "delivered"
            case .ended(.refused): "refused"
            case .ended(.tokenDead): "dead"
            case .ended(.expired): "expired"
            }
        return HTTPResponse(status: 200, text: word)
    }
}
