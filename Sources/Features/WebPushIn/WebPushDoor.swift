import Crypto
import Dispatching
import Doors
import Encodings
import HTTP1
import Reactor
import Relay

/// Web Push for phones without a push service of the web: Mastodon and its relatives post encrypted messages here, and
/// the phone's app gets them by Apple or Google (the relays DagAgren/toot-relay, mastodon/webpush-apn-relay,
/// mastodon/webpush-fcm-relay, metabolist/metatext-apns).
///
/// Mastodon deletes a subscription at any 4xx but 408 and 429 (`web/push_notification_worker.rb`). So a 4xx is only what
/// can never be delivered: a dead device, a message that is too long or that no app can read. A fault of ours, of the
/// operator's credentials or of the gateway's is not the subscriber's: 5xx with a time to retry, or no fault at all,
/// since what was stored is delivered later.
@EventLoop
package final class WebPushDoor: HTTPDoor {
    private let settings: WebPushSettings
    private let dispatcher: Dispatcher
    private let figures: DoorCounter
    private let deadlines: OutcomeDeadlines
    private let isInDoubt: @EventLoop (LaneID) -> Bool

    /// Makes the door.
    ///
    /// - Parameter isInDoubt: Whether a lane's verdicts on device tokens may be the fault of the settings.
    package init(
        settings: WebPushSettings, dispatcher: Dispatcher, isInDoubt: @escaping @EventLoop (LaneID) -> Bool
    ) {
        self.settings = settings
        self.dispatcher = dispatcher
        self.isInDoubt = isInDoubt
        figures = dispatcher.door("web_push")
        deadlines = OutcomeDeadlines(after: settings.outcomeDeadline)
    }

    package func handler(for path: String) -> HTTPServer.Handler? {
        guard let route = WebPushRoute(path: path) else { return nil }
        return { [self] request, respond in
            switch route {
            case .relay, .push: push(request, route, respond)
            case .state(let id): tellState(of: id, request, respond)
            case .health:
                guard WebPushDoor.isGet(request) else { return respond(.methodNotAllowed("GET, HEAD")) }
                respond(HTTPResponse(status: dispatcher.outboxFault == nil ? 200 : 503))
            case .unknown: respond(HTTPResponse(status: 404, text: "no such endpoint"))
            }
        }
    }

    package func hurry() { deadlines.hurry() }

    private static func isGet(_ request: HTTPRequest) -> Bool {
        request.method == "GET" || request.method == "HEAD"
    }

    private func push(
        _ request: HTTPRequest, _ route: WebPushRoute, _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        guard request.method == "POST" else { return respond(.methodNotAllowed("POST")) }
        // No encoding makes it shorter, so it need not be encoded to see that it is too long.
        guard request.body.count <= Validator.payloadLimit else {
            figures.count("refused")
            return respond(WebPushReceipt.response(to: .refused(.messageTooLarge), on: route))
        }
        var submission: Submission
        do throws(WebPushMessage.Fault) {
            let message = try WebPushMessage(request)
            if case .aesgcm(let key, _) = message.encoding, !P256.isPoint(key) { throw .badKey }
            guard
                let read = WebPushSubmission.make(
                    message, to: route, query: request.query, settings, now: EventLoop.unixTime)
            else {
                return respond(WebPushReceipt.response(to: .refused(.unknownApp), on: route))
            }
            submission = read
        } catch {
            figures.count("refused")
            return respond(HTTPResponse(status: error.status, text: error.text))
        }
        submission.sender = request.senderID
        submission.patience = .full
        let lane = LaneID(app: submission.app, host: submission.platform == .iosDev ? .sandbox : .production)
        let verdict = OutcomeWait(until: deadlines) { [isInDoubt] receipt, id in
            // Refused by the gateway, that is: what is refused here has no id.
            var isDoubtful = false
            if case .ended(.refused) = receipt, id != nil {
                isDoubtful = isInDoubt(lane)
            }
            respond(WebPushReceipt.response(to: receipt, state: id, isDoubtful: isDoubtful, on: route))
        }
        verdict.id = dispatcher.submit(submission, from: figures, awaitsOutcome: true) { verdict.take($0) }
    }

    private func tellState(
        of id: NotificationID, _ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        guard WebPushDoor.isGet(request) else { return respond(.methodNotAllowed("GET, HEAD")) }
        Task {
            do throws(OutboxError) {
                respond(WebPushReceipt.response(toState: try await dispatcher.state(of: id)))
            } catch {
                respond(busyAnswer(.node(retryAfter: .seconds(5))))
            }
        }
    }
}
