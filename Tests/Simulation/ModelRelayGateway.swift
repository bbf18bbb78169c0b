import Clocks
import Vectors

@testable import Gateways
@testable import Relay

/// The record that the lanes of an app share: a notification goes out once it is written where it goes.
final class ModelBook {
    private unowned let world: RelayWorld
    private(set) var bound = BoundNotifications(marks: [1, 2, 3])
    private var waiting: [(Bool) -> Void] = []
    private var isWriting = false

    init(in world: RelayWorld) { self.world = world }

    subscript(id: NotificationID) -> Int? { bound[id] }
    /// The number of notifications, of all lanes, that the next write is for.
    var waitingCount: Int { waiting.count }

    func bind(_ id: NotificationID, to upstream: Int, then send: @escaping (_ isLate: Bool) -> Void) {
        guard bound.bind(id, to: upstream) else { return send(false) }
        waiting.append(send)
        write()
    }

    func change(_ change: (inout BoundNotifications) -> Void) { change(&bound) }

    private func write() {
        guard !isWriting, !waiting.isEmpty else { return }
        isWriting = true
        let due = waiting
        waiting = []
        // A disk may take its time.
        world.time.after(.milliseconds(world.draw(4) == 0 ? 500 + world.draw(2000) : 5 + world.draw(30))) {
            [self] in
            isWriting = false
            for send in due { send(true) }
            write()
        }
    }
}

/// One lane's gateway to the upstreams. Its choices, links, connections and pace are the node's own; here they are carried
/// out.
final class ModelRelayGateway {
    private unowned let world: RelayWorld
    private let lane: Int
    private(set) var upstreams: Upstreams
    let links: [ModelLink]
    private var waitsForPace = false
    private var wakesAt = MonotonicTime.max

    init(_ lane: Int, in world: RelayWorld) {
        self.world = world
        self.lane = lane
        links = world.upstreams.map { ModelLink(to: $0, in: world) }
        upstreams = Upstreams(count: links.count)
        for (index, link) in links.enumerated() {
            link.onRoom = { [unowned self] in
                upstreams.gotRoom(index, isFault: link.room == 0)
                carryOut()
            }
            link.onFailure = { [unowned self] in
                upstreams.failed(index, "Refused", at: world.time.now)
                carryOut()
            }
            link.onUnused = { world.noteUnused(index, in: lane) }
        }
    }

    var capacity: Int { world.pace.room(upTo: room(at: upstreams.active), at: world.time.now) }

    func room(at index: Int) -> Int {
        world.canary == .letsAnotherLaneTakeRoom
            ? max(0, links[index].room - world.book.waitingCount) : realRoom(at: index)
    }

    func realRoom(at index: Int) -> Int { upstreams.room(at: index, free: links[index].room) }

    func noteBacklog() {
        noteBacklog(at: upstreams.active)
        guard room(at: upstreams.active) > 0, !waitsForPace else { return }
        waitsForPace = true
        world.time.after(max(world.pace.delay(at: world.time.now), .milliseconds(1))) { [self] in
            waitsForPace = false
            world.pump(lane)
        }
    }

    private func noteBacklog(at index: Int) { links[index].noteBacklog(beyond: upstreams.binding[index]) }

    private func carryOut() {
        for act in upstreams.takeActs() {
            switch act {
            case .call(let index): links[index].want()
            case .letRest(let index): links[index].rest()
            case .serve where world.canary == .tellsOnlyTheActiveUpstream: break
            case .serve(let index):
                while world.pump(lane, way: index, room: room(at: index)) {
                    guard room(at: index) == 0 else { continue }
                    noteBacklog(at: index)
                    break
                }
            case .tell: world.pump(lane)
            case .tellAnew: world.tryAnew(lane)
            case .noteLeft, .noteBack: break
            }
        }
        guard let wakeAt = upstreams.wakeAt, wakeAt != wakesAt else { return }
        wakesAt = wakeAt
        world.time.at(wakeAt) { [self] in
            guard wakesAt == wakeAt else { return }
            wakesAt = .max
            upstreams.wake(at: world.time.now)
            carryOut()
        }
    }

    func send(_ notification: Notification, then completion: @escaping (Outcome) -> Void) {
        let id = notification.id
        let index = upstreams.place(of: id, bound: world.book[id])
        func withoutRoom() {
            noteBacklog(at: index)
            let outcome = upstreams.outcomeWithoutRoom(
                at: index, isBound: world.book[id] != nil,
                own: .deferred(Deferral(.noConnection, scope: .device, isUnharmed: true)))
            world.time.soon { completion(outcome) }
        }
        guard room(at: index) > 0 else { return withoutRoom() }
        let wait = world.takePace(for: notification.deviceToken)
        guard wait == .zero else {
            let deferral = Deferral(reason: "Paced", scope: .device, retryAfter: wait, isThrottle: true)
            return world.time.soon { completion(.deferred(deferral)) }
        }
        upstreams.beginBinding(to: index)
        world.book.bind(id, to: index) { [self] isLate in
            upstreams.endBinding(to: index, isLate: isLate)
            defer { carryOut() }
            guard let connection = links[index].idlest else {
                world.book.change { $0.notTaken(id) }
                return withoutRoom()
            }
            world.noteSent(notification)
            connection.send(notification) { [self] answer in
                completion(outcome(of: answer, notification, at: index))
                carryOut()
            }
        }
    }

    private func outcome(
        of answer: ModelUpstream.Answer?, _ notification: Notification, at index: Int
    ) -> Outcome {
        let (id, now, pause) = (notification.id, world.time.now, Duration.seconds(10))
        switch answer {
        case .taken:
            upstreams.judged(notification, at: index)
            world.book.change { $0.ended(id) }
            return .accepted
        case .page where world.canary == .takesAProxysPageForTheRelays:
            world.book.change { $0.ended(id) }
            return .refused(reason: "HTTP413", kind: .other)
        case .later, .page:
            let reason = answer == .page ? "WebPage" : "HTTP503"
            world.book.change { $0.notTaken(id) }
            return upstreams.passOn(
                notification, from: index, reason, after: pause, asked: nil,
                isBound: world.book[id] != nil, at: now)
                ?? .deferred(Deferral(reason: reason, scope: .host, retryAfter: pause))
        case .lost:
            world.book.change { $0.unclear(id) }
            return upstreams.unclear(notification, at: index, "HTTP502", after: pause, at: now)
        case nil:
            world.book.change { $0.unclear(id) }
            return .deferred(Deferral(reason: "ConnectionLost", scope: .device))
        }
    }
}
