import Clocks
import Vectors

@testable import Relay

/// Two or three nodes with one store between senders and gateways that misbehave. Nodes are killed, stopped, paused for
/// longer than their lease, cut off from the store; answers of commits get lost; clocks are an hour off. One seed is one
/// history: times of trouble, each followed by one of calm, in which all has to come right within a bounded time.
final class Cluster {
    let canary: Canary?
    var random: SeededRandom
    /// What is right: nanoseconds.
    var time: Int64 = 0
    var database: ModelDatabase
    var gateway = ModelGateway()
    var nodes: [ClusterNode] = []
    var books = ClusterBooks()
    private(set) var violation: String?
    private(set) var steps = 0
    /// Nanoseconds since which nothing goes wrong; `nil`: it does.
    var calmSince: Int64?
    /// Some nodes' clocks are an hour ahead or behind.
    let hasWrongClocks: Bool
    /// Senders rest.
    var isDraining = false
    /// Commits whose process has ended, and what it knew.
    var ghosts: [(commit: ModelCommit, session: ModelSession)] = []
    var submitted: [Submission] = []
    var nextUid = 0
    private var processes = 0

    // What has happened.
    var kills = 0
    var pauses = 0
    var stops = 0
    var outages = 0

    static let rounds = 3
    private static let trouble: Int64 = 40_000_000_000
    private static let calm: Int64 = 30_000_000_000
    /// All that waits goes out within this time after the trouble: a lane's pause of a minute, a second one that has begun
    /// meanwhile, and what has piled up.
    private static let bound: Int64 = 240_000_000_000
    /// What one node has put off, by its clock, is put off at another one by the difference of their clocks longer: up to two
    /// hours, and what was to be waited for.
    private static let boundOfWrongClocks: Int64 = 9_000_000_000_000

    init(seed: UInt64, canary: Canary? = nil) {
        self.canary = canary
        random = SeededRandom(state: seed)
        hasWrongClocks = seed % 3 == 0 || canary == .leasesByTheNodesClock
        database = ModelDatabase(canary: canary)
        for number in 0..<(2 + draw(2)) { nodes.append(ClusterNode(number, in: self)) }
    }

    func fail(_ what: String) {
        if violation == nil { violation = "\(time / 1_000_000) ms, step \(steps): \(what)" }
    }

    func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    func milliseconds(_ most: Int) -> Int64 { Int64(draw(most)) * 1_000_000 }

    func nextProcess() -> Int {
        processes += 1
        return processes
    }

    // MARK: A history

    func run() {
        for _ in 0..<Cluster.rounds where violation == nil {
            let end = time + Cluster.trouble
            while time < end, violation == nil { step() }
            heal()
            let rest = time + Cluster.calm
            while time < rest, violation == nil { step() }
            calmSince = nil
            nodes.last?.comeBack()
        }
        if violation == nil { drain() }
    }

    /// Trouble ends and senders rest: everything must come to its end.
    private func drain() {
        heal()
        isDraining = true
        let end = time + Cluster.bound + (hasWrongClocks ? Cluster.boundOfWrongClocks : 0)
        while time < end, violation == nil, !isDone { step() }
        if violation == nil { checkEnd() }
    }

    private var isDone: Bool {
        database.outbox.rows.isEmpty
            && nodes.allSatisfy {
                $0.isIdle && $0.pipeline.waiting == 0 && $0.senders.listening.isEmpty
            }
    }

    /// Only clocks are waited for, in large steps.
    var isLate: Bool { calmSince.map { time - $0 > Cluster.bound } ?? false }

    private func step() {
        steps += 1
        time += milliseconds(calmSince == nil ? 40 : isLate ? 2000 : 80)
        database.time = time
        if calmSince == nil { disturb() }
        makeCommits()
        for index in nodes.indices.shuffled(using: &random) where violation == nil { nodes[index].work() }
        if !isDraining, draw(2) == 0 { submit() }
        check()
    }

    /// The database does what is on its way to it, whoever waits for that.
    private func makeCommits() {
        for node in nodes { node.makeCommit() }
        for index in ghosts.indices where ghosts[index].commit.dueAt <= time {
            make(ghosts[index].commit, with: &ghosts[index].session, clock: time)
        }
        ghosts.removeAll { $0.commit.dueAt <= time }
        noteOusted()
    }

    func noteOusted() {
        for process in database.ousted { books.orphan(process) }
        database.ousted = []
    }

    func make(_ commit: ModelCommit, with session: inout ModelSession, clock: Int64) {
        let isRepeated = books.repeating.contains(commit.process)
        session.make(commit, in: &database, clock: clock) { if !isRepeated { fail($0) } }
        guard commit.results != nil, !commit.isBooked else { return }
        commit.isBooked = true
        checkMade(commit)
        tellOwners(commit)
        forget(database.outbox.takeForgotten())
    }

    /// Of what others have stored for them: at once, or late, or never.
    private func tellOwners(_ commit: ModelCommit) {
        var shards = Shards.none
        for case .store(let request) in commit.changes where !request.destination.isHere {
            shards[Shards.number(of: request.digests.token)] = true
        }
        for node in nodes where !shards.intersection(database.shards(of: node.number)).isEmpty {
            guard draw(4) > 0 else { continue }
            node.toldAt.append(time + milliseconds(draw(4) == 0 ? 5000 : 10))
        }
    }

    func forget(_ identities: [Digest]) {
        for identity in identities {
            if database.outbox.identities[identity] == nil { books.forget(identity) }
            for node in nodes { node.senders.forget(identity) }
        }
    }

    // MARK: Senders

    private func submit() {
        let up = nodes.filter(\.isUp)
        guard !up.isEmpty else { return }
        let node = up[draw(up.count)]
        var submission: Submission
        if draw(5) == 0, !submitted.isEmpty {
            // A sender that heard nothing comes again, to whichever node.
            submission = submitted[draw(submitted.count)]
        } else {
            nextUid += 1
            let digits = String(nextUid)
            submission = Submission(
                uid: draw(5) == 0 ? nil : "uid\(nextUid)", platform: [.android, .ios, .iosDev][draw(3)],
                deviceToken: World.deviceTokens[draw(World.deviceTokens.count)],
                message: String(repeating: "A", count: 40 - digits.count) + digits, isUrgent: draw(4) == 0,
                expiresAt: draw(8) == 0
                    ? UnixTime(milliseconds: unixMilliseconds) + .milliseconds(draw(20_000)) : 0)
            if submitted.count < 30 { submitted.append(submission) } else { submitted[draw(30)] = submission }
        }
        node.submit(submission, awaitsOutcome: draw(2) == 0)
        // Some at two nodes at once.
        if draw(20) == 0 { up[draw(up.count)].submit(submission, awaitsOutcome: draw(2) == 0) }
    }

    var unixMilliseconds: Int64 { 20_000 * 86_400_000 + time / 1_000_000 }

    func verdict(for lane: LaneID) -> ModelGateway.Verdict {
        let verdict = gateway.verdict(for: lane, using: &random)
        guard case .deferred(var deferral) = verdict.outcome, let wish = deferral.retryAfter else {
            return verdict
        }
        // Nobody asks for days: all that waits has to go out within a bounded time.
        deferral.retryAfter = min(wish, .seconds(3))
        return ModelGateway.Verdict(
            outcome: .deferred(deferral), isTaken: verdict.isTaken,
            isTakenOnArrival: verdict.isTakenOnArrival)
    }
}
