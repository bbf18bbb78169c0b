import Clocks
import Encodings
import Figures
import Logging
import Outbound
import Reactor
import Relay
import TLS

/// One platform's phones by way of other relays: the first of them that takes anything.
///
/// Connections are opened when something waits, and closed soon after: the circuit through Tor stays. Now and then one is
/// opened for its own sake, so that a relay that is away is known before something waits for it.
@EventLoop
package final class RelayGateway: Gateway {
    package var onCapacity: (@EventLoop () -> Void)?

    private let form: RelayForm
    private let platform: Platform
    private let peer: RelayPeer
    private let upstreams: [(url: GatewayURL, link: GatewayLink)]
    private let shared: SharedRelayPace
    private let look: Duration?
    private let log: Logger
    private var order: UpstreamOrder<DeviceToken>
    private var doubts = DoubtfulRefusals()
    /// The record of the upstreams to which notifications that may have been taken are sent again.
    private let bound: BoundFile
    private let later = Later()
    private let alarm = Timer()
    private var isRunning = false
    private var lookAt = MonotonicTime.max
    private var waitsForPace = false
    private var refusedDevices = RefusedDevices()

    init(
        _ settings: Settings, pace: SharedRelayPace, bound: BoundFile, log: Logger
    ) throws(GatewaySetupError) {
        form = settings.form
        platform = settings.platform
        peer = settings.peer
        shared = pace
        self.bound = bound
        look = settings.look
        self.log = log
        order = UpstreamOrder(count: settings.upstreams.count, firstPause: settings.away)
        var upstreams: [(GatewayURL, GatewayLink)] = []
        var limits = settings.limits
        if form == .p2p { limits.inFlight = PeerClientSession.most }
        for (url, egress) in settings.upstreams {
            let link = GatewayLink(
                GatewayLink.Settings(
                    url: url, egress: egress, version: form == .p2p ? .peer(peer.network) : .http1,
                    limits: limits, sequentialConnections: settings.connections),
                context: url.isSecure ? try RelayGateway.context(settings.trust) : nil, log: log)
            upstreams.append((url, link))
        }
        self.upstreams = upstreams
        alarm.action = { [unowned self] in wake() }
        for (index, upstream) in upstreams.enumerated() {
            upstream.1.onRoom = { [unowned self] in gotRoom(index) }
            upstream.1.onFailure = { [unowned self] in failed(index) }
        }
    }

    /// Takes other authorities, which are to be trusted from now on.
    func use(_ trust: TLSTrust) throws(GatewaySetupError) {
        for (url, link) in upstreams where url.isSecure { link.use(try RelayGateway.context(trust)) }
    }

    package func start() {
        isRunning = true
        for (_, link) in upstreams { link.start() }
        if look != nil { active.want() }
        postponeLook(at: EventLoop.now)
        setAlarm()
    }

    package func stop() {
        isRunning = false
        alarm.stop()
        for (_, link) in upstreams { link.stop() }
    }

    // MARK: Which is asked

    private var active: GatewayLink { upstreams[order.active].link }

    package var capacity: Int { shared.pace.room(upTo: room, at: EventLoop.now) }

    private var room: Int { max(0, active.room - bound.waitingCount) }

    package func noteBacklog() {
        active.noteBacklog()
        guard room > 0 else { return }
        // The pace alone holds it up.
        waitsForPace = true
        setAlarm()
    }

    package var fault: String? {
        upstreams.allSatisfy { $0.link.fault != nil && $0.link.room == 0 } ? active.fault : nil
    }

    private func gotRoom(_ index: Int) {
        // It is called for a fault as well.
        guard upstreams[index].link.room > 0 else {
            onCapacity?()
            return
        }
        upstreams[index].link.mended()
        if order.isAside(index) {
            order.connected(index)
            if !order.isAside(index) { log.notice("relay.upstream_back", metadata: facts(of: index)) }
        }
        onCapacity?()
    }

    private func failed(_ index: Int) {
        setAside(index, reason: upstreams[index].link.figures.lastError ?? "-")
        // A fault comes back with the next notification.
        if fault != nil { onCapacity?() }
    }

    /// Leaves an upstream; `true`: another one is asked instead.
    @discardableResult
    private func setAside(_ index: Int, for asked: Duration? = nil, reason: String) -> Bool {
        let isNews = !order.isAside(index)
        guard order.setAside(index, for: asked, at: EventLoop.now) else { return false }
        upstreams[index].link.rest()
        if isNews { log.notice("relay.upstream_left", metadata: facts(of: index, reason)) }
        active.want()
        setAlarm()
        return true
    }

    /// Returns the facts of an upstream for a line of the log.
    private func facts(of index: Int, _ reason: String? = nil) -> Logger.Metadata {
        var facts: Logger.Metadata = [
            "host": "\(upstreams[index].url.authority)",
            "active": "\(upstreams[order.active].url.authority)",
        ]
        if let reason { facts["reason"] = "\(reason)" }
        return facts
    }

    // MARK: Time

    private func wake() {
        let now = EventLoop.now
        for index in order.takeDue(at: now) { upstreams[index].link.want() }
        if lookAt <= now {
            postponeLook(at: now)
            active.want()
        }
        if waitsForPace, shared.pace.delay(at: now) == .zero {
            waitsForPace = false
            onCapacity?()
        }
        setAlarm()
    }

    private func postponeLook(at time: MonotonicTime) { lookAt = look.map { time + $0 } ?? .max }

    private func setAlarm() {
        guard isRunning else { return }
        let now = EventLoop.now
        var next = min(lookAt, order.wakeAt ?? .max)
        if waitsForPace { next = min(next, now + shared.pace.delay(at: now)) }
        guard next < .max else { return alarm.stop() }
        alarm.start(after: max(next - now, .milliseconds(1)))
    }

    // MARK: Sending

    package func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        let now = EventLoop.now
        guard case .bisq(let content) = notification.content else {
            return later { completion(.refused(reason: Reason.badMessage.code)) }
        }
        let index = bound[notification.id] ?? order.place(of: notification.id)
        let link = upstreams[index].link
        guard link.room > 0 else {
            let outcome = outcomeWithoutRoom(for: notification.id, at: index)
            return later { completion(outcome) }
        }
        let wait = shared.pace.take(for: notification.deviceToken, at: now)
        guard wait == .zero else {
            let deferral = Deferral(
                reason: "Paced", scope: .device, retryAfter: wait, isThrottle: true)
            return later { completion(.deferred(deferral)) }
        }
        postponeLook(at: now)
        let url = upstreams[index].url
        let request = RelayRequest(
            notification, content, on: platform, form: form, below: url.path, peer: peer)
        bound.bind(notification.id, to: index) { [self] isLate in
            defer { if isLate { onCapacity?() } }
            // The connection may have gone meanwhile.
            guard let connection = link.roomiest else {
                bound.notTaken(notification.id)
                let outcome = outcomeWithoutRoom(for: notification.id, at: index)
                return later { completion(outcome) }
            }
            connection.send(request.head(authority: url.authority), body: request.body) { [self] end, _ in
                completion(outcome(of: end, notification, at: index))
            }
        }
    }

    private func outcomeWithoutRoom(for id: NotificationID, at index: Int) -> Outcome {
        let link = upstreams[index].link
        link.noteBacklog()
        if index == order.active { return link.outcomeWithoutRoom }
        return bound[id] == nil ? RelayGateway.dialled : RelayGateway.elsewhere
    }

    private func outcome(of end: ExchangeEnd, _ notification: Notification, at index: Int) -> Outcome {
        switch end {
        case .unharmed(.word(RelayGateway.wrongNetwork)):
            return outcome(of: .setup(reason: RelayGateway.wrongNetwork), notification, at: index)
        case .unharmed(let reason):
            bound.notTaken(notification.id)
            return upstreams[index].link.unharmed(reason)
        case .unclear(let reason):
            bound.unclear(notification.id)
            return upstreams[index].link.unclear(reason)
        case .answered(let answer):
            let outcome = outcome(of: RelayAnswer(answer, form: form), notification, at: index)
            switch outcome {
            case .accepted, .kept, .refused, .tokenDead:
                order.answered(index, notification.deviceToken)
                order.ended(notification.id)
                bound.ended(notification.id)
                doubts.forget(notification.id)
            case .deferred, .blocked: break
            }
            return outcome
        }
    }

    private func outcome(of answer: RelayAnswer, _ notification: Notification, at index: Int) -> Outcome {
        let isOfNobody = DeviceToken.ofNobody.contains(notification.deviceToken)
        switch answer {
        case .accepted:
            upstreams[index].link.noteAccepted()
            doubts.accepted(notification.id)
            refusedDevices.accepted(notification.deviceToken)
            return .accepted
        case .dead(let reason, let detail):
            // That token can't die: it is to be refused each time anew.
            return isOfNobody
                ? .refused(reason: reason, kind: RelayAnswer.kind(of: reason), detail: detail)
                : .tokenDead(reason: reason, since: nil, detail: detail)
        case .refused(let reason, let detail):
            if RelayGateway.suspicious.contains(reason), !isOfNobody {
                suspect(reason, of: notification, at: index)
            }
            return .refused(reason: reason, kind: RelayAnswer.kind(of: reason), detail: detail)
        case .doubtful(let reason):
            return doubtful(reason, notification, at: index)
        case .later(let reason, let scope, let pause):
            bound.notTaken(notification.id)
            if scope != .device, passOn(notification, at: index, reason, after: pause) {
                return next(notification, reason, after: pause)
            }
            let deferral = Deferral(reason: reason, scope: scope, retryAfter: pause)
            upstreams[index].link.note(wish: deferral)
            return .deferred(deferral)
        case .unclear(let reason, let pause):
            bound.unclear(notification.id)
            return .deferred(Deferral(reason: reason, scope: .host, retryAfter: pause))
        case .setup(let reason):
            bound.notTaken(notification.id)
            if passOn(notification, at: index, reason, after: RelayAnswer.faultPause) {
                return next(notification, reason, after: RelayAnswer.faultPause)
            }
            return .blocked(reason: reason)
        }
    }

    /// Passes on a notification, or all if enough devices have heard so here, and returns whether another upstream is asked.
    private func passOn(
        _ notification: Notification, at index: Int, _ reason: String, after pause: Duration?
    ) -> Bool {
        let isBelieved = order.failed(
            index, notification.deviceToken, from: notification.sender, at: EventLoop.now)
        if isBelieved, setAside(index, for: pause, reason: reason) {
            order.ended(notification.id)
            return true
        }
        return order.detour(notification.id, from: index)
    }

    /// Returns the outcome of what was not taken: the next upstream gets it at once, unless this one may have it from before.
    private func next(_ notification: Notification, _ reason: String, after pause: Duration?) -> Outcome {
        let isFree = bound[notification.id] == nil
        return .deferred(
            Deferral(
                reason: reason, scope: .device, retryAfter: isFree ? nil : pause, isUnharmed: isFree))
    }

    private func doubtful(_ reason: String, _ notification: Notification, at index: Int) -> Outcome {
        if DeviceToken.ofNobody.contains(notification.deviceToken) {
            return .refused(reason: reason, kind: RelayAnswer.kind(of: reason))
        }
        switch doubts.refused(notification.id, at: EventLoop.now) {
        case .again(let pause):
            bound.unclear(notification.id)
            return .deferred(Deferral(reason: reason, scope: .device, retryAfter: pause))
        case .believed:
            suspect(reason, of: notification, at: index)
            return .refused(reason: RelayAnswer.refusedWithoutReason)
        }
    }

    /// How a node says goodbye to a peer of another network.
    static let wrongNetwork = "WRONG_NETWORK_ID"
    /// Words for refused device tokens that, in bulk, mean the wrong relay.
    static let suspicious = [
        "BadDeviceToken", "DeviceTokenNotForTopic", "SENDER_ID_MISMATCH", "INVALID_ARGUMENT",
    ]

    private func suspect(_ reason: String, of notification: Notification, at index: Int) {
        let before = refusedDevices.inARow
        refusedDevices.refused(notification.deviceToken, from: notification.sender)
        guard refusedDevices.inARow != before, refusedDevices.inARow == GatewayFigures.suspiciousRefusals
        else { return }
        log.error(
            "gateway.tokens_refused",
            metadata: [
                "host": "\(upstreams[index].url.authority)", "reason": "\(reason)",
                "advice": "many device tokens refused in a row: is it the relay of these phones' app?",
            ])
    }

    // MARK: What the operator may see

    package var figures: GatewayFigures {
        var figures = active.figures
        for (index, upstream) in upstreams.enumerated() where index != order.active {
            figures.add(upstream.link.figures)
        }
        figures.isResting = active.figures.isResting
        figures.fault = fault
        figures.refusedTokensInARow = refusedDevices.inARow
        figures.hasAccepted = refusedDevices.hasAccepted
        return figures
    }
}
