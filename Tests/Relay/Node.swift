import Clocks
import Vectors

@testable import Relay

/// A pipeline with a clock that the test sets and an outbox that stores whatever comes.
final class Node {
    var pipeline: Pipeline
    var now = Sample.start
    var random = SeededRandom(state: 1)
    private(set) var changes: [OutboxChange] = []
    private(set) var nextSequence: Int64 = 1

    init(
        limits: Admission.Limits = Admission.Limits(), policy: RetryPolicy = RetryPolicy(),
        bodyBudget: Int = 1 << 20, originsPerApp: Int = Pipeline.mostOriginsPerApp, window: Window = Window(),
        mostLookups: Int = 0, writeBehind: Duration = .zero, isShared: Bool = false
    ) {
        pipeline = Pipeline(
            validator: Sample.validator, limits: limits, policy: policy, bodyBudget: bodyBudget,
            originsPerApp: originsPerApp, window: window, mostLookups: mostLookups,
            writeBehind: writeBehind, isShared: isShared)
    }

    static let android = LaneID(app: "android", host: .production)
    static let ios = LaneID(app: "ios", host: .production)
    static let tight = LaneID(app: "tight", host: .production)

    func pass(_ time: Duration) {
        now.monotonic = now.monotonic + time
        now.unix = now.unix + time
    }

    func submit(_ submission: Submission, awaitsOutcome: Bool = false) -> Pipeline.Submitted {
        pipeline.submit(submission, awaitsOutcome: awaitsOutcome, at: now) {
            Sample.digests(submission, to: $0)
        }
    }

    /// Submits and stores; the sequence number.
    @discardableResult
    func accept(_ submission: Submission, result: StoreResult? = nil) -> Int64 {
        guard case .storing = submit(submission) else { return 0 }
        begin()
        let sequence = nextSequence
        return commit([result ?? .stored(sequence: number())]).contains(.stored) ? sequence : 0
    }

    /// The number that the outbox gives next.
    func number() -> Int64 {
        defer { nextSequence += 1 }
        return nextSequence
    }

    /// Begins a commit; what is in it.
    @discardableResult
    func begin() -> [OutboxChange] {
        let taken = pipeline.beginCommit(at: now) ?? []
        changes += taken
        return taken
    }

    /// The commit that runs has succeeded; what is told then.
    @discardableResult
    func commit(_ results: [StoreResult] = []) -> [Receipt] {
        _ = takeEffects()
        pipeline.committed(results, at: now)
        return takeEffects().compactMap { if case .tell(_, let receipt, _) = $0 { receipt } else { nil } }
    }

    /// The changes since the last call, which brought no submission.
    func take() -> [OutboxChange] {
        let taken = begin()
        if !taken.isEmpty { commit() }
        return taken
    }

    /// All that were to be stored, in their order.
    var stores: [StoreRequest] {
        changes.compactMap { if case .store(let request) = $0 { request } else { nil } }
    }

    func takeEffects() -> [Effect] {
        var taken: [Effect] = []
        pipeline.takeEffects(into: &taken)
        return taken
    }

    /// What has ended since the effects were taken last.
    func takeEnds() -> [Pipeline.End] {
        takeEffects().compactMap { if case .ended(let end) = $0 { end } else { nil } }
    }

    /// What has expired.
    func expire() -> [Pipeline.End] {
        _ = takeEffects()
        pipeline.expire(at: now)
        return takeEnds()
    }

    /// What a load ends.
    @discardableResult
    func loaded(_ bodies: [Int64: Notification], of sequences: [Int64], _ lane: LaneID = android)
        -> [Pipeline.End]
    {
        _ = takeEffects()
        pipeline.loaded(bodies, of: sequences, lane: pipeline.lane(lane), at: now)
        return takeEnds()
    }

    var isClockDoubted: Bool { pipeline.isClockDoubted }
    var isClockToBeConfirmed: Bool { pipeline.isClockToBeConfirmed }
    func isWaiting(_ sequence: Int64) -> Bool { pipeline.delivery.slots[sequence] != nil }

    func blockedReason(_ lane: LaneID = android) -> String? {
        pipeline.lanes[pipeline.lane(lane)].block?.reason
    }

    func next(_ lane: LaneID = android) -> Pipeline.Step {
        pipeline.nextStep(in: pipeline.lane(lane), at: now)
    }

    /// What the lane sends now; `nil` when it sends nothing.
    func send(_ lane: LaneID = android) -> Pipeline.Handle? {
        if case .send(let handle, _) = next(lane) { handle } else { nil }
    }

    /// All that the lane sends now, by sequence number.
    func sendAll(_ lane: LaneID = android) -> [Int64] {
        var sent: [Int64] = []
        while let handle = send(lane) { sent.append(handle.sequence) }
        return sent
    }

    @discardableResult
    func end(_ handle: Pipeline.Handle, _ outcome: Outcome) -> [Int64: Ending] {
        _ = takeEffects()
        pipeline.attemptEnded(handle, outcome, at: now, using: &random)
        return Dictionary(uniqueKeysWithValues: takeEnds().map { ($0.sequence, $0.ending) })
    }

    func condition(_ lane: LaneID = android) -> Lane.Condition {
        pipeline.lanes[pipeline.lane(lane)].condition
    }
}

extension Outcome {
    static let overloaded = Outcome.deferred(Deferral(reason: "ServiceUnavailable", scope: .host))
    static let tooMany = Outcome.deferred(Deferral(reason: "TooManyRequests", scope: .device))
    static let goneAway = Outcome.deferred(Deferral(reason: "GoAway", scope: .host, isUnharmed: true))
}
