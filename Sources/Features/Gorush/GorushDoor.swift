import Clocks
import Crypto
import Dispatching
import Doors
import Encodings
import HTTP1
import PushEndpoints
import Reactor
import Relay

/// The settings of gorush's interface.
package struct GorushDoorSettings: Sendable {
    package var apps = PushApps()
    /// Elements of one request.
    package var notifications = 100
    /// Whether the answer waits for the gateways.
    package var waits = false
    /// The longest time for which the answer waits for the gateways.
    package var outcomeDeadline: Duration = .seconds(5)
    /// Whether one message may go to all subscribers of an Android topic.
    package var broadcasts = false
    package var hidesTokens = true
    /// The secret that senders must show; `nil`: none, as with gorush.
    package var secret: Secret?
    /// Whether only programs on this machine may ask: there is no secret, and it is not open to everybody.
    package var isLocal = false

    package init() {}
}

/// The part of gorush (appleboy/gorush) that Status' push notification servers use: `POST /api/push`.
///
/// This door answers after the commit, where gorush answers from a queue in memory. It tells no failures that come later,
/// unless it is set to wait for the gateways, as gorush's `core.sync`.
@EventLoop
package final class GorushDoor: HTTPDoor {
    /// Bytes of one message to Google, with all that it doesn't count against its limit.
    private static let longestMessage = 4 * Validator.payloadLimit

    private let settings: GorushDoorSettings
    private let dispatcher: Dispatcher
    private let figures: DoorCounter
    /// The time for which answers wait for the gateways; `nil`: they don't.
    private let deadlines: OutcomeDeadlines?

    package init(settings: GorushDoorSettings, dispatcher: Dispatcher) {
        self.settings = settings
        deadlines = settings.waits ? OutcomeDeadlines(after: settings.outcomeDeadline) : nil
        self.dispatcher = dispatcher
        figures = dispatcher.door("gorush")
    }

    package func handler(for path: String) -> HTTPServer.Handler? {
        switch path {
        // A setting that ends in a slash yields two.
        case "/api/push", "//api/push": { [self] in push($0, $1) }
        case "/healthz":
            { request, respond in
                guard ["GET", "HEAD"].contains(request.method) else { return respond(.gorushNotFound) }
                respond(HTTPResponse(status: 200, body: []))
            }
        case _: nil
        }
    }

    private func push(_ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void) {
        guard request.method == "POST" else { return respond(.gorushNotFound) }
        guard
            !settings.isLocal
                || request.isFromThisMachine && HTTPRequest.isJSON(request.fields["content-type"])
        else {
            figures.count("unauthorized")
            return respond(HTTPResponse(status: 403, text: "JSON, from this machine, or with a secret"))
        }
        guard isAllowed(request.fields["authorization"]) else {
            figures.count("unauthorized")
            var response = HTTPResponse(status: 401, text: "a secret is required")
            response.fields.append("www-authenticate", "Bearer")
            return respond(response)
        }
        let answer: @EventLoop (HTTPResponse) -> Void = { [settings] in
            respond(settings.secret == nil ? $0 : $0.forKnown)
        }
        do throws(GorushFault) {
            let read = try GorushRequest(request.body, limit: settings.notifications)
            Task { await push(read, from: request.senderID, answer) }
        } catch {
            figures.count("refused")
            answer(GorushAnswer.response(to: error))
        }
    }

    package func hurry() { deadlines?.hurry() }

    package func tooLargeAnswer(limit: Int) -> HTTPResponse { GorushAnswer.response(to: .missing) }

    /// Whether a request has the secret, if there is one: as `Bearer SECRET`, or `Basic` with the secret as password,
    /// which is what Go's client makes of `http://x:SECRET@`.
    private func isAllowed(_ authorization: String?) -> Bool {
        guard let secret = settings.secret else { return true }
        guard let parts = authorization?.utf8.split(separator: 0x20, maxSplits: 1), parts.count == 2 else {
            return false
        }
        switch Substring(parts[0]).word() {
        case "bearer": return Secret(Array(parts[1])) == secret
        case "basic":
            guard let pair = Base64.decode(Array(parts[1]).span),
                let colon = pair.firstIndex(of: UInt8(ascii: ":"))
            else { return false }
            return Secret(Array(pair[(colon + 1)...])) == secret
        default: return false
        }
    }

    // MARK: Pushing

    /// Pushes that one turn of the loop submits: with the longest messages they cost it a few milliseconds.
    private static let pushesPerTurn = 8

    private func push(
        _ request: GorushRequest, from sender: SenderID?,
        _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) async {
        let turns = Turns(of: GorushDoor.pushesPerTurn)
        let gathering = Gathering(
            GorushAnswer(hidesTokens: settings.hidesTokens), until: deadlines, respond)
        for notification in request.notifications {
            switch notification.platform {
            case .ios where !settings.apps.ios.isEmpty:
                gathering.answer.count += notification.count
                await pushToApple(notification, from: sender, gathering, turns)
            case .android where settings.apps.android != nil:
                gathering.answer.count += notification.count
                await pushToGoogle(notification, from: sender, gathering, turns)
            case .ios, .iosDev, .android, nil: break
            }
        }
        gathering.allAsked()
    }

    private func pushToApple(
        _ notification: GorushNotification, from sender: SenderID?, _ gathering: Gathering, _ turns: Turns
    ) async {
        await turns.next()
        do throws(GorushRefusal) {
            let push = try GorushApplePush(notification)
            guard let app = settings.apps.app(topic: notification.topic) else {
                throw GorushRefusal(reason: Reason.unknownApp.code)
            }
            let isSandbox =
                notification.apple.isProduction
                ? false : notification.apple.isDevelopment || settings.apps.isSandbox
            let prepared = PreparedPush(
                exactly: push.body, fields: push.fields.map { .init($0.name, $0.value) },
                isUrgent: notification.priority.name() != "normal")
            for token in notification.tokens {
                await turns.next()
                submit(
                    Submission(
                        platform: isSandbox ? .iosDev : .ios, app: app, deviceToken: token,
                        content: .prepared(prepared), expiresAt: expiry(notification)),
                    from: sender, notification, token, gathering)
            }
        } catch {
            await gathering.failAll(of: notification, error.reason, turns)
        }
    }

    private func pushToGoogle(
        _ notification: GorushNotification, from sender: SenderID?, _ gathering: Gathering, _ turns: Turns
    ) async {
        await turns.next()
        do throws(GorushRefusal) {
            let push = try GorushGooglePush(notification)
            guard !push.isBroadcast || settings.broadcasts else {
                throw GorushRefusal(reason: "broadcasts to topics are not allowed here")
            }
            // The rest of a message is repeated for each of its tokens as well.
            guard push.payloadSize <= Validator.payloadLimit,
                push.targets.prefix(1).allSatisfy({
                    push.body(for: $0).utf8.count <= GorushDoor.longestMessage
                })
            else { throw GorushRefusal(reason: Reason.messageTooLarge.code) }
            for target in push.targets {
                await turns.next()
                let prepared = PreparedPush(exactly: push.body(for: target), isUrgent: push.isUrgent)
                submit(
                    Submission(
                        platform: .android, app: settings.apps.android ?? "", deviceToken: target.deviceToken,
                        content: .prepared(prepared), payloadSize: push.payloadSize),
                    from: sender, notification, target.deviceToken, gathering)
            }
        } catch {
            await gathering.failAll(of: notification, error.reason, turns)
        }
    }

    /// Submits a push. Every request is a new one: gorush's senders retry nothing, and many send the same words often.
    private func submit(
        _ submission: Submission, from sender: SenderID?, _ notification: GorushNotification, _ token: String,
        _ gathering: Gathering
    ) {
        var submission = submission
        submission.sender = sender
        submission.uid = Hex.encode(randomBytes(16))
        submission.patience = .full
        let number = gathering.expect(GorushAnswer.Push(notification, to: token))
        dispatcher.submit(submission, from: figures, awaitsOutcome: settings.waits) { receipt in
            gathering.take(receipt, of: number)
        }
    }

    /// Returns the time at which a notification expires, in milliseconds since 1970. A time that has passed
    /// means that it is tried for a minute; gorush would try once.
    private func expiry(_ notification: GorushNotification) -> UnixTime {
        guard let seconds = notification.apple.expiration, seconds > 0 else { return 0 }
        let now = EventLoop.unixTime
        let latest = now + Validator.longestLifetime
        guard seconds < latest.milliseconds / 1000 else { return latest }
        return max(UnixTime(milliseconds: seconds * 1000), now + .seconds(60))
    }
}

extension GorushGooglePush.Target {
    /// The text that stands in a phone's token's place: of a broadcast, a name that is no token.
    fileprivate var deviceToken: String {
        switch self {
        case .token(let token): token
        case .topic(let topic): "topic:" + Hex.encode(Hash.sha256(Array(topic.utf8)))
        case .condition(let condition): "condition:" + Hex.encode(Hash.sha256(Array(condition.utf8)))
        }
    }
}

extension HTTPResponse {
    fileprivate static var gorushNotFound: HTTPResponse {
        HTTPResponse(status: 404, text: "404 page not found")
    }
}

/// Gathers what becomes of a request's pushes, and answers once: when all are known, or when the time is over.
@EventLoop
private final class Gathering {
    var answer: GorushAnswer
    /// The pushes in the order in which they were expected; `nil`: what became of it is known. Some may end
    /// long after the answer, so that nothing is kept for them then.
    private var pushes: [GorushAnswer.Push?] = []
    private var unknown = 1
    private var respond: (@EventLoop (HTTPResponse) -> Void)?
    /// The wait for the outcomes; `nil`: stored is enough to know.
    private var wait: OutcomeWait?

    init(
        _ answer: GorushAnswer, until deadlines: OutcomeDeadlines?,
        _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        self.answer = answer
        self.respond = respond
        wait = deadlines.map { OutcomeWait(until: $0) { [self] _, _ in finish() } }
    }

    /// Adds a push whose receipt is to come.
    ///
    /// - Returns: The push's number, for ``take(_:of:)``.
    func expect(_ push: GorushAnswer.Push) -> Int {
        unknown += 1
        pushes.append(push)
        return pushes.count - 1
    }

    /// Begins to wait for what is not known yet. To be called when everything that is to be expected is.
    func allAsked() {
        if unknown > 1 { wait?.take(.stored) }
        known()
    }

    func take(_ receipt: Receipt, of number: Int) {
        guard wait == nil || receipt != .stored, respond != nil, let push = pushes[number] else { return }
        pushes[number] = nil
        switch receipt.answer {
        case .taken: break
        case .later(.node): answer.add(push, error: "max capacity reached")
        case .later(.device): answer.add(push, error: Reason.busy.code)
        case .failed(let failure): answer.add(push, error: failure.code)
        }
        known()
    }

    /// Adds an error for each token of an element of which nothing is sent, as gorush does.
    func failAll(of notification: GorushNotification, _ error: String, _ turns: Turns) async {
        let tokens = notification.tokens.isEmpty ? [notification.to] : notification.tokens
        for token in tokens {
            await turns.next()
            answer.add(GorushAnswer.Push(notification, to: token), error: error)
        }
    }

    private func known() {
        unknown -= 1
        guard unknown == 0 else { return }
        if let wait { wait.take(.kept) } else { finish() }
    }

    private func finish() {
        pushes = []
        respond?(answer.response)
        respond = nil
        answer = GorushAnswer(hidesTokens: true)
    }
}
