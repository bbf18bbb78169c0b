import Clocks
import Vectors

@testable import Relay

/// Push servers of several origins, and an app beside them, in time that the test makes up. Each gateway has room of its
/// own, and what a phone's server answers, and after how long, the test says. What counts is when each notification leaves
/// for the first time.
final class OriginPlay {
    struct Phone: Hashable {
        /// `nil`: of the app beside. Without a dot: the server that the operator has named.
        let origin: String?
        let number: Int
    }

    private let node = Node()
    private let start = Sample.start.monotonic
    private var submissions: [(at: Duration, phone: Phone, circuit: Int?)] = []
    private var answers: [(at: Duration, handle: Pipeline.Handle, phone: Phone, lane: LaneID)] = []
    /// By sequence number.
    private var submitted: [Int64: (phone: Phone, at: Duration)] = [:]
    private var leftAfter: [Int64: Duration] = [:]
    private var accepted: Set<Int64> = []
    /// What was not let in.
    private(set) var turnedAway: [Phone] = []
    /// Lanes to origins that have a gateway, and those that have given theirs away.
    private(set) var mostOrigins = 0
    private(set) var mostParked = 0
    private var number = 0

    private static let room = 100

    init(seed: UInt64) {
        node.random = SeededRandom(state: seed)
        _ = node.pipeline.add(Node.android)
        _ = node.pipeline.add(LaneID(app: "web", host: .production))
        node.pipeline.start(OutboxContent(), at: node.now, clockOffset: 0)
    }

    private var time: Duration { node.now.monotonic - start }

    func submit(to phone: Phone, at time: Duration, by circuit: Int? = nil) {
        submissions.append((time, phone, circuit))
    }

    /// - Parameter outcome: Of a request, and how long it takes.
    func run(until end: Duration, _ outcome: (Phone) -> (Outcome, after: Duration)) {
        submissions.sort { $0.at < $1.at }
        var next = 0
        while true {
            let wake = node.pipeline.wakeAt
            var due = wake == .max ? end : wake - start
            if next < submissions.count { due = min(due, submissions[next].at) }
            let answer = answers.indices.min { answers[$0].at < answers[$1].at }
            if let answer { due = min(due, answers[answer].at) }
            guard due < end else { break }
            if due > time { node.pass(due - time) }
            if next < submissions.count, submissions[next].at <= time {
                accept(submissions[next].phone, submissions[next].at, submissions[next].circuit)
                next += 1
            } else if let answer, answers[answer].at <= time {
                let ended = answers.remove(at: answer)
                let what = outcome(ended.phone).0
                if what == .accepted { accepted.insert(ended.handle.sequence) }
                node.pipeline.attemptEnded(ended.handle, what, at: node.now, using: &node.random)
                if let lane = node.pipeline.lane(of: ended.lane) { pump(lane) }
            } else {
                node.pipeline.wake(at: node.now, clockOffset: 0)
            }
            carryOut(outcome)
        }
        submissions.removeFirst(next)
        if end > time { node.pass(end - time) }
    }

    private func accept(_ phone: Phone, _ time: Duration, _ circuit: Int?) {
        number += 1
        let token =
            phone.origin.map { "wp1:\($0.contains(".") ? "https://" : "")\($0)/\(phone.number)" }
            ?? Sample.token(phone.number)
        var submission = Sample.android("\(number)", token: token)
        submission.sender = circuit.map { SenderID($0) }
        guard case .storing = node.submit(submission) else {
            return turnedAway.append(phone)
        }
        let opened = openedLanes()
        node.begin()
        let sequence = node.number()
        submitted[sequence] = (phone, time)
        node.pipeline.committed([.stored(sequence: sequence)], at: node.now)
        for lane in opened { pump(lane) }
    }

    /// As the edge does it: a lane to an origin has its gateway at once.
    private func openedLanes() -> [Int] {
        let opened = node.takeEffects().compactMap { effect -> Int? in
            guard case .laneOpened(let lane) = effect else { return nil }
            return node.pipeline.lanes[lane].stage.isParked ? nil : lane
        }
        for lane in opened { _ = node.pipeline.add(node.pipeline.lanes[lane].id) }
        let origins = node.pipeline.lanes.filter { !$0.stage.isGone && $0.id.host.isOrigin }
        mostOrigins = max(mostOrigins, origins.count { !$0.stage.isParked })
        mostParked = max(mostParked, origins.count(where: \.stage.isParked))
        return opened
    }

    private func carryOut(_ outcome: (Phone) -> (Outcome, after: Duration)) {
        var effects: [Effect] = []
        repeat {
            var stirred: [Int] = []
            node.pipeline.takeStirred(&stirred)
            for lane in stirred { pump(lane) }
            effects = node.takeEffects()
            for effect in effects {
                switch effect {
                case .send(let handle, _, let lane):
                    guard let (phone, at) = submitted[handle.sequence] else { continue }
                    if leftAfter[handle.sequence] == nil { leftAfter[handle.sequence] = time - at }
                    answers.append(
                        (time + outcome(phone).after, handle, phone, node.pipeline.lanes[lane].id))
                case .laneOpened(let lane) where !node.pipeline.lanes[lane].stage.isParked:
                    _ = node.pipeline.add(node.pipeline.lanes[lane].id)
                case .commitSoon: if !node.begin().isEmpty { node.pipeline.committed([], at: node.now) }
                default: break
                }
            }
        } while !effects.isEmpty
    }

    private func pump(_ lane: Int) {
        let id = node.pipeline.lanes[lane].id
        let room = OriginPlay.room - answers.count { $0.lane == id }
        guard room > 0, node.pipeline.lanes[lane].stage.hasGateway else { return }
        node.pipeline.pump(lane, room: room, at: node.now)
    }

    /// How many of such phones' notifications were accepted.
    func delivered(of isMeant: (Phone) -> Bool) -> Int {
        submitted.count { isMeant($0.value.phone) && accepted.contains($0.key) }
    }

    /// How long each notification of such phones waited for its first request; what has not left counts as a day.
    func delays(of isMeant: (Phone) -> Bool) -> [Duration] {
        submitted.filter { isMeant($0.value.phone) }.map { leftAfter[$0.key] ?? .seconds(86_400) }.sorted()
    }
}
