import Clocks
import Relay
import Vectors

@testable import Gateways

/// A link to an upstream, with the gateway's own demand, pace and limits.
final class ModelLink {
    private unowned let world: RelayWorld
    let upstream: ModelUpstream
    private(set) var demand = LinkDemand()
    private var connections: [ModelConnection] = []
    private var opensAt: MonotonicTime?
    private var isTurnEnding = false
    private var isGrowing = false
    var onRoom: () -> Void = {}
    var onFailure: () -> Void = {}
    /// Called before a connection that nobody used is closed.
    var onUnused: () -> Void = {}

    private static let most = 4
    private static let growthDelay: Duration = .milliseconds(250)

    init(to upstream: ModelUpstream, in world: RelayWorld) {
        self.upstream = upstream
        self.world = world
        demand.isRunning = true
    }

    var room: Int { connections.reduce(0) { $0 + $1.room } }
    private var usable: [ModelConnection] { connections.filter { $0.life.phase != .draining } }
    var idlest: ModelConnection? { connections.first { $0.room > 0 } }

    func want(beyond reserved: Int = 0) {
        if demand.want(room: room - reserved, isOpening: opensAt != nil || !usable.isEmpty) { endTurn() }
    }

    func rest() {
        demand.rest()
        opensAt = nil
    }

    func noteBacklog(beyond reserved: Int) {
        guard room <= reserved else { return }
        want(beyond: reserved)
        guard !isGrowing, !usable.isEmpty, usable.allSatisfy(\.isFull) else { return }
        isGrowing = true
        world.time.after(ModelLink.growthDelay) { [self] in
            isGrowing = false
            if !usable.isEmpty, usable.count < ModelLink.most, usable.allSatisfy(\.isFull) { open() }
        }
    }

    /// Other authorities are to be trusted from now on.
    func renew() {
        demand.pace.reset(at: world.time.now)
        for connection in connections { connection.outdate() }
        endTurn()
    }

    private func endTurn() {
        guard !isTurnEnding else { return }
        isTurnEnding = true
        world.time.soon { [self] in
            isTurnEnding = false
            if demand.needsConnection(hasUsable: !usable.isEmpty) { open() }
            if demand.takeNews(room: room, hasFault: false) { onRoom() }
        }
    }

    private func open() {
        let now = world.time.now
        let next = demand.pace.nextOpening(at: now)
        guard next <= now else {
            opensAt = next
            return world.time.at(next) { [self] in
                guard opensAt == next else { return }
                opensAt = nil
                if demand.needsConnection(hasUsable: !usable.isEmpty) { open() }
            }
        }
        demand.pace.opening(at: now)
        let connection = ModelConnection(over: self, in: world)
        connections.append(connection)
        connection.begin()
    }

    func changed() { endTurn() }

    func ended(_ connection: ModelConnection, isOurs: Bool) {
        connections.removeAll { $0 === connection }
        var isLong = false
        if world.canary == .callsALongDialALongLife, connection.life.openedAt == nil {
            isLong = world.time.now - connection.life.startedAt >= OpeningPace.longLife
        }
        let end = demand.ended(
            connection.life, requests: connection.requests, isOurs: isOurs || isLong, at: world.time.now,
            using: &world.random)
        if isLong { demand.pace.reset(at: world.time.now) }
        if connection.life.openedAt == nil, !isOurs { world.noteVainDial(failures: demand.pace.failures) }
        endTurn()
        if end == .failure { onFailure() }
    }
}

/// A connection to an upstream, with the gateway's own life of one.
final class ModelConnection {
    private unowned let world: RelayWorld
    private unowned let link: ModelLink
    private(set) var life: ConnectionLife
    private(set) var requests = 0
    private var request: (sentAt: MonotonicTime, end: (ModelUpstream.Answer?) -> Void)?
    private var checksAt = MonotonicTime.max
    private var isOutdated = false
    private var hasEnded = false

    init(over link: ModelLink, in world: RelayWorld) {
        self.link = link
        self.world = world
        life = ConnectionLife(limits: .relay, needsProof: false, at: world.time.now)
    }

    var room: Int { hasEnded ? 0 : life.room(freeStreams: request == nil ? 1 : 0) }
    var isFull: Bool { life.isFull(freeStreams: request == nil ? 1 : 0) }

    func begin() {
        world.time.after(link.upstream.circuit) { [self] in
            guard !hasEnded, link.upstream.mood != .hanging else { return }
            guard link.upstream.mood.isThere else { return end(isOurs: false) }
            link.upstream.opened(self)
            life.opened(at: world.time.now)
            life.received(at: world.time.now)
            link.changed()
            check()
        }
        check()
    }

    func send(_ notification: Notification, then end: @escaping (ModelUpstream.Answer?) -> Void) {
        requests += 1
        life.sent(at: world.time.now)
        request = (world.time.now, end)
        world.time.after(.milliseconds(300 + world.draw(2500))) { [self] in
            if !hasEnded { link.upstream.take(notification, over: self) }
        }
        check()
    }

    func answered(_ answer: ModelUpstream.Answer) {
        guard request != nil else { return }
        life.received(at: world.time.now)
        complete(answer)
        link.changed()
        check()
    }

    func isBroken() { end(isOurs: false) }

    func outdate() {
        isOutdated = true
        life.drain()
        check()
    }

    private func complete(_ answer: ModelUpstream.Answer?) {
        guard let (_, end) = request else { return }
        request = nil
        life.ended(wasAnswered: answer != nil, at: world.time.now)
        end(answer)
    }

    private func check() {
        guard !hasEnded else { return }
        let now = world.time.now
        if let sentAt = request?.sentAt, now >= sentAt + life.limits.request {
            life.timedOut(sentAt: sentAt)
            complete(nil)
        }
        switch life.check(at: now, isSpare: false) {
        case .wait(let until): checkAt(min(until, request.map { $0.sentAt + life.limits.request } ?? .max))
        case .ping: checkAt(now + life.limits.ping)
        case .end(let reason):
            if reason == .unused { link.onUnused() }
            end(isOurs: reason == .unused || reason == .spare)
        }
    }

    private func checkAt(_ time: MonotonicTime) {
        checksAt = time
        world.time.at(time) { [self] in if checksAt == time { check() } }
    }

    private func end(isOurs: Bool) {
        guard !hasEnded else { return }
        hasEnded = true
        life.drain()
        link.upstream.ended(self)
        complete(nil)
        link.ended(self, isOurs: isOurs || isOutdated)
    }
}
