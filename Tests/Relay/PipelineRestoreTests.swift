import Clocks
import Testing

@testable import Relay

/// A start with what the last process left.
@Suite struct PipelineRestoreTests {
    private func row(
        _ sequence: Int64, _ token: String, lane: LaneID = Node.android, isUrgent: Bool = false,
        attempts: Int = 0, notBefore: UnixTime = 0, lifetime: Int64 = 86_400_000
    ) -> WaitingRow {
        WaitingRow(
            sequence: sequence, lane: lane, token: Sample.digest(token), isUrgent: isUrgent, size: 100,
            attempts: attempts, acceptedAt: Sample.start.unix - .milliseconds(1000), notBefore: notBefore,
            expiresAt: Sample.start.unix + .milliseconds(lifetime))
    }

    private func node(
        _ rows: [WaitingRow], dead: [Digest: DeadToken] = [:], lanes: [LaneID: LaneRecord] = [:]
    ) -> Node {
        let node = Node()
        var content = OutboxContent(waiting: rows, deadTokens: dead)
        content.lanes = lanes
        node.pipeline.start(content, at: node.now, clockOffset: 0)
        return node
    }

    private func body(_ sequence: Int64) -> Notification {
        Notification(
            id: NotificationID(high: 0, low: UInt64(sequence)),
            lane: LaneID(app: "android", host: .production),
            deviceToken: DeviceToken(Sample.androidToken), message: Sample.message, isUrgent: false,
            hasSound: false,
            isMutableContent: false, isContentAvailable: false,
            expiresAt: Sample.start.unix + .milliseconds(86_400_000), acceptedAt: 0)
    }

    /// Loads what is asked for and sends; the ids in order.
    private func drain(_ node: Node, answering outcome: Outcome = .accepted) -> [UInt64] {
        var sent: [UInt64] = []
        while true {
            switch node.next() {
            case .load(let sequences):
                let found = sequences.map { ($0, body($0)) }
                node.loaded(Dictionary(uniqueKeysWithValues: found), of: sequences)
            case .send(let handle, let notification):
                sent.append(notification.id.low)
                node.end(handle, outcome)
            case .ended, .wait, .idle: return sent
            }
        }
    }

    @Test func whatWaitedIsLoadedAndSentInOrder() {
        let node = node([row(3, "a"), row(4, "b"), row(7, "a"), row(9, "c", isUrgent: true)])
        #expect(node.pipeline.waiting == 4)
        #expect(node.pipeline.waitingBytes == 400)
        #expect(node.next() == .load([9, 3, 4]))
        node.pipeline.loadFailed([9, 3, 4], lane: node.pipeline.lane(Node.android), at: node.now)
        // The one behind 3 is ready as soon as 3 has ended, and older than what is left of the others.
        #expect(drain(node) == [9, 3, 4, 7])
        #expect(node.pipeline.waiting == 0)
        #expect(node.pipeline.waitingBytes == 0)
    }

    /// Its age is counted from its submission, not from the start.
    @Test func whatWaitedIsAsOldAsItIs() {
        let node = node([row(3, "a"), row(4, "b")])
        let restored = Sample.start.monotonic - .seconds(1)
        node.accept(Sample.android("c"))
        let queue = node.pipeline.queues()[node.pipeline.lane(Node.android)]
        #expect(queue.waiting == 3)
        #expect(queue.oldestSubmittedAt == restored)
        #expect(drain(node).count == 3)
        #expect(node.pipeline.queues()[node.pipeline.lane(Node.android)] == Pipeline.Queue())
    }

    @Test func whatTheOutboxHasNoMoreEndsHere() {
        let node = node([row(3, "a"), row(4, "a")])
        #expect(node.next() == .load([3]))
        let ended = node.loaded([:], of: [3])
        #expect(ended.map(\.sequence) == [3])
        #expect(ended.map(\.ending) == [.refused(reason: .internal)])
        #expect(drain(node) == [4])
    }

    @Test func aLoadThatComesTwiceOrTooLateChangesNothing() {
        let node = node([row(3, "a")])
        #expect(node.next() == .load([3]))
        #expect(node.next() == .idle)
        node.loaded([3: body(3)], of: [3])
        node.loaded([3: body(3)], of: [3])
        node.pipeline.loadFailed([3, 77], lane: node.pipeline.lane(Node.android), at: node.now)
        #expect(drain(node) == [3])
        #expect(node.loaded([3: body(3)], of: [3]).isEmpty)
        #expect(node.next() == .idle)
    }

    @Test func attemptsGoOnCounting() {
        let node = node([row(3, "a", attempts: 6)])
        _ = drain(node, answering: .tooMany)
        guard case .postpone(3, 7, _) = node.take().first else { return #expect(Bool(false)) }
    }

    /// They failed while the lane was open, so others had been answered: however many there are, they pause it for nobody.
    @Test func whatFailedAloneBeforeTheStartIsNoWitness() {
        func condition(attempts: Int, lanes: [LaneID: LaneRecord] = [:]) -> Lane.Condition {
            let rows = (1...20).map { row($0, "device \($0)", attempts: attempts) }
            let node = node(rows, lanes: lanes)
            _ = drain(node, answering: .overloaded)
            return node.condition()
        }
        #expect(condition(attempts: 1) == .open)
        #expect(condition(attempts: 0) != .open)
        let start = Sample.start.unix
        let outage = LaneRecord(
            writtenAt: start, pausedAt: start, pausedUntil: start, askedUntil: start, failures: 1)
        #expect(condition(attempts: 1, lanes: [Node.android: outage]) != .open)
    }

    @Test func aWaitGoesOn() {
        let notBefore = Sample.start.unix + .milliseconds(60_000)
        let node = node([row(3, "a", notBefore: notBefore), row(4, "a"), row(5, "b", notBefore: 1)])
        #expect(node.next() == .load([5]))
        node.pass(.seconds(60))
        #expect(node.next() == .load([3]))
    }

    @Test func noWaitIsLongerThanAQuarterOfAnHourAfterTheWallClockJumpedBack() {
        let far = Sample.start.unix + .milliseconds(400 * 86_400_000)
        let node = node([row(3, "a", notBefore: far), row(4, "b", notBefore: .max)])
        #expect(node.next() == .wait(until: node.now.monotonic + .seconds(900)))
        node.pass(.seconds(900))
        #expect(node.next() == .load([3, 4]))
    }

    @Test func noLifeIsLongerThanTwentyEightDaysAfterTheWallClockJumpedBack() {
        let node = node([row(3, "a", lifetime: 400 * 86_400_000)])
        node.pass(.seconds(28 * 86400 - 1))
        #expect(node.expire().isEmpty)
        node.pass(.seconds(1))
        #expect(node.expire().map(\.sequence) == [3])
    }

    @Test func whatLapsedMeanwhileEndsExpired() {
        let node = node([row(3, "a", lifetime: 0), row(4, "a", lifetime: -1), row(5, "a")])
        #expect(node.expire().map(\.sequence).sorted() == [3, 4])
        #expect(drain(node) == [5])
    }

    @Test func deadTokensStayDead() {
        let token = Sample.digest("android", "production", Sample.androidToken)
        let node = node([], dead: [token: DeadToken(since: 5, buriedAt: Sample.start.unix)])
        let dead = Ending.tokenDead(
            reason: .unregistered, detail: "Token is invalid as of 1970-01-01T00:00:00.005Z")
        #expect(node.submit(Sample.android()) == .answered(.ended(dead)))
    }

    @Test func aLongQueueIsTakenOverBeyondTheLimits() {
        var limits = Admission.Limits()
        limits.waiting = 1000
        let node = Node(limits: limits)
        let rows = (1...Int64(20_000)).map { row($0, "\($0 % 3000)") }
        node.pipeline.start(OutboxContent(waiting: rows), at: node.now, clockOffset: 0)
        #expect(node.pipeline.waiting == 20_000)
        #expect(node.submit(Sample.android()) == .answered(.busy(.node(retryAfter: .seconds(30)))))
        #expect(drain(node).count == 20_000)
        #expect(node.accept(Sample.android()) > 0)
    }
}
