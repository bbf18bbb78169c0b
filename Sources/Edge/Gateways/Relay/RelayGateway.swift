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
    package var onOtherWay: (@EventLoop () -> Void)?

    private let form: RelayForm
    private let platform: Platform
    private let peer: RelayPeer
    private let ways: [(url: GatewayURL, link: GatewayLink)]
    private let shared: SharedRelayPace
    private let look: Duration?
    private let log: Logger
    private var upstreams: Upstreams
    private var doubts = DoubtfulRefusals()
    /// The record of the upstreams to which notifications that may have been taken are sent again.
    private let bound: BoundFile
    private let later = Later()
    private let alarm = Timer()
    private var isRunning = false
    private var lookAt = MonotonicTime.max
    private var refusedDevices = RefusedDevices()

    init(_ settings: RelayGatewaySettings, pace: SharedRelayPace, bound: BoundFile, log: Logger)
        throws(GatewaySetupError)
    {
        form = settings.form
        platform = settings.platform
        peer = settings.peer
        shared = pace
        self.bound = bound
        look = settings.look
        self.log = log
        upstreams = Upstreams(count: settings.upstreams.count, firstPause: settings.away)
        var ways: [(GatewayURL, GatewayLink)] = []
        var limits = settings.limits
        if form == .p2p { limits.inFlight = PeerClientSession.most }
        for (url, egress) in settings.upstreams {
            let link = GatewayLink(
                GatewayLinkSettings(
                    url: url, egress: egress, version: form == .p2p ? .peer(peer.network) : .http1,
                    limits: limits, sequentialConnections: settings.connections),
                context: url.isSecure ? try RelayGateway.context(settings.trust) : nil, log: log)
            ways.append((url, link))
        }
        self.ways = ways
        alarm.action = { [unowned self] in wake() }
        for (index, way) in ways.enumerated() {
            way.1.onRoom = { [unowned self] in gotRoom(index) }
            way.1.onFailure = { [unowned self] in failed(index) }
        }
    }

    /// Takes other authorities, which are to be trusted from now on.
    func use(_ trust: TLSTrust) throws(GatewaySetupError) {
        for (url, link) in ways where url.isSecure { link.use(try RelayGateway.context(trust)) }
    }

    package func start() {
        isRunning = true
        for (_, link) in ways { link.start() }
        if look != nil { active.want() }
        postponeLook(at: EventLoop.now)
        setAlarm()
    }

    package func stop() {
        isRunning = false
        alarm.stop()
        for (_, link) in ways { link.stop() }
    }

    // MARK: Which is asked

    private var active: GatewayLink { ways[upstreams.active].link }

    package var capacity: Int { shared.pace.room(upTo: room(at: upstreams.active), at: EventLoop.now) }

    private func room(at index: Int) -> Int { upstreams.room(at: index, free: ways[index].link.room) }

    package func noteBacklog() {
        noteBacklog(at: upstreams.active)
        // The pace alone holds it up.
        if room(at: upstreams.active) > 0 { shared.wait(self) { [weak self] in self?.onCapacity?() } }
    }

    private func noteBacklog(at index: Int) {
        ways[index].link.noteBacklog(beyond: upstreams.binding[index])
    }

    package var fault: String? {
        ways.allSatisfy { $0.link.fault != nil && $0.link.room == 0 } ? active.fault : nil
    }

    private func gotRoom(_ index: Int) {
        let hasRoom = ways[index].link.room > 0
        if hasRoom { ways[index].link.mended() }
        upstreams.gotRoom(index, isFault: !hasRoom)
        carryOut()
    }

    private func failed(_ index: Int) {
        upstreams.failed(index, ways[index].link.figures.lastError ?? "-", at: EventLoop.now)
        carryOut()
        // A fault comes back with the next notification.
        if fault != nil { onCapacity?() }
    }

    /// Carries out what the choices ask for. It may bring the next event, whose acts are carried out within.
    private func carryOut() {
        for act in upstreams.takeActs() {
            switch act {
            case .call(let index): ways[index].link.want()
            case .letRest(let index): ways[index].link.rest()
            case .serve(let index):
                while let onWay, onWay(index, room(at: index)) {
                    // What goes elsewhere after all has left its room to the next.
                    guard room(at: index) == 0 else { continue }
                    noteBacklog(at: index)
                    break
                }
            case .tell: onCapacity?()
            case .tellAnew: onOtherWay?()
            case .noteLeft(let index, let reason):
                log.notice("relay.upstream_left", metadata: facts(of: index, reason))
            case .noteBack(let index): log.notice("relay.upstream_back", metadata: facts(of: index))
            }
        }
        setAlarm()
    }

    /// Returns the facts of an upstream for a line of the log.
    private func facts(of index: Int, _ reason: String? = nil) -> Logger.Metadata {
        var facts: Logger.Metadata = [
            "host": "\(ways[index].url.authority)", "active": "\(ways[upstreams.active].url.authority)",
        ]
        if let reason { facts["reason"] = "\(reason)" }
        return facts
    }

    // MARK: Time

    private func wake() {
        let now = EventLoop.now
        upstreams.wake(at: now)
        if lookAt <= now {
            postponeLook(at: now)
            active.want()
        }
        carryOut()
    }

    package func retryNow() {
        for (_, link) in ways { link.retryNow() }
        upstreams.retryNow(at: EventLoop.now)
        carryOut()
    }

    private func postponeLook(at time: MonotonicTime) { lookAt = look.map { time + $0 } ?? .max }

    private func setAlarm() {
        guard isRunning else { return }
        let now = EventLoop.now
        let next = min(lookAt, upstreams.wakeAt ?? .max)
        guard next < .max else { return alarm.stop() }
        alarm.start(after: max(next - now, .milliseconds(1)))
    }

    // MARK: Sending

    package func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        let now = EventLoop.now
        guard case .bisq(let content) = notification.content else {
            return later { completion(.refused(reason: Reason.badMessage.code)) }
        }
        let id = notification.id
        let index = upstreams.place(of: id, bound: bound[id])
        guard room(at: index) > 0 else {
            let outcome = outcomeWithoutRoom(for: id, at: index)
            return later { completion(outcome) }
        }
        let wait = shared.pace.take(for: notification.deviceToken, at: now)
        guard wait == .zero else {
            let deferral = Deferral(reason: "Paced", scope: .device, retryAfter: wait, isThrottle: true)
            return later { completion(.deferred(deferral)) }
        }
        postponeLook(at: now)
        let url = ways[index].url
        let request = RelayRequest(
            notification, content, on: platform, form: form, below: url.path, peer: peer)
        upstreams.beginBinding(to: index)
        bound.bind(id, to: index) { [self] isLate in
            upstreams.endBinding(to: index, isLate: isLate)
            defer { carryOut() }
            // The connection may have gone meanwhile.
            guard let connection = ways[index].link.roomiest else {
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
        noteBacklog(at: index)
        return upstreams.outcomeWithoutRoom(
            at: index, isBound: bound[id] != nil, own: ways[index].link.outcomeWithoutRoom)
    }

    private func outcome(of end: ExchangeEnd, _ notification: Notification, at index: Int) -> Outcome {
        switch end {
        case .unharmed(.word(RelayGateway.wrongNetwork)):
            return outcome(of: .setup(reason: RelayGateway.wrongNetwork), notification, at: index)
        case .unharmed(let reason):
            bound.notTaken(notification.id)
            return ways[index].link.unharmed(reason)
        case .unclear(let reason):
            bound.unclear(notification.id)
            return ways[index].link.unclear(reason)
        case .answered(let answer):
            let meaning = RelayAnswer(answer, form: form)
            let outcome = outcome(of: meaning, asked: answer.retryAfter, notification, at: index)
            carryOut()
            switch outcome {
            case .accepted, .kept, .refused, .tokenDead:
                upstreams.judged(notification, at: index)
                bound.ended(notification.id)
                doubts.forget(notification.id)
            case .deferred, .blocked: break
            }
            return outcome
        }
    }

    private func outcome(
        of answer: RelayAnswer, asked: Duration? = nil, _ notification: Notification, at index: Int
    ) -> Outcome {
        let isOfNobody = DeviceToken.ofNobody.contains(notification.deviceToken)
        switch answer {
        case .accepted:
            ways[index].link.noteAccepted()
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
            if scope != .device,
                let outcome = passOn(notification, from: index, reason, after: pause, asked: asked)
            {
                return outcome
            }
            let deferral = Deferral(reason: reason, scope: scope, retryAfter: pause)
            ways[index].link.note(wish: deferral)
            return .deferred(deferral)
        case .unclear(let reason, let pause):
            bound.unclear(notification.id)
            return upstreams.unclear(notification, at: index, reason, after: pause, at: EventLoop.now)
        case .setup(let reason):
            bound.notTaken(notification.id)
            return passOn(notification, from: index, reason, after: RelayAnswer.faultPause, asked: asked)
                ?? .blocked(reason: reason)
        }
    }

    private func passOn(
        _ notification: Notification, from index: Int, _ reason: String, after pause: Duration?,
        asked: Duration?
    ) -> Outcome? {
        upstreams.passOn(
            notification, from: index, reason, after: pause, asked: asked,
            isBound: bound[notification.id] != nil, at: EventLoop.now)
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
                "host": "\(ways[index].url.authority)", "reason": "\(reason)",
                "advice": "many device tokens refused in a row: is it the relay of these phones' app?",
            ])
    }

    // MARK: What the operator may see

    package var figures: GatewayFigures {
        var figures = active.figures
        for (index, way) in ways.enumerated() where index != upstreams.active {
            figures.add(way.link.figures)
        }
        figures.isResting = active.figures.isResting
        figures.fault = fault
        figures.refusedTokensInARow = refusedDevices.inARow
        figures.hasAccepted = refusedDevices.hasAccepted
        return figures
    }
}
