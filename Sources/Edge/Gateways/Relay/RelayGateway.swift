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
    package var onWay: (@EventLoop (_ way: Int, _ room: Int) -> Bool)?

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
    /// Notifications of this lane that are about to be sent to each upstream: it is being written down that they are.
    private var binding: [Int]
    private let later = Later()
    private let alarm = Timer()
    private var isRunning = false
    private var lookAt = MonotonicTime.max
    private var refusedDevices = RefusedDevices()

    init(_ settings: Settings, pace: SharedRelayPace, bound: BoundFile, log: Logger) throws(GatewaySetupError)
    {
        form = settings.form
        platform = settings.platform
        peer = settings.peer
        shared = pace
        self.bound = bound
        binding = settings.upstreams.map { _ in 0 }
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

    package var capacity: Int { shared.pace.room(upTo: room(of: order.active), at: EventLoop.now) }

    private func room(of index: Int) -> Int { max(0, upstreams[index].link.room - binding[index]) }

    package func noteBacklog() {
        active.noteBacklog()
        // The pace alone holds it up.
        if room(of: order.active) > 0 { shared.wait(self) { [weak self] in self?.onCapacity?() } }
    }

    package var fault: String? {
        upstreams.allSatisfy { $0.link.fault != nil && $0.link.room == 0 } ? active.fault : nil
    }

    private func gotRoom(_ index: Int) {
        // It is called for a fault as well.
        guard upstreams[index].link.room > 0 else { return onCapacity?() ?? () }
        upstreams[index].link.mended()
        if order.isAside(index) {
            order.connected(index)
            if !order.isAside(index) { log.notice("relay.upstream_back", metadata: facts(of: index)) }
        }
        serve(index)
    }

    /// Sends what waits for an upstream that may have room: first what must go there, then what would go there.
    private func serve(_ index: Int) {
        if onWay?(index, room(of: index)) == true { upstreams[index].link.noteBacklog() }
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
        setAlarm()
    }

    private func postponeLook(at time: MonotonicTime) { lookAt = look.map { time + $0 } ?? .max }

    private func setAlarm() {
        guard isRunning else { return }
        let now = EventLoop.now
        let next = min(lookAt, order.wakeAt ?? .max)
        guard next < .max else { return alarm.stop() }
        alarm.start(after: max(next - now, .milliseconds(1)))
    }

    // MARK: Sending

    package func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        let now = EventLoop.now
        guard case .bisq(let content) = notification.content else {
            return later { completion(.refused(reason: Reason.badMessage.code)) }
        }
        let (id, index) = (notification.id, bound[notification.id] ?? order.place(of: notification.id))
        guard room(of: index) > 0 else {
            let outcome = outcomeWithoutRoom(for: id, at: index)
            return later { completion(outcome) }
        }
        let wait = shared.pace.take(for: notification.deviceToken, at: now)
        guard wait == .zero else {
            let deferral = Deferral(reason: "Paced", scope: .device, retryAfter: wait, isThrottle: true)
            return later { completion(.deferred(deferral)) }
        }
        postponeLook(at: now)
        let url = upstreams[index].url
        let request = RelayRequest(
            notification, content, on: platform, form: form, below: url.path, peer: peer)
        binding[index] += 1
        bound.bind(id, to: index) { [self] isLate in
            binding[index] -= 1
            defer { if isLate { serve(index) } }
            // The connection may have gone meanwhile.
            guard let connection = upstreams[index].link.roomiest else {
                bound.notTaken(id)
                let outcome = outcomeWithoutRoom(for: id, at: index)
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
        return index == order.active
            ? link.outcomeWithoutRoom : RelayGateway.away(at: index, isBound: bound[id] != nil)
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
            // The others need not wait for it.
            let isLeft = leave(index, for: notification, reason, after: pause)
            return .deferred(Deferral(reason: reason, scope: isLeft ? .device : .host, retryAfter: pause))
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
        guard leave(index, for: notification, reason, after: pause) else {
            return order.detour(notification.id, from: index)
        }
        order.ended(notification.id)
        return true
    }

    /// Leaves an upstream that has failed a notification, if enough devices have heard so here; returns whether it did.
    private func leave(
        _ index: Int, for notification: Notification, _ reason: String, after pause: Duration?
    ) -> Bool {
        order.failed(index, notification.deviceToken, from: notification.sender, at: EventLoop.now)
            && setAside(index, for: pause, reason: reason)
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
