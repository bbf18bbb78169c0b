import Clocks
import Vectors

@testable import Relay

/// One of several nodes: a core, what it has on its way to the store and the gateways, and its clocks.
final class ClusterNode {
    enum State: Equatable {
        /// Until then, in nanoseconds.
        case down(Int64)
        /// It waits until others have given up something. Since when, and when it looks again.
        case joining(Int64, next: Int64)
        case running
    }

    enum Request {
        case commit([OutboxChange])
        case claim(Claim)
        case load([Int64], LaneID)
        case divide(ShareRequest)
    }

    let number: Int
    unowned let cluster: Cluster
    var state: State
    private(set) var process = 0
    var pipeline = WorldScale.cluster.pipeline(isShared: true)
    var senders = ModelSenders()
    var session: ModelSession?
    /// What the store does one after the other, and when it is done with the next step of the first.
    var requests: [Request] = []
    var requestAt: Int64 = 0
    var commit: ModelCommit?
    var isCommitAsked = false
    var attempts: [World.Attempt] = []
    /// When each came in that this process has accepted, by its identity.
    var submittedAt: [Digest: Int64] = [:]
    var isStopping = false
    private var mustEnd = false

    /// It stands still since and until then, in nanoseconds, and perhaps its monotonic clock with it.
    private(set) var pausedSince: Int64 = 0
    var pausedUntil: Int64?
    private var standsStill = false
    /// It has stood still with its clock for longer than its lease, and has heard nothing of the store since.
    var isUnaware = false
    /// The commit that is on its way was so before that.
    var isCommitOld = false
    /// Nanoseconds by which its monotonic clock is behind, and milliseconds by which its wall clock is ahead.
    var stood: Int64 = 0
    let skew: Int64
    /// When it hears that others have put something there for it.
    var toldAt: [Int64] = []
    /// It reaches the store again at that time.
    var cutUntil: Int64 = 0

    init(_ number: Int, in cluster: Cluster) {
        self.number = number
        self.cluster = cluster
        state = .down(cluster.milliseconds(6000))
        skew = cluster.hasWrongClocks ? [0, 3_600_000, -3_600_000][cluster.draw(3)] : 0
    }

    var time: Int64 { cluster.time }
    var isUp: Bool { state == .running && pausedUntil == nil && !isStopping }
    var isReachable: Bool { cutUntil <= time }
    var isIdle: Bool { requests.isEmpty && attempts.isEmpty && !isCommitAsked }
    var wallClock: Int64 { time + skew * 1_000_000 }
    var now: Instant {
        Instant(
            unix: UnixTime(milliseconds: cluster.unixMilliseconds + skew),
            monotonic: MonotonicTime(
                nanoseconds: 1_000_000_000_000 + Int64(number) * 77_000_000_000 + time - stood))
    }
    var clockOffset: Int64 { now.unix.milliseconds - now.monotonic.nanoseconds / 1_000_000 }

    // MARK: From the start to the end

    /// Whatever it would do now.
    func work() {
        if let pausedUntil {
            guard pausedUntil <= time else { return }
            wakeUp()
        }
        switch state {
        case .down(let until):
            if until <= time, isReachable { join() }
        case .joining(let since, let next):
            guard next <= time else { return }
            guard isReachable, time - since < 20_000_000_000 else {
                state = .down(time + 1_000_000_000)
                return
            }
            takeFirstShards(since)
        case .running: run()
        }
    }

    private func join() {
        process = cluster.nextProcess()
        let fence = cluster.database.enter(process, of: number, clock: wallClock)
        fenceOfStart = fence
        cluster.noteOusted()
        takeFirstShards(time)
    }

    private var fenceOfStart: Int64 = 0

    private func takeFirstShards(_ since: Int64) {
        let most = Shards.most(nodes: cluster.database.living)
        let hasAny = cluster.database.takeFree(most, for: number, fence: fenceOfStart, clock: wallClock)
        cluster.noteOusted()
        guard let hasAny else {
            state = .down(time + 1_000_000_000)
            return
        }
        guard hasAny else {
            state = .joining(since, next: time + 250_000_000)
            return
        }
        begin()
    }

    private func begin() {
        let session = ModelSession(process, of: number, fence: fenceOfStart, in: &cluster.database)
        self.session = session
        state = .running
        pipeline = WorldScale.cluster.pipeline(isShared: true)
        for lane in World.lanes { _ = pipeline.add(lane) }
        noteSeen()
        pipeline.start(
            cluster.database.outbox.content(of: session.owned), at: now, clockOffset: clockOffset)
        carryOut()
    }

    /// What it has seen of what is in the store.
    func noteSeen() {
        for sequence in session?.takeUnseen() ?? [] { cluster.books.see(sequence, in: process, at: time) }
    }

    /// The process is gone: killed, or at its end.
    func end(restartAfter: Int64) {
        cluster.books.orphan(process)
        for attempt in attempts where attempt.verdict.isTaken && !attempt.verdict.isTakenOnArrival {
            if cluster.draw(2) == 0 { cluster.take(attempt, in: process) }
        }
        if let commit, let session, cluster.draw(2) == 0 { cluster.ghosts.append((commit, session)) }
        commit = nil
        session = nil
        attempts = []
        requests = []
        isCommitAsked = false
        isStopping = false
        mustEnd = false
        pausedUntil = nil
        isUnaware = false
        isCommitOld = false
        senders.crash()
        submittedAt = [:]
        toldAt = []
        state = .down(time + restartAfter)
    }

    func stop() {
        isStopping = true
        pipeline.stop(at: now, deadline: now.monotonic + .nanoseconds(cluster.milliseconds(10_000)))
        carryOut()
    }

    /// It is started again.
    func comeBack() {
        if case .down(let until) = state { state = .down(min(until, time + 1_000_000_000)) }
    }

    func pause(until: Int64, standsStill: Bool) {
        pausedSince = time
        pausedUntil = until
        self.standsStill = standsStill
        // What it has not sent yet it sends when it wakes.
        if let commit, commit.results == nil, cluster.draw(2) == 0 { commit.dueAt = until }
    }

    private func wakeUp() {
        pausedUntil = nil
        guard standsStill else { return }
        stood += time - pausedSince
        isUnaware = true
        isCommitOld = commit != nil
    }

    /// Its connection to the store is lost, and there is none until then.
    func cut(until: Int64) {
        cutUntil = max(cutUntil, until)
        session?.disconnect()
        if let commit, commit.results == nil, cluster.draw(2) == 0 { commit.isDropped = true }
    }

    // MARK: One turn

    private func run() {
        serve()
        if toldAt.contains(where: { $0 <= time }) {
            toldAt.removeAll { $0 <= time }
            pipeline.arrivalsNotified(at: now)
        }
        if !mustEnd, cluster.draw(10) > 0, pipeline.wakeAt <= now.monotonic {
            pipeline.wake(at: now, clockOffset: clockOffset)
            carryOut()
        }
        while let due = attempts.firstIndex(where: { $0.answeredAt.nanoseconds <= time }) { answer(due) }
        var stirred: [Int] = []
        pipeline.takeStirred(&stirred)
        for lane in stirred { pump(lane) }
        beginCommit()
        if mustEnd { end(restartAfter: cluster.milliseconds(3000)) }
    }

    private func beginCommit() {
        guard isCommitAsked else { return }
        isCommitAsked = false
        guard var changes = pipeline.beginCommit(at: now) else { return }
        if cluster.canary == .givesUpWhatIsUnderWay, case let leaving = pipeline.cluster.leaving,
            !leaving.isEmpty
        {
            changes.append(.giveUp(Shards(attempts.map { Shards.number(of: $0.token) })))
        }
        add(.commit(changes))
        carryOut()
    }

    func submit(_ submission: Submission, awaitsOutcome: Bool) {
        var identities: [Digest] = []
        let waiting = pipeline.waiting
        let submitted = pipeline.submit(submission, from: 0, awaitsOutcome: awaitsOutcome, at: now) {
            let digests = World.digests(submission, to: $0).spread
            identities.append(digests.identity)
            return digests
        }
        if case .storing(let reply, _) = submitted {
            senders.submit(
                ModelSenders.Sender(
                    identities: identities, awaitsOutcome: awaitsOutcome,
                    isLookup: pipeline.waiting == waiting), as: reply, cluster.fail)
            for identity in identities where submittedAt[identity] == nil && pipeline.waiting > waiting {
                submittedAt[identity] = time
            }
        }
        carryOut()
    }

    private func pump(_ lane: Int) {
        let id = pipeline.lanes[lane].id
        let room = WorldScale.cluster.requestsAtOnce - attempts.count(where: { $0.lane == id })
        guard room > 0 else { return }
        pipeline.pump(lane, room: room, at: now)
        carryOut()
    }

    private func answer(_ index: Int) {
        let attempt = attempts.remove(at: index)
        if attempt.verdict.isTaken, !attempt.verdict.isTakenOnArrival { cluster.take(attempt, in: process) }
        cluster.books.answered(attempt, in: process)
        pipeline.attemptEnded(attempt.handle, attempt.verdict.outcome, at: now, using: &cluster.random)
        carryOut()
        if let lane = pipeline.lane(of: attempt.lane) { pump(lane) }
    }

    // MARK: Effects

    func carryOut() {
        var effects: [Effect] = []
        pipeline.takeEffects(into: &effects)
        while cluster.violation == nil, !effects.isEmpty {
            for effect in effects { run(effect) }
            effects.removeAll()
            pipeline.takeEffects(into: &effects)
        }
    }

    private func run(_ effect: Effect) {
        switch effect {
        case .tell(let reply, let receipt, let isLast):
            senders.hear(reply, receipt, isLast: isLast, in: cluster.database.outbox, cluster.fail)
        case .drop(let reply): senders.drop(reply, cluster.fail)
        case .send(let handle, let notification, let lane):
            let id = pipeline.lanes[lane].id
            let token = World.spread(World.digest(ofToken: notification.deviceToken.text, in: id))
            let attempt = World.Attempt(
                handle: handle, lane: id, notification: notification, token: token,
                verdict: cluster.verdict(for: id),
                answeredAt: MonotonicTime(nanoseconds: time + cluster.milliseconds(300)))
            cluster.checkBegun(attempt, by: self)
            attempts.append(attempt)
            if attempt.verdict.isTakenOnArrival { cluster.take(attempt, in: process) }
        case .load(let sequences, let lane): add(.load(sequences, pipeline.lanes[lane].id))
        case .claim(let claim): add(.claim(claim))
        case .divide(let request): add(.divide(request))
        case .commitSoon: isCommitAsked = true
        case .stopped:
            if let session, session.isConnected, isReachable {
                cluster.database.leave(number, fence: session.fence)
            }
            mustEnd = true
        case .outboxFailed(.taken): mustEnd = true
        case .ended(let end): cluster.books.end(end.sequence, in: process)
        case .laneOpened, .laneClosed, .kept, .blocked, .unblocked, .trouble, .outboxFailed, .outboxRecovered,
            .clockSet,
            .shared, .received, .neverStored, .refused, .deferred, .committed:
            break
        }
    }
}
