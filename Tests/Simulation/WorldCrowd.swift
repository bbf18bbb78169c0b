import Clocks

@testable import Relay

/// Thousands of phones, each with a fate of its own; one circuit that floods; a service that has trouble. Everything
/// around the pipeline answers at once or after a fraction of a second, so that a bound holds for how long a healthy phone
/// waits.
extension World {
    /// What its service says of a phone.
    private enum Fate { case healthy, overloaded, blocked, throttled, dead, silent }

    /// A healthy phone's notification that has not left yet.
    struct Healthy {
        var since: MonotonicTime
        var lane: LaneID
        let token: Digest
    }

    static let phones = 3000
    /// A healthy phone's notification leaves within this time, whatever the others are answered.
    static let stated: Duration = .seconds(40)
    /// Within this time after something has happened to its own lane, the disk or the process: a minute's pause, a minute
    /// in which the lane's window grows again, and what has piled up.
    static let statedAfterFault: Duration = .seconds(180)
    /// A hundred and fifty seconds or so.
    private static let stepsPerPhase = 1500

    private static func fate(of phone: UInt64, in lane: LaneID) -> Fate {
        // An account that Apple has closed.
        guard lane.host == .production else { return .blocked }
        return switch phone % 50 {
        case 0: .overloaded
        case 1: .blocked
        case 2: .throttled
        case 3: .dead
        case 4: .silent
        case _: .healthy
        }
    }

    func crowdStep() {
        steps += 1
        if steps % World.stepsPerPhase == 1 { changePhase() }
        if let trouble { noteFault(trouble) }
        // What a wrong clock calls expired waits until it is put right.
        if clockError != 0 { World.lanes.forEach(noteFault) }
        pass(.milliseconds(draw(200)))
        for _ in 0..<draw(4) { submitToCrowd(phone: draw(World.phones), lane: draw(5) == 0 ? 2 : draw(2)) }
        if let flooded {
            for _ in 0..<10 { submitToCrowd(phone: draw(World.phones), lane: flooded, from: SenderID(0)) }
        }
        if hasFaults, draw(1500) == 0 { disturb() }
        if isStopping { crash() }
        work()
        check()
        if steps % 64 == 0 { checkHealthy() }
    }

    private func changePhase() {
        flooded = draw(3) > 0 ? draw(World.lanes.count) : nil
        if let trouble { gateway.change(trouble, to: .well) }
        trouble = draw(3) == 0 ? World.lanes[draw(2)] : nil
        if let trouble { gateway.change(trouble, to: [.blocked, .silent, .leaving][draw(3)]) }
    }

    private func disturb() {
        switch draw(8) {
        case 0: crash()
        case 1: jump()
        case 2, 3: operate()
        case 4:
            beginCommit()
            endCommit(succeeds: false)
            World.lanes.forEach(noteFault)
        default:
            let lane = World.lanes[draw(World.lanes.count)]
            present.remove(lane)
            pipeline.remove(lane)
            noteFault(lane)
        }
    }

    /// All that is to be done is done.
    private func work() {
        for lane in World.lanes where !present.contains(lane) && draw(50) == 0 {
            noteFault(lane)
            add(lane)
            carryOut()
        }
        for _ in 0..<3 {
            wake()
            beginCommit()
            endCommit(succeeds: true)
            while !loads.isEmpty { endLoad(succeeds: true) }
            while !claims.isEmpty { endClaim(succeeds: true) }
            pump()
            while let due = attempts.firstIndex(where: { $0.answeredAt <= now.monotonic }) {
                answer(due)
            }
        }
    }

    private func submitToCrowd(phone: Int, lane index: Int, from sender: SenderID? = nil) {
        let lane = World.lanes[index]
        let fate = World.fate(of: UInt64(phone), in: lane)
        // Healthy ones have time to wait: those in trouble leave room again.
        let life: Int64 = fate == .healthy ? 3_600_000 : 120_000
        let digits = String(phone, radix: 16)
        let unit = String(repeating: "0", count: 8 - digits.count) + digits
        var submission = Submission(
            uid: "uid\(nextUid)", platform: [.android, .ios, .iosDev][index],
            deviceToken: String(repeating: unit, count: 8), message: fresh(), isUrgent: draw(10) == 0,
            expiresAt: now.unix + .milliseconds(life))
        // Most circuits bring one or two.
        submission.sender = sender ?? SenderID(1 + nextUid)
        submission.patience = [.none, .short, .full][draw(3)]
        let room = pipeline.lanes.first { $0.id == lane && !$0.stage.isGone }?.taken.count ?? 0
        let full = busyLanes
        submit(submission, awaitsOutcome: draw(4) == 0)
        guard busyLanes > full, sender == nil, room < scale.limits.waiting / 10 - 1,
            room < 60 || pipeline.lanes[pipeline.lane(lane)].standing.isProven
        else { return }
        fail("\(lane) has \(room) waiting, and is called full")
    }

    /// Submissions that found no room in their lane.
    private var busyLanes: Int {
        let full = Receipt.busy(.node(retryAfter: Admission.retryWhenFull))
        return pipeline.commits.tickets.count { $0.purpose == .lookUp(refusal: full) }
    }

    // MARK: Bounds

    /// From now on the time of a lane's phones counts.
    func noteFault(_ lane: LaneID) { disturbedAt[lane] = now.monotonic }

    func noteAccepted(_ sequence: Int64, _ notification: Notification, token: Digest) {
        let sender = bringers.removeValue(forKey: notification.id.identity)
        if let sender { shares.accept(sequence, of: sender, in: notification.lane) }
        guard isCrowd, World.fate(of: token.low, in: notification.lane) == .healthy,
            !putOff.contains(token)
        else { return }
        healthySince[sequence] = Healthy(
            since: now.monotonic, lane: notification.lane, token: token)
    }

    func noteSent(_ sequence: Int64) {
        guard let healthy = healthySince.removeValue(forKey: sequence) else { return }
        healthyLeft += 1
        check(sequence, healthy)
    }

    /// One that failed in its service's trouble is put off by itself for longer, and so are those behind it.
    func noteAnswer(_ outcome: Outcome, to token: Digest) {
        guard isCrowd else { return }
        if case .deferred(let deferral) = outcome, deferral.isUnharmed { return }
        guard outcome != .accepted else {
            putOff.remove(token)
            return
        }
        putOff.insert(token)
        healthySince = healthySince.filter { $0.value.token != token }
    }

    private func check(_ sequence: Int64, _ healthy: Healthy) {
        let (since, lane) = (healthy.since, healthy.lane)
        let faultAt = disturbedAt[lane] ?? 0
        let isCalm = since - faultAt > World.statedAfterFault
        let waits = now.monotonic - max(since, faultAt)
        if isCalm { longestCalmWait = max(longestCalmWait, waits) }
        if waits > (isCalm ? World.stated : World.statedAfterFault) {
            fail("\(sequence), to a healthy phone, has waited for \(waits.milliseconds) ms (\(isCalm))")
        }
    }

    private func checkHealthy() {
        for (sequence, healthy) in healthySince { check(sequence, healthy) }
    }

    func crowdVerdict(_ token: Digest, in lane: LaneID) -> ModelGateway.Verdict {
        let verdict = gateway.verdict(for: lane, using: &random)
        guard verdict.outcome == .accepted, hasFaults else { return verdict }
        func hears(_ outcome: Outcome) -> ModelGateway.Verdict {
            ModelGateway.Verdict(outcome: outcome, isTaken: false, isTakenOnArrival: false)
        }
        switch World.fate(of: token.low, in: lane) {
        case .healthy: return verdict
        case .overloaded:
            return hears(.deferred(Deferral(reason: "503", scope: .host, retryAfter: .seconds(10))))
        case .blocked: return hears(.blocked(reason: "closed"))
        case .throttled:
            return hears(.deferred(Deferral(reason: "429", scope: .device, retryAfter: .seconds(3600))))
        case .dead: return hears(.tokenDead(reason: "Unregistered", since: nil))
        case .silent: return hears(.deferred(Deferral(reason: "silence", scope: .host)))
        }
    }

    /// A lane has another's phones: they keep their fates, and count for nobody.
    func noteMove(_ lane: LaneID, _ target: LaneID) {
        shares.forget(lane)
        noteFault(target)
        for (sequence, entry) in healthySince where entry.lane == lane {
            healthySince[sequence]?.lane = target
        }
    }
}
