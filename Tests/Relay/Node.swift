import Vectors

@testable import Relay

/// A pipeline with a clock that the test sets and an outbox that stores whatever comes.
final class Node {
    var pipeline: Pipeline
    var now = Sample.start
    var random = SeededRandom(state: 1)
    private(set) var changes: [OutboxChange] = []

    init(
        limits: Admission.Limits = Admission.Limits(), policy: RetryPolicy = RetryPolicy(),
        bodyBudget: Int = 1 << 20
    ) {
        pipeline = Pipeline(
            validator: Sample.validator, limits: limits, policy: policy, bodyBudget: bodyBudget)
    }

    static let android = LaneID(app: "android", host: .production)
    static let ios = LaneID(app: "ios", host: .production)
    static let tight = LaneID(app: "tight", host: .production)

    func pass(_ time: Duration) {
        now.monotonicNanoseconds += time.nanoseconds
        now.unixMilliseconds += time.milliseconds
    }

    func submit(_ submission: Submission) -> Pipeline.Submitted {
        pipeline.submit(submission, at: now) { Sample.digests(submission, to: $0) }
    }

    /// Submits and stores; the sequence number.
    @discardableResult
    func accept(_ submission: Submission, result: StoreResult = .stored) -> Int64 {
        guard case .storing(let handle) = submit(submission) else { return 0 }
        _ = take()
        let receipt = pipeline.stored(handle, result: result, at: now)
        return receipt == .stored ? handle.sequence : 0
    }

    /// The changes since the last call.
    func take() -> [OutboxChange] {
        let taken = pipeline.takeChanges()
        changes += taken
        return taken
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
        let ended = pipeline.attemptEnded(handle, outcome, at: now, using: &random)
        return Dictionary(uniqueKeysWithValues: ended.map { ($0.sequence, $0.ending) })
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
