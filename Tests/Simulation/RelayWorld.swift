import Clocks
import Vectors

@testable import Gateways
@testable import Relay

/// Two lanes of an app that hands on to several upstreams, with the gateway's own choices, limits and pauses: circuits take ten
/// seconds, upstreams refuse, hang, die with what they have, and come back.
///
/// What must hold, for every seed: no upstream gets what another one has taken; a connection is not closed unused while
/// something waits for its upstream; no lane sleeps that could send; a first try is made soon after there is an upstream that
/// is well (``RelayWorld/patience``); a dial that comes to nothing is a failure, however long it took; what may have been taken
/// goes to that upstream again; in the end all is delivered.
final class RelayWorld {
    struct Stored {
        let id: NotificationID
        let device: Int
        let at: MonotonicTime
        var isSent = false
    }

    private static let length: Duration = .seconds(7200)
    /// The last hour is calm.
    private static let calm: Duration = .seconds(3600)
    /// The time in which a notification has been tried once, since when one upstream has been well without pause. All others may
    /// hang. This one may have been called just before: that call hangs until its time is over, then the upstream is left for the
    /// longest pause, called again behind a slow circuit, and the lane may be in a pause of its own when it answers.
    static let patience =
        ConnectionLife.Limits.relay.setup + UpstreamOrder<DeviceToken>.longestPause
        + ModelUpstream.slowestCircuit + Lane.longestPause
    static let lanes = [World.android, LaneID(app: "ios", host: .production)]
    private static let devices = 60

    let time = ModelTime()
    let canary: Canary?
    var random: SeededRandom
    private(set) var upstreams: [ModelUpstream] = []
    private(set) var book: ModelBook!
    private(set) var pace = RelayPace()
    private(set) var gateways: [ModelRelayGateway] = []
    private(set) var pipeline: Pipeline
    private let start: MonotonicTime
    private var stored: [NotificationID: Stored] = [:]
    /// The time at which the last one of each device was delivered: before that none behind it goes.
    private var freeSince: [Int: MonotonicTime] = [:]
    private var nextSequence: Int64 = 1
    private var number = 0
    private var isExecuting = false
    private var sleepers: [Int: Int] = [:]
    private var sent = 0
    private(set) var violation: String?
    private(set) var delivered = 0
    /// The longest time from when a notification could be tried until it was.
    private(set) var longest: Duration = .zero
    /// How often one was put off for room at an upstream that was not the active one.
    private(set) var putOff = 0

    init(seed: UInt64, canary: Canary? = nil) {
        random = SeededRandom(state: seed)
        self.canary = canary
        start = time.now
        let apps = [("android", SampleService.android), ("ios", SampleService.ios)].map {
            App(name: $0, service: $1, isEnabled: true)
        }
        var limits = Admission.Limits()
        limits.tokenRate = 100
        limits.tokenBurst = 100
        pipeline = Pipeline(
            validator: Validator(apps: apps, defaultIOS: "ios", defaultAndroid: "android"), limits: limits)
        for lane in RelayWorld.lanes { _ = pipeline.add(lane) }
        upstreams = (0..<2 + draw(2)).map { ModelUpstream($0, in: self) }
        book = ModelBook(in: self)
        gateways = RelayWorld.lanes.indices.map { ModelRelayGateway($0, in: self) }
        for upstream in upstreams { changeMood(of: upstream) }
        for lane in RelayWorld.lanes.indices { submit(to: lane) }
        time.after(.seconds(5)) { [unowned self] in look() }
        time.after(.seconds(draw(1800))) { [unowned self] in renew() }
    }

    func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    private var elapsed: Duration { time.now - start }
    private var isCalm: Bool { elapsed >= RelayWorld.length - RelayWorld.calm }
    private var instant: Instant {
        Instant(unix: UnixTime(milliseconds: 20_000 * 86_400_000) + elapsed, monotonic: time.now)
    }

    private func fail(_ what: String) {
        if violation == nil { violation = "relays after \(elapsed.components.seconds) s: \(what)" }
    }

    // MARK: A history

    func run() {
        while violation == nil, elapsed < RelayWorld.length {
            let wakeAt = pipeline.wakeAt
            if wakeAt <= time.next ?? .max {
                time.pass(to: wakeAt)
                pipeline.wake(
                    at: instant, clockOffset: instant.unix.milliseconds - time.now.nanoseconds / 1_000_000)
                carryOut()
            } else {
                time.step()
            }
        }
        let left = stored.count
        if left > 0 { fail("\(left) were not delivered in an hour in which all was well") }
    }

    private func changeMood(of upstream: ModelUpstream) {
        guard !isCalm else { return upstream.become(.well) }
        upstream.become(draw(2) == 0 ? .well : ModelUpstream.Mood.allCases[draw(8)])
        let seconds = draw(3) == 0 ? 600 + draw(1200) : 10 + draw(200)
        time.after(.seconds(min(seconds, Int(RelayWorld.length / .seconds(1))))) { [unowned self] in
            changeMood(of: upstream)
        }
    }

    private func renew() {
        for gateway in gateways { for link in gateway.links { link.renew() } }
        time.after(.seconds(600 + draw(1800))) { [unowned self] in renew() }
    }

    /// Submits one, or a burst, and the next ones later.
    private func submit(to lane: Int) {
        if elapsed < RelayWorld.length - RelayWorld.calm / 2 {
            for _ in 0..<(draw(8) == 0 ? 2 + draw(20) : 1) { submitOne(to: lane) }
            carryOut()
        }
        time.after(.milliseconds(100 + draw(40_000))) { [unowned self] in submit(to: lane) }
    }

    private func submitOne(to lane: Int) {
        number += 1
        let device = 100 * lane + draw(RelayWorld.devices)
        let digits = String(device)
        let submission = Submission(
            uid: "uid\(number)", platform: lane == 0 ? .android : .ios,
            deviceToken: String(repeating: lane == 0 ? "x" : "0", count: 64 - digits.count) + digits,
            message: String(repeating: "A", count: 40))
        let digests = SubmissionDigests(
            token: Digest(high: UInt64(lane), low: UInt64(device)),
            identity: Digest(high: 1, low: UInt64(number)),
            content: Digest(high: 2, low: UInt64(number)))
        guard case .storing = pipeline.submit(submission, at: instant, digests: { _ in digests }),
            pipeline.beginCommit(at: instant) != nil
        else { return fail("a notification was not taken") }
        let id = NotificationID(high: 1, low: UInt64(number))
        stored[id] = Stored(id: id, device: device, at: time.now)
        pipeline.committed([.stored(sequence: nextSequence)], at: instant)
        nextSequence += 1
    }

    // MARK: The dispatcher

    func pump(_ lane: Int) {
        pumpOnly(lane)
        carryOut()
    }

    private func pumpOnly(_ lane: Int) {
        let room = gateways[lane].capacity
        if room == 0, pipeline.lanes[lane].hasSome { gateways[lane].noteBacklog() }
        pipeline.pump(lane, room: room, at: instant)
    }

    func pump(_ lane: Int, way: Int, room: Int) -> Bool {
        let waits = pipeline.pump(lane, way: way, room: room, at: instant)
        carryOut()
        return waits
    }

    func tryAnew(_ lane: Int) {
        pipeline.tryAnew(lane, at: instant)
        carryOut()
    }

    private func carryOut() {
        guard !isExecuting else { return }
        isExecuting = true
        defer { isExecuting = false }
        var effects: [Effect] = []
        repeat {
            var stirred: [Int] = []
            pipeline.takeStirred(&stirred)
            for lane in stirred { pumpOnly(lane) }
            effects.removeAll()
            pipeline.takeEffects(into: &effects)
            for effect in effects {
                switch effect {
                case .send(let handle, let notification, let lane):
                    gateways[lane].send(notification) { [unowned self] in ended(handle, notification, $0) }
                case .commitSoon:
                    if pipeline.beginCommit(at: instant) != nil { pipeline.committed([], at: instant) }
                default: break
                }
            }
        } while !effects.isEmpty
    }

    private func ended(_ handle: Pipeline.Handle, _ notification: Notification, _ outcome: Outcome) {
        if case .deferred(let deferral) = outcome, deferral.way != nil { putOff += 1 }
        if outcome == .accepted {
            delivered += 1
            if let device = stored.removeValue(forKey: notification.id)?.device {
                freeSince[device] = time.now
            }
        }
        pipeline.attemptEnded(handle, outcome, at: instant, using: &random)
        carryOut()
    }

    func takePace(for token: DeviceToken) -> Duration { pace.take(for: token, at: time.now) }

    // MARK: What must hold

    /// Whether an upstream turns a device away while it takes others'.
    func isSpared(_ notification: Notification, at upstream: Int) -> Bool {
        upstream == 0 && !isCalm && notification.deviceToken.text.utf8.last == UInt8(ascii: "7")
    }

    func noteTaken(_ id: NotificationID, at index: Int) {
        for (other, upstream) in upstreams.enumerated() where other != index && upstream.book[id] != nil {
            fail("upstream \(index) rings for what upstream \(other) has taken")
        }
    }

    func noteSent(_ notification: Notification) {
        sent += 1
        guard let one = stored[notification.id], !one.isSent else { return }
        if let wait = wait(of: one) { longest = max(longest, wait) }
        stored[notification.id]?.isSent = true
    }

    /// Returns the time since when a notification might have been tried; `nil`: it still may not.
    private func wait(of one: Stored) -> Duration? {
        // Behind one of its device that an upstream may have it waits as long as that.
        let isHeld = stored.values.contains { $0.device == one.device && $0.isSent }
        guard !isHeld, let well = upstreams.compactMap(\.wellSince).min() else { return nil }
        return time.now - max(one.at, well, freeSince[one.device] ?? one.at)
    }

    /// Notes that a lane closes a connection that nobody has used for its longest rest.
    func noteUnused(_ index: Int, in lane: Int) {
        let waits = pipeline.lanes[lane].wayfarers.contains {
            $0.way == index && pipeline.delivery.head(of: $0.token, putOffUntil: $0.due) != nil
        }
        // What is being written down has the place of who waits.
        if waits, gateways[lane].realRoom(at: index) > 0 {
            fail("a connection to upstream \(index) closes unused while something waits for it")
        }
    }

    /// Notes that a dial came to nothing, after which its link has counted so many failures.
    func noteVainDial(failures: Int) {
        if failures == 0 { fail("a dial that came to nothing is no failure") }
    }

    /// Looks at all that waits now and then.
    private func look() {
        for lane in RelayWorld.lanes.indices where couldSend(lane) {
            if sleepers[lane] == sent { fail("lane \(lane) sleeps, although it could send") }
            sleepers[lane] = sent
        }
        for one in stored.values where !one.isSent {
            guard let wait = wait(of: one), wait > RelayWorld.patience else { continue }
            fail("a notification was not tried in \(wait.components.seconds) s")
        }
        time.after(.seconds(5)) { [unowned self] in look() }
    }

    /// Whether a lane has something that may go now, and there is room for it.
    private func couldSend(_ lane: Int) -> Bool {
        let gateway = gateways[lane]
        let room = pace.room(upTo: gateway.realRoom(at: gateway.upstreams.active), at: time.now)
        var delivery = pipeline.delivery
        let turn = room > 0 ? delivery.withLane(lane) { $0.turn(at: time.now) } : nil
        let could = turn != nil && turn != .probe && delivery.takeNext(lane: lane, at: time.now) != nil
        if !could { sleepers[lane] = nil }
        return could
    }
}
