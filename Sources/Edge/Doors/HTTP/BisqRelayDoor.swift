import Dispatching
import Encodings
import HTTP1
import Reactor
import Relay

/// The settings of the two HTTP forms that Bisq sends.
package struct BisqRelayDoorSettings: Sendable {
    /// The apps of `GET /relay`, where the message is one of Bisq 1's.
    package var bisq1 = PhoneApps()
    /// The apps of `POST /v1/...`, and of `GET /relay` for any other message.
    package var bisq2 = PhoneApps()
    /// The time for which a POST waits for the gateway's verdict.
    package var outcomeDeadline: Duration = .seconds(5)
    /// The time for which an app may be blocked. After it, what comes for the app goes to its stand-in; without one,
    /// those who can turn to another relay are sent there.
    package var blockPatience: Duration = .seconds(600)

    package init() {}
}

/// The HTTP forms of today's Bisq clients, as Bisq's own relay serves them.
///
/// Bisq 1 calls `GET /relay?...` and wants `success` (``RelayGetForm``), as Bisq 2 did until April 2026; Bisq 2 posts JSON
/// to `/v1/apns` or `/v1/fcm` and reads the gateway's verdict (``RelayPostForm``). Each generation of phones has apps of
/// its own.
@EventLoop
package final class BisqRelayDoor: HTTPDoor {
    private let settings: BisqRelayDoorSettings
    private let dispatcher: Dispatcher
    private let deadlines: OutcomeDeadlines
    private let (bisq1, bisq2): (DoorCounter, DoorCounter)
    private let isInDoubt: @EventLoop (LaneID) -> Bool

    /// Makes the door.
    ///
    /// - Parameter isInDoubt: Whether a lane's verdicts on device tokens may be the fault of the settings.
    package init(
        settings: BisqRelayDoorSettings, dispatcher: Dispatcher,
        isInDoubt: @escaping @EventLoop (LaneID) -> Bool = { _ in false }
    ) {
        self.settings = settings
        self.dispatcher = dispatcher
        self.isInDoubt = isInDoubt
        deadlines = OutcomeDeadlines(after: settings.outcomeDeadline)
        (bisq1, bisq2) = (dispatcher.door("bisq1"), dispatcher.door("bisq2"))
    }

    package func handler(for path: String) -> HTTPServer.Handler? {
        switch RelayRoute(path: path) {
        case .get: { [self] in answerGet($0, $1) }
        case .post(let platform, let token): { [self] in answerPost($0, platform, token: token, $1) }
        case nil: nil
        }
    }

    package func hurry() { deadlines.hurry() }

    // MARK: Bisq 1

    private func answerGet(_ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void) {
        guard request.method == "GET" else { return respond(.methodNotAllowed("GET")) }
        var submission: Submission
        do throws(HTTPFault) {
            let query = try HTTPQuery(request.query ?? "")
            guard let read = RelayGetForm.submission(query, bisq1: settings.bisq1, bisq2: settings.bisq2)
            else {
                return respond(HTTPResponse(status: 400, text: "parameter missing or not valid"))
            }
            submission = read
        } catch {
            return respond(HTTPResponse(status: 400, text: error.description))
        }
        submission.sender = request.senderID
        submission.hops = request.hops
        submission.mayWait = true
        // Bisq 1 never tries again, here or elsewhere: what can't be delivered now is kept.
        _ = dispatcher.route(
            &submission, standIn: settings.bisq1.standIn, patience: settings.blockPatience)
        dispatcher.submit(submission, from: bisq1, awaitsOutcome: false) {
            respond(RelayGetForm.response(to: $0))
        }
    }

    // MARK: Bisq 2

    private func answerPost(
        _ request: HTTPRequest, _ platform: Platform, token: Substring?,
        _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        guard request.method == "POST" else { return respond(.methodNotAllowed("POST")) }
        guard HTTPRequest.isJSON(request.fields["content-type"]) else {
            return respond(HTTPResponse(status: 415, text: "application/json only"))
        }
        let ownApp = platform == .android ? settings.bisq2.android : settings.bisq2.ios
        var submission: Submission
        switch RelayPostForm.submission(request, platform, token: token, app: ownApp) {
        case .success(let read): submission = read
        case .failure(let refusal): return respond(refusal.response)
        }
        submission.sender = request.senderID
        submission.hops = request.hops
        submission.patience = .full
        if let reason = dispatcher.route(
            &submission, standIn: settings.bisq2.standIn, patience: settings.blockPatience)
        {
            return respond(RelayPostForm.unavailable(reason))
        }
        let (app, token) = (submission.app, submission.deviceToken)
        let verdict = OutcomeWait(until: deadlines) { [dispatcher, isInDoubt] receipt, _ in
            var isDoubtful = false
            // Looked at for refusals only, which are few.
            if case .ended(.refused(.gateway, _)) = receipt {
                let asked = Submission(
                    platform: platform, app: app, deviceToken: token.text, message: "")
                isDoubtful = dispatcher.lane(for: asked).map { isInDoubt($0) } ?? true
            }
            respond(RelayPostForm.response(to: receipt, isDoubtful: isDoubtful))
        }
        dispatcher.submit(submission, from: bisq2, awaitsOutcome: true) { verdict.take($0) }
    }
}

extension HTTPRequest {
    /// The number of relays that have handed the request on; anything that is no number is one.
    fileprivate var hops: Int {
        guard let value = fields["onionbell-hops"] else { return 0 }
        return value.utf8.count <= 4 ? Int(value) ?? 1 : 1
    }
}
