import Clocks
import Vectors

@testable import Relay

/// The gateways of some apps in time that the test makes up: phones get notifications at set times, each request takes 50 ms, and
/// what it is answered the test says. What counts is when each notification leaves for the first time.
final class GatewayPlay {
    struct Sent {
        let phone: Int
        let submittedAt: Duration
        let leftAt: Duration
        var delay: Duration { leftAt - submittedAt }
    }

    private let node: Node
    private let start = Sample.start.monotonic
    private var submissions: [(at: Duration, phone: Int)] = []
    private var answers: [(at: Duration, handle: Pipeline.Handle, phone: Int)] = []
    /// By sequence number.
    private var submitted: [Int64: (phone: Int, at: Duration)] = [:]
    private(set) var sent: [Sent] = []
    /// Every request, repetitions too.
    private(set) var requests: [(at: Duration, phone: Int)] = []
    private(set) var mostInFlight = 0
    private let app: (Int) -> String
    private var left: Set<Int64> = []
    private var number = 0

    private static let room = 100
    private static let roundTrip: Duration = .milliseconds(50)

    /// - Parameter app: Which a phone belongs to.
    init(
        seed: UInt64 = 1, apps: [String] = ["android"], app: @escaping (Int) -> String = { _ in "android" }
    ) {
        var limits = Admission.Limits()
        limits.tokenRate = 1000
        limits.tokenBurst = 1000
        limits.waitingPerToken = 1000
        node = Node(limits: limits, bodyBudget: .max)
        node.random = SeededRandom(state: seed)
        self.app = app
        for app in apps { _ = node.pipeline.add(LaneID(app: app, host: .production)) }
    }

    var time: Duration { node.now.monotonic - start }

    func submit(to phone: Int, at time: Duration) { submissions.append((time, phone)) }

    /// Until that time.
    func run(until end: Duration, _ outcome: (_ phone: Int, _ time: Duration) -> Outcome) {
        submissions.sort { $0.at < $1.at }
        var next = 0
        while true {
            let wake = node.pipeline.wakeAt
            var due = wake == .max ? end : wake - start
            if next < submissions.count { due = min(due, submissions[next].at) }
            if let answer = answers.first { due = min(due, answer.at) }
            guard due < end else { break }
            if due > time { node.pass(due - time) }
            if next < submissions.count, submissions[next].at <= time {
                number += 1
                var submission = Sample.android(
                    "\(number)", token: Sample.token(submissions[next].phone))
                submission.app = app(submissions[next].phone)
                let sequence = node.accept(submission)
                submitted[sequence] = (submissions[next].phone, submissions[next].at)
                next += 1
            } else if let answer = answers.first, answer.at <= time {
                answers.removeFirst()
                node.pipeline.attemptEnded(
                    answer.handle, outcome(answer.phone, answer.at), at: node.now, using: &node.random)
            } else {
                node.pipeline.wake(at: node.now, clockOffset: 0)
            }
            carryOut()
        }
        submissions.removeFirst(next)
        if end > time { node.pass(end - time) }
    }

    private func carryOut() {
        var effects: [Effect] = []
        repeat {
            var stirred: [Int] = []
            node.pipeline.takeStirred(&stirred)
            for lane in stirred {
                node.pipeline.pump(lane, room: GatewayPlay.room - answers.count, at: node.now)
            }
            effects = node.takeEffects()
            for effect in effects {
                switch effect {
                case .send(let handle, _, _): send(handle)
                case .commitSoon: if !node.begin().isEmpty { node.pipeline.committed([], at: node.now) }
                default: break
                }
            }
        } while !effects.isEmpty
    }

    private func send(_ handle: Pipeline.Handle) {
        guard let (phone, at) = submitted[handle.sequence] else { return }
        if left.insert(handle.sequence).inserted {
            sent.append(Sent(phone: phone, submittedAt: at, leftAt: time))
        }
        requests.append((time, phone))
        answers.append((time + GatewayPlay.roundTrip, handle, phone))
        mostInFlight = max(mostInFlight, answers.count)
    }

    /// Of those phones, sorted; what has not left yet counts as well.
    func delays(of phones: Range<Int>) -> [Duration] { delays(of: phones.contains) }

    func delays(of isMeant: (Int) -> Bool) -> [Duration] {
        let left = sent.filter { isMeant($0.phone) }.map(\.delay)
        let waiting = max(0, submitted.values.count { isMeant($0.phone) } - left.count)
        return (left + Array(repeating: .seconds(86_400), count: waiting)).sorted()
    }

    /// What waits for an app.
    func waiting(in app: String) -> Int {
        node.pipeline.lane(of: LaneID(app: app, host: .production)).map {
            node.pipeline.lanes[$0].taken.count
        } ?? 0
    }
}
