import Clocks
import Vectors

@testable import Relay

/// A lane in time that the history makes up: a thousand healthy devices, and some tokens that its gateway always fails as
/// if it were in trouble itself. They are brought first, from one circuit or from several, and again and again.
///
/// What must hold, for every seed: a healthy device's notification leaves within ``PoisonWorld/stated(_:)``, and at least
/// ``PoisonWorld/perMinute`` leave in each minute.
final class PoisonWorld {
    /// What stands behind the lane.
    enum Service: CaseIterable, Sendable { case direct, relay, relays, ntfy, webPush }

    /// How poison comes again.
    enum Renewal: CaseIterable, Sendable { case sameTokens, otherTokens, never }

    struct Plan: Sendable {
        var service: Service
        var poison: Int
        var circuits: Int
        var renewal: Renewal
        /// The gateway is away for everybody, at first.
        var outage: Duration = .zero
    }

    struct Request {
        let handle: Pipeline.Handle
        let notification: Notification
        let token: Digest
        let upstream: Int
        let at: Duration
    }

    static let poisonSets = [1, 3, 20, 48, 200]
    static let healthy = 1000
    /// Two pauses, for a set of up to two hundred. One that brings as many other tokens each minute is more than half of
    /// what is new: whether a healthy one is among those that try at 6 seconds is chance, and at 18, and at 36. By way of
    /// relays, which take few at once, what has gathered then takes up to 12 more. Seen in one of 2,000 such histories.
    static func stated(_ plan: Plan) -> Duration {
        let isRelayed = plan.service == .relay || plan.service == .relays
        return isRelayed && plan.renewal == .otherTokens && plan.poison == 200 ? .seconds(48) : .seconds(24)
    }
    static let perMinute = 100
    private static let length: Duration = .seconds(300)
    private static let submittedPerMinute = 180

    let plan: Plan
    private let canary: Canary?
    private var random: SeededRandom
    private var pipeline: Pipeline
    private let start = Instant(
        unix: UnixTime(milliseconds: 20_000 * 86_400_000), monotonic: 1_000_000_000_000)
    private var now: Instant
    /// The first of the two upstreams that ``Service/relays`` has is asked, as the gateway does it.
    private var order = UpstreamOrder<Digest>(count: 2)
    private let lane: LaneID
    private var submissions: [(at: Duration, device: Int, circuit: Int)] = []
    private var requests: [Request] = []
    /// When each was stored, by its sequence number, with its device.
    private var stored: [Int64: (device: Int, at: Duration)] = [:]
    private var nextSequence: Int64 = 1
    private var left: Set<Int64> = []
    private var number = 0
    private(set) var violation: String?
    private(set) var attempts: [Duration] = []
    private(set) var longest: Duration = .zero
    private(set) var leftInMinute: [Int: Int] = [:]

    init(seed: UInt64, _ plan: Plan, canary: Canary? = nil) {
        self.plan = plan
        self.canary = canary
        random = SeededRandom(state: seed)
        now = start
        lane =
            plan.service == .webPush
            ? LaneID(app: "web", host: LaneHost("https://push.example")) : World.android
        var limits = Admission.Limits()
        limits.tokenRate = 100
        limits.tokenBurst = 100
        let web = SampleService("web_push", for: [.android], prefix: "wp1:")
        let apps = [("android", SampleService.android), ("web", web)].map { name, service in
            App(name: name, service: service, isEnabled: true)
        }
        pipeline = Pipeline(
            validator: Validator(apps: apps, defaultIOS: "", defaultAndroid: "android"), limits: limits)
        _ = pipeline.add(lane)
        bringAll()
    }

    /// The poison's numbers begin here.
    private static let poisoned = 10_000

    private func bringAll() {
        let count = plan.poison
        let length = Int(PoisonWorld.length / .milliseconds(1))
        for device in 0..<count { bring(device, at: device) }
        var again = draw(4000)
        var fresh = count
        while plan.renewal != .never, again < length {
            if plan.renewal == .sameTokens {
                bring(draw(count), at: again)
            } else {
                bring(fresh, at: again)
                fresh += 1
            }
            // All of a set within a minute, up to five a second.
            again += 1 + draw(2 * max(200, 60_000 / count))
        }
        var at = draw(1000)
        while at < length {
            let circuit = 1000 + submissions.count
            submissions.append((.milliseconds(at), draw(PoisonWorld.healthy), circuit))
            at += 1 + draw(2 * 60_000 / PoisonWorld.submittedPerMinute)
        }
        submissions.sort { $0.at < $1.at }
    }

    private func bring(_ poison: Int, at milliseconds: Int) {
        submissions.append(
            (.milliseconds(milliseconds), PoisonWorld.poisoned + poison, draw(plan.circuits)))
    }

    private func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    private var time: Duration { now.monotonic - start.monotonic }
    private func fail(_ what: String) {
        if violation == nil { violation = "\(plan): after \(time), \(what)" }
    }

    // MARK: A history

    func run() {
        var next = 0
        while violation == nil {
            let wake = pipeline.wakeAt
            var due = PoisonWorld.length
            if wake < .max { due = min(due, wake - start.monotonic) }
            if next < submissions.count { due = min(due, submissions[next].at) }
            let answer = requests.indices.min { requests[$0].at < requests[$1].at }
            if let answer { due = min(due, requests[answer].at) }
            guard due < PoisonWorld.length else { break }
            pass(to: due)
            if next < submissions.count, submissions[next].at <= time {
                submit(submissions[next])
                next += 1
            } else if let answer, requests[answer].at <= time {
                self.answer(requests.remove(at: answer))
            } else {
                pipeline.wake(at: now, clockOffset: start.unix.milliseconds)
            }
            carryOut()
        }
        if violation == nil { check() }
    }

    private func pass(to due: Duration) {
        guard due > time else { return }
        let step = due - time
        now.monotonic = now.monotonic + step
        now.unix = start.unix + time
    }

    private func submit(_ one: (at: Duration, device: Int, circuit: Int)) {
        number += 1
        let digits = String(one.device)
        let text = String(repeating: "x", count: 40 - digits.count) + digits
        var submission = Submission(
            uid: "uid\(number)", platform: .android,
            deviceToken: plan.service == .webPush ? "wp1:https://push.example/\(text)" : text,
            message: String(repeating: "A", count: 40))
        submission.sender = SenderID(one.circuit)
        let digests = SubmissionDigests(
            token: Digest(high: 0, low: UInt64(one.device)), identity: Digest(high: 1, low: UInt64(number)),
            content: Digest(high: 2, low: UInt64(number)))
        let submitted = pipeline.submit(submission, at: now) { _ in digests }
        guard case .storing = submitted else {
            // What poison finds no place is turned away.
            if one.device < PoisonWorld.healthy { fail("a healthy device's notification got \(submitted)") }
            return
        }
        guard pipeline.beginCommit(at: now) != nil else { return fail("no commit") }
        stored[nextSequence] = (one.device, time)
        pipeline.committed([.stored(sequence: nextSequence)], at: now)
        nextSequence += 1
    }

    private func carryOut() {
        var effects: [Effect] = []
        repeat {
            var stirred: [Int] = []
            pipeline.takeStirred(&stirred)
            for lane in stirred { pipeline.pump(lane, room: room - requests.count, at: now) }
            effects.removeAll()
            pipeline.takeEffects(into: &effects)
            for effect in effects {
                switch effect {
                case .send(let handle, let notification, _): send(handle, notification)
                case .commitSoon:
                    if pipeline.beginCommit(at: now) != nil { pipeline.committed([], at: now) }
                default: break
                }
            }
        } while !effects.isEmpty
    }

    // MARK: The gateway

    /// Requests at once.
    private var room: Int {
        switch plan.service {
        case .direct, .webPush: 100
        case .ntfy: 2
        case .relay, .relays: 4
        }
    }

    /// Milliseconds.
    private var roundTrip: Int {
        switch plan.service {
        case .direct, .webPush: 50 + draw(100)
        case .ntfy: 30 + draw(50)
        // With the room that it has, about what its pace lets through.
        case .relay, .relays: 100 + draw(200)
        }
    }

    private func send(_ handle: Pipeline.Handle, _ notification: Notification) {
        guard let (device, at) = stored[handle.sequence] else { return fail("sent without being stored") }
        if left.insert(handle.sequence).inserted, device < PoisonWorld.healthy {
            longest = max(longest, time - at)
            leftInMinute[Int(time / .seconds(60)), default: 0] += 1
            if plan.outage == .zero, time - at > PoisonWorld.stated(plan) {
                fail("a healthy device's notification left only after \(time - at)")
            }
        }
        attempts.append(time)
        requests.append(
            Request(
                handle: handle, notification: notification, token: Digest(high: 0, low: UInt64(device)),
                upstream: order.place(of: notification.id), at: time + .milliseconds(roundTrip)))
    }

    private func answer(_ request: Request) {
        let isPoison = request.token.low >= UInt64(PoisonWorld.poisoned)
        var outcome = isPoison || time < plan.outage ? failure : .accepted
        if plan.service == .relays { outcome = passOn(request, outcome) }
        pipeline.attemptEnded(request.handle, outcome, at: now, using: &random)
    }

    private func passOn(_ request: Request, _ outcome: Outcome) -> Outcome {
        let (index, id) = (request.upstream, request.notification.id)
        for back in order.takeDue(at: now.monotonic) { order.connected(back) }
        guard case .deferred(let deferral) = outcome else {
            if outcome == .accepted {
                order.answered(index, request.token)
                order.ended(id)
            }
            return outcome
        }
        let isBelieved = order.failed(
            index, request.token, from: request.notification.sender, witnesses: deferral.witnesses,
            at: now.monotonic)
        if isBelieved, order.setAside(index, for: deferral.retryAfter, at: now.monotonic) {
            order.ended(id)
        } else if !order.detour(id, from: index) {
            return outcome
        }
        return .deferred(Deferral(reason: deferral.reason, scope: .device, isUnharmed: true))
    }

    private var failure: Outcome {
        func deferred(_ seconds: Int?, _ scope: Deferral.Scope = .host, witnesses: Int = 3) -> Outcome {
            .deferred(
                Deferral(
                    reason: "x", scope: scope, retryAfter: seconds.map { .seconds($0) },
                    witnesses: canary == .believesEveryToken ? 1 : witnesses))
        }
        let blocked = Outcome.blocked(reason: "x")
        let outcomes: [Outcome] =
            switch plan.service {
            case .direct: [deferred(10), deferred(nil), deferred(60, witnesses: 2), deferred(30), blocked]
            case .relay, .relays: [deferred(300), deferred(60), deferred(10, .app), deferred(nil), blocked]
            case .ntfy: [deferred(10), deferred(nil), deferred(3600), blocked]
            case .webPush: [deferred(60), deferred(3600), deferred(nil), blocked]
            }
        // What one token is told, and what all are told, differs from history to history only.
        return outcomes[kind % outcomes.count]
    }

    private lazy var kind = draw(1000)

    // MARK: What must hold

    private func check() {
        if plan.outage > .zero { return checkOutage() }
        let waiting = stored.filter { !left.contains($0.key) && $0.value.device < PoisonWorld.healthy }
        if let oldest = waiting.values.map({ time - $0.at }).max(), oldest > PoisonWorld.stated(plan) {
            fail("a healthy device's notification has not left after \(oldest)")
        }
        for minute in 0..<Int(PoisonWorld.length / .seconds(60)) {
            let count = leftInMinute[minute] ?? 0
            if count < PoisonWorld.perMinute {
                fail("\(count) to healthy devices left in minute \(minute)")
            }
        }
    }
}

extension PoisonWorld {
    /// A gateway that is away for all is asked now and then, the more rarely the longer it lasts, and all leaves soon after.
    private func checkOutage() {
        let begin = attempts.count { $0 < .seconds(60) }
        let during = attempts.count { $0 >= .seconds(60) && $0 < plan.outage }
        let minutes = Int((plan.outage - .seconds(60)) / .seconds(60))
        if begin > 150 { fail("\(begin) attempts in the first minute of an outage") }
        if during > 100 * minutes { fail("\(during) attempts in \(minutes) minutes of an outage") }
        if during < 2 * minutes { fail("\(during) attempts in \(minutes) minutes: its end is not seen") }
        let waiting = stored.count { !left.contains($0.key) && $0.value.device < PoisonWorld.healthy }
        // By its pace another relay takes longer for what has gathered.
        let isPaced = plan.service == .relay || plan.service == .relays
        // Whoever has asked for an hour is asked the more rarely the longer it lasts.
        var isAskedForLong = false
        if case .deferred(let deferral) = failure {
            isAskedForLong = deferral.retryAfter ?? .zero > .seconds(60)
        }
        if waiting > 10, !isPaced, !isAskedForLong {
            fail("\(waiting) to healthy devices have not left a minute after an outage")
        }
    }

    /// No poison, and nobody is answered for a while.
    static func outages(_ seed: UInt64) -> [Plan] {
        Service.allCases.map {
            Plan(service: $0, poison: 0, circuits: 1, renewal: .never, outage: .seconds(200))
        }
    }

    /// All of one seed.
    static func plans(_ seed: UInt64) -> [Plan] {
        var random = SeededRandom(state: seed)
        return Service.allCases.flatMap { service in
            poisonSets.map { poison in
                Plan(
                    service: service, poison: poison,
                    circuits: [1, 3, 10, 200].randomElement(using: &random)!,
                    renewal: Renewal.allCases.randomElement(using: &random)!)
            }
        }
    }
}
