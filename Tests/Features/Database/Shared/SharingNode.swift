import Clocks
import Persistence
import Testing
import Vectors

@testable import Relay

/// The core of a node over a real store that others share, without gateways: its clock goes on when the test says so.
final class SharingNode {
    let outbox: OutboxStore
    private var pipeline: Pipeline
    private var now = Instant(
        unix: UnixTime(milliseconds: 20_000 * 86_400_000), monotonic: 3_600_000_000_000)
    private var told: [Receipt] = []

    private static let lane = LaneID(app: "android", host: .production)

    init(_ outbox: OutboxStore, waiting: Int) async throws {
        self.outbox = outbox
        var limits = Admission.Limits()
        limits.tokenRate = 100_000
        limits.tokenBurst = 100_000
        limits.waitingPerToken = 100_000
        limits.waiting = waiting
        let app = App(
            name: "android", service: SampleService("sample", for: [.android], overhead: 96), isEnabled: true)
        pipeline = Pipeline(
            validator: Validator(apps: [app], defaultIOS: "android", defaultAndroid: "android"),
            limits: limits, isShared: true)
        pipeline.start(try await outbox.content(), at: now, clockOffset: 0)
        _ = pipeline.add(Self.lane)
        try await run()
    }

    var sharing: Pipeline.Sharing? { pipeline.sharing }
    var waiting: Int { pipeline.waiting }

    /// To a device of that shard.
    func submit(_ number: Int, to shard: UInt64) async throws -> Receipt? {
        told = []
        let submission = Submission(
            uid: "\(shard)-\(number)", platform: .android, deviceToken: String(repeating: "t", count: 32),
            message: String(repeating: "QUJD", count: 9) + "QQ==", isUrgent: false, expiresAt: 0)
        let submitted = pipeline.submit(submission, awaitsOutcome: false, at: now) { _ in
            let identity = Digest(high: shard << 56, low: UInt64(number))
            return SubmissionDigests(
                token: Digest(high: shard << 56, low: 7), identity: identity, content: identity)
        }
        if case .answered(let receipt) = submitted { return receipt }
        try await run()
        return told.first
    }

    /// How many of so many are taken.
    func submit(_ numbers: Range<Int>, to shard: UInt64) async throws -> Int {
        var taken = 0
        for number in numbers where try await submit(number, to: shard) == .stored { taken += 1 }
        return taken
    }

    /// Some seconds go by, with looks at the store as often as a node has them.
    func pass() async throws {
        for _ in 0..<15 {
            now.monotonic = now.monotonic + .milliseconds(200)
            now.unix = now.unix + .milliseconds(200)
            pipeline.wake(at: now, clockOffset: 0)
            try await run()
        }
    }

    /// The operator lets go of all that waits here.
    func giveUp() async throws {
        _ = pipeline.drop(Self.lane, at: now)
        try await run()
    }

    /// - Returns: Whether there was anything to write.
    private func commit() async throws -> Bool {
        guard let changes = pipeline.beginCommit(at: now) else { return false }
        let results = try await outbox.commit(changes)
        pipeline.committed(results, at: now)
        return true
    }

    private func run() async throws {
        for _ in 0..<1000 {
            var effects: [Effect] = []
            pipeline.takeEffects(into: &effects)
            guard !effects.isEmpty else {
                // A commit that waits a little for what may come: no time goes by here.
                guard try await commit() else { return }
                continue
            }
            for effect in effects {
                switch effect {
                case .commitSoon: _ = try await commit()
                case .divide(let request):
                    let share = try await outbox.divide(request)
                    pipeline.divided(share, at: now)
                case .claim(let claim):
                    let claimed = try await outbox.claim(claim)
                    pipeline.claimed(claimed, by: claim, at: now)
                case .tell(_, let receipt, _): told.append(receipt)
                default: break
                }
            }
        }
        Issue.record("a node does not come to rest")
    }
}
