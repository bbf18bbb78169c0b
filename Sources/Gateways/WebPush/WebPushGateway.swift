import Crypto
import Logging
import Metrics
import Outbound
import Reactor
import Relay
import TLS

/// The way to one push server.
@EventLoop
final class WebPushGateway: LinkedGateway {
    let link: GatewayLink
    private let shared: WebPushShared
    /// `https://host[:port]`, as tokens name it.
    private let origin: String
    /// Whether the operator or its maker is known; otherwise it may be a stranger's, whose faults are his own.
    private let isNamed: Bool
    private let log: Logger
    private let later = Later()
    let absence = ServerAbsence()
    /// Why the last connection came to nothing, until what waits was told.
    private var failure: String?
    static let suspicious = [WebPushAnswer.otherKey]
    static var nobody: DeviceToken { WebPushSubscription.nobody }

    init(
        _ place: PushEndpoint.Place, isNamed: Bool, _ shared: WebPushShared, limits: ConnectionLife.Limits
    ) {
        self.shared = shared
        self.isNamed = isNamed
        log = shared.log
        let url = GatewayURL(place)
        origin = "\(url.isSecure ? "https" : "http")://\(url.authority)"
        var settings = GatewayLink.Settings(
            url: url, egress: shared.egress, version: .http1, limits: limits)
        settings.connections = 1
        settings.hidesHost = !isNamed
        settings.lookUp = shared.lookUp(for: url, noting: absence)
        link = GatewayLink(settings, context: url.isSecure ? shared.context : nil, log: shared.log)
        link.onFailure = { [unowned self] in failed() }
    }

    /// The lane is told, and tries again when its pause is over.
    private func failed() {
        failure = link.fault == "TLS" ? "TLS" : "Unreachable"
        link.mended()
        link.rest()
        later { [weak self] in self?.onCapacity?() }
    }

    /// What has waited for a server that there never was has waited long enough.
    private func failed(because reason: String, at now: Int64) -> Outcome {
        !isNamed && absence.isForGood(at: now, lastFound: shared.lastFound)
            ? .refused(reason: "NoSuchServer") : .deferred(Deferral(reason: reason, scope: .host))
    }

    func start() { link.start() }
    func stop() { link.stop() }

    /// Takes over the certificate authorities as they are now.
    func use(_ context: TLSContext) { link.use(origin.hasPrefix("https:") ? context : nil) }

    /// One, when the last connection failed: its notification comes back, and the lane learns of it.
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
                failure.map { failed(because: $0, at: EventLoop.monotonicNanoseconds) }
                ?? link.outcomeWithoutRoom
            failure = nil
            return later { completion(outcome) }
        }
        failure = nil
        shared.budget.take()
        if shared.budget.left == 0 { waitForBudget() }
        do throws(Unsendable) {
            let (head, body, generation) = try shared.request(notification, to: origin)
            connection.send(head, body: body) { [self] end, connection in
                completion(outcome(of: clean(end), over: connection, generation, notification))
            }
        } catch {
            later { completion(error.outcome) }
        }
    }

    /// No text of a server's goes further.
    private func clean(_ end: ExchangeEnd) -> ExchangeEnd {
        switch end {
        case .answered: end
        case .unharmed: .unharmed(reason: "NotProcessed")
        case .unclear(let reason): .unclear(reason: GatewayAnswer.word(reason) ?? "ConnectionLost")
        }
    }

    func verdict(
        _ answer: GatewayAnswer, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Verdict {
        let verdict = WebPushAnswer.verdict(answer)
        guard !isNamed else { return verdict }
        // A stranger's server that doesn't like our key or our requests concerns nobody but him.
        switch verdict.consequence {
        case .none, .keepCredential, .reconnect: return verdict
        case .renewCredential where shared.tokens.refused(generation: generation, for: origin): return verdict
        case .renewCredential, .ownFault: return .refused(verdict.outcome.word ?? answer.statusWord)
        }
    }

    func renewCredential(_ generation: Int) -> Bool {
        let helps = shared.tokens.refused(generation: generation, for: origin)
        if !helps {
            log.error(
                "gateway.vapid_refused",
                metadata: [
                    "host": "\(link.name)",
                    "advice": "check contact and the clock; was vapid-key replaced?",
                ])
        }
        return helps
    }
}

extension Outcome {
    fileprivate var word: String? {
        switch self {
        case .deferred(let deferral): deferral.reason
        case .refused(let reason, _): reason
        case .accepted, .kept, .tokenDead, .blocked: nil
        }
    }
}
