import Clocks
import Crypto
import Encodings
import Figures
import Logging
import Outbound
import Reactor
import Relay
import TLS

/// The way to one push server.
@EventLoop
final class WebPushGateway: LinkedGateway {
    let link: GatewayLink
    private let shared: WebPushShared
    /// The server's origin, `https://host[:port]`, as tokens name it.
    private let origin: String
    /// Whether the operator or its maker is known; otherwise it may be a stranger's, whose faults are his own.
    private let isNamed: Bool
    private let log: Logger
    private let later = Later()
    let absence: ServerAbsence
    /// The reason why the last connection came to nothing, until the lane has heard of it.
    private var failure: OwnReason?
    /// Whether the server has said that it keeps notifications for a shorter time than they live.
    private var keepsBriefly = false
    @exclusivity(unchecked) private var refusedPhones = RefusedPhones()
    static let suspicious = [WebPushAnswer.otherKey]
    static var nobody: DeviceToken { WebPushSubscription.nobody }

    init(
        _ server: PushEndpoint.Server, isNamed: Bool, _ shared: WebPushShared, limits: ConnectionLife.Limits
    ) {
        self.shared = shared
        self.isNamed = isNamed
        log = shared.log
        let url = GatewayURL(server)
        origin = "\(url.isSecure ? "https" : "http")://\(url.authority)"
        var settings = GatewayLinkSettings(
            url: url, egress: shared.egress, version: .http1, limits: limits)
        settings.connections = 1
        absence = shared.absence(of: url.authority)
        settings.hidesHost = !isNamed
        settings.lookUp = shared.lookUp(for: url, noting: absence)
        link = GatewayLink(settings, context: url.isSecure ? shared.context : nil, log: shared.log)
        link.onFailure = { [unowned self] in failed() }
    }

    /// Gives the lane a failure, so that it tries again when its pause is over. What is not there to hear it asks for a
    /// connection of its own.
    private func failed() {
        let reason = link.isUntrusted ? OwnReason.tls : .unreachable
        link.mended()
        link.rest()
        later { [weak self] in
            self?.failure = reason
            self?.onCapacity?()
            self?.failure = nil
        }
    }

    /// Returns the outcome of a failure. A notification that has waited for a server that there never was has waited long
    /// enough.
    private func failed(because reason: OwnReason, at now: MonotonicTime) -> Outcome {
        !isNamed && absence.isForGood(at: now, lastFound: shared.lastFound)
            ? .refused(reason: "NoSuchServer") : .deferred(Deferral(reason, scope: .host))
    }

    func start() { link.start() }
    func stop() { link.stop() }

    /// Takes over the certificate authorities as they are now.
    func use(_ context: TLSContext) { link.use(origin.hasPrefix("https:") ? context : nil) }

    /// The number of notifications that may be sent now. While the lane has to hear of a failed connection it
    /// is one: that notification comes back, and so the lane learns of it.
    var capacity: Int {
        guard link.room > 0 else { return failure == nil ? 0 : 1 }
        return min(link.room, shared.budget.left)
    }

    var fault: String? { link.fault }
    var figures: GatewayFigures { link.figures }

    func noteBacklog() {
        if link.room > 0, shared.budget.left == 0 { waitForBudget() }
        link.noteBacklog()
    }

    private func waitForBudget() { shared.budget.wait(self) { [weak self] in self?.onCapacity?() } }

    // MARK: Sending

    func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        guard let connection = link.roomiest else {
            let outcome =
                failure.map { failed(because: $0, at: EventLoop.now) }
                ?? link.outcomeWithoutRoom
            failure = nil
            return later { completion(outcome) }
        }
        shared.budget.take()
        if shared.budget.left == 0 { waitForBudget() }
        do throws(Unsendable) {
            let (head, body, generation) = try shared.request(notification, to: origin)
            let life = Int64(head["ttl"] ?? "") ?? 0
            connection.send(head, body: body) { [self] end, connection in
                if case .answered(let answer) = end { note(answer.timeKept, of: life) }
                completion(outcome(of: clean(end), over: connection, generation, notification))
            }
        } catch {
            later { completion(error.outcome) }
        }
    }

    /// Logs once that a server keeps messages for a shorter time than asked. It may, and says so (RFC 8030,
    /// section 5.2).
    private func note(_ kept: Int64?, of life: Int64) {
        guard let kept, kept < life, !keepsBriefly else { return }
        keepsBriefly = true
        log.notice("gateway.keeps_briefly", metadata: ["host": "\(link.name)", "seconds": "\(kept)"])
    }

    /// Removes a server's text from an end: no such text goes further.
    private func clean(_ end: ExchangeEnd) -> ExchangeEnd {
        switch end {
        case .answered: end
        case .unharmed: .unharmed(.own(.notProcessed))
        case .unclear(.own), .unclear(.reset): end
        case .unclear(.word), .unclear(.system): .unclear(.own(.connectionLost))
        }
    }

    func verdict(
        _ answer: GatewayAnswer, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Verdict {
        let verdict = WebPushAnswer.verdict(answer)
        if verdict.outcome == .accepted {
            absence.hasDelivered = true
            refusedPhones.accepted()
        }
        let word = verdict.outcome.word ?? answer.statusWord
        switch verdict.outcome {
        // It may be the node that has another key than before: no phone is forgotten for that.
        case .tokenDead(WebPushAnswer.otherKey, _, _) where link.figures.isInDoubt: return .refused(word)
        case .blocked where !isNamed: return .refused(word)
        case .blocked:
            log.warning(
                "gateway.topic_forbidden",
                metadata: ["host": "\(link.name)", "advice": "\(WebPushAnswer.topicAdvice)"])
            guard refusedPhones.refused(notification.deviceToken) else {
                return .deferred(word, .device, after: RefusedPhones.pause)
            }
        case .accepted, .kept, .deferred, .tokenDead, .refused: break
        }
        switch verdict.consequence {
        case .none, .keepCredential, .reconnect: return verdict
        case .ownFault where isNamed: return verdict
        case .renewCredential where shared.tokens.refused(generation: generation, for: origin):
            return Verdict(outcome: verdict.outcome)
        case .renewCredential where isNamed:
            // It may be that one subscription's: whether it is the key's, several devices say to the lane.
            log.warning(
                "gateway.vapid_refused",
                metadata: [
                    "host": "\(link.name)",
                    "advice": "check contact and the clock; was vapid-key replaced?",
                ])
            return .blocked(word)
        // Nobody signed it: it may be a proxy before that server.
        case .renewCredential where answer.body.isEmpty: return .deferred(word, .host)
        // A stranger's server that doesn't like our key or our requests concerns nobody but him.
        case .renewCredential, .ownFault: return .refused(word)
        }
    }
}

extension Outcome {
    fileprivate var word: String? {
        switch self {
        case .deferred(let deferral): deferral.reason
        case .refused(let reason, _, _), .tokenDead(let reason, _, _), .blocked(let reason): reason
        case .accepted, .kept: nil
        }
    }
}
