import Clocks
import Testing

@testable import Relay

/// What waits on disk only, and comes into memory lane by lane.
@Suite struct PipelineBacklogTests {
    private static func window(perLane: Int, claim: Int) -> Window {
        var window = Window()
        window.perLane = perLane
        window.claim = claim
        return window
    }

    private func claims(_ effects: [Effect]) -> [Claim] {
        effects.compactMap { if case .claim(let claim) = $0 { claim } else { nil } }
    }

    /// The row and the notification of a submission for a phone of Android's.
    private func row(_ sequence: Int64, _ submission: Submission, lifetime: Int64 = 86_400_000) -> Claimed.Row
    {
        let recipient = Recipient(lane: Node.android, deviceToken: submission.deviceToken)
        let digests = Sample.digests(submission, to: recipient)
        let accepted = Sample.start.unix
        let notification = Notification(
            id: NotificationID(digests), lane: Node.android, deviceToken: submission.deviceToken,
            content: submission.content, expiresAt: accepted + .milliseconds(lifetime), acceptedAt: accepted)
        return Claimed.Row(
            WaitingRow(
                sequence: sequence, lane: Node.android, token: digests.token, isUrgent: false,
                size: notification.size, attempts: 0, acceptedAt: accepted, notBefore: 0,
                expiresAt: notification.expiresAt), notification)
    }

    private func start(_ node: Node, backlog rows: [Claimed.Row]) {
        let backlog = LaneBacklog(
            lane: Node.android, waiting: rows.count, bytes: rows.map(\.row.size).reduce(0, +),
            oldestAcceptedAt: Sample.start.unix)
        node.pipeline.start(
            OutboxContent(backlog: [backlog], lastSequence: Int64(rows.count)), at: node.now, clockOffset: 0)
        _ = node.pipeline.add(Node.android)
        for _ in rows { _ = node.number() }
    }

    private func pump(_ node: Node) -> [Effect] {
        _ = node.takeEffects()
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 10, at: node.now)
        return node.takeEffects()
    }

    @Test func whatAFullLaneTakesWaitsOnDiskAndIsClaimed() throws {
        let node = Node(window: Self.window(perLane: 2, claim: 4))
        start(node, backlog: [])
        for number in 1...3 { node.accept(Sample.android("\(number)", token: Sample.token(number))) }
        #expect(node.stores.map(\.destination) == [.window, .window, .backlog(room: 64)])
        #expect(node.pipeline.waiting == 3)
        #expect(!node.isWaiting(3))
        let sent = node.takeEffects() + pump(node)
        #expect(claims(sent).isEmpty == false)
        // As long as one is there, all go there: none overtakes another of its device.
        node.accept(Sample.android("4", token: Sample.token(3)))
        #expect(node.stores.last?.destination == .backlog(room: 64))
        let claim = try #require(claims(sent).first)
        #expect(claim.kind == .due(Node.android) && claim.last == 3)
        node.pipeline.claimed(
            Claimed([row(3, Sample.android("3", token: Sample.token(3)))]), by: claim, at: node.now)
        let next = pump(node)
        #expect(
            next.contains { if case .send(let handle, _, _) = $0 { handle.sequence == 3 } else { false } })
        #expect(claims(next).map(\.last) == [4])
        #expect(node.pipeline.waiting == 4)
    }

    /// As after an older backup: there is more on disk than anybody counts, and what is stored later is asked for all the same.
    @Test func whatNobodyCountsHidesNothing() throws {
        let node = Node(window: Self.window(perLane: 0, claim: 4))
        start(node, backlog: [])
        for number in 1...2 { node.accept(Sample.android("\(number)", token: Sample.token(number))) }
        let claim = try #require(claims(node.takeEffects() + pump(node)).first)
        // Those two, and two that were there before.
        let rows = (1...4).map { row(Int64($0), Sample.android("\($0)", token: Sample.token($0))) }
        node.pipeline.claimed(Claimed(rows), by: claim, at: node.now)
        #expect(node.pipeline.waiting == 4 && node.pipeline.lanes.allSatisfy { $0.shelved == 0 })
        _ = pump(node)
        node.accept(Sample.android("5", token: Sample.token(5)))
        #expect(claims(node.takeEffects() + pump(node)).count == 1)
    }

    /// As long as those in memory have all failed, nobody else would find out that the gateway works.
    @Test func whoTriesTheGatewayInAPauseMayComeFromDisk() {
        let node = Node(window: Self.window(perLane: 3, claim: 8))
        start(node, backlog: [])
        let wish = Deferral(reason: "UNAVAILABLE", scope: .host, retryAfter: .seconds(60))
        for number in 1...3 { node.accept(Sample.android("\(number)", token: Sample.token(number))) }
        for effect in pump(node) {
            if case .send(let handle, _, _) = effect { node.end(handle, .deferred(wish)) }
        }
        #expect(node.condition() == .paused(until: node.now.monotonic + .seconds(60)))
        node.accept(Sample.android("4", token: Sample.token(4)))
        #expect(node.stores.last?.destination == .backlog(room: 64))
        #expect(claims(pump(node)).isEmpty)
        node.pass(LanePause.firstProbe)
        #expect(claims(pump(node)).map(\.kind) == [.due(Node.android)])
    }

    @Test func theOutboxCountsWhatADeviceHasOnDisk() throws {
        let node = Node(window: Self.window(perLane: 0, claim: 4))
        guard case .storing = node.submit(Sample.android("1")) else { return #expect(Bool(false)) }
        node.begin()
        #expect(node.commit([.tooMany]) == [.busy(.device(retryAfter: .seconds(30)))])
        #expect(node.pipeline.waiting == 0)
        #expect(node.pipeline.lanes.allSatisfy { $0.shelved == 0 && $0.count == 0 })
    }

    @Test func whatExpiresOnDiskIsToldAndGoes() throws {
        let node = Node()
        let row = row(1, Sample.android(), lifetime: 10_000)
        start(node, backlog: [row])
        node.pass(.seconds(16))
        _ = node.takeEffects()
        node.pipeline.wake(at: node.now, clockOffset: 0)
        let claim = try #require(claims(node.takeEffects()).first)
        #expect(claim.kind == .expired && claim.time == node.now.unix)
        node.pipeline.claimed(Claimed([row]), by: claim, at: node.now)
        #expect(node.takeEnds().map(\.ending) == [.expired])
        #expect(node.begin().contains(.finish(sequence: 1, .expired)))
        #expect(node.pipeline.waiting == 0 && node.pipeline.waitingBytes == 0)
    }

    /// A clock that is set ahead ends nothing on disk.
    @Test func aClockThatJumpsEndsNothingOnDisk() throws {
        let node = Node()
        start(node, backlog: [row(1, Sample.android())])
        node.now.unix = node.now.unix + .seconds(40 * 86_400)
        node.pass(.seconds(16))
        _ = node.takeEffects()
        node.pipeline.wake(at: node.now, clockOffset: 0)
        let claim = try #require(claims(node.takeEffects()).first)
        #expect(claim.time == Sample.start.unix + .milliseconds(16_000))
    }

    /// A device goes back to disk while its next one is being stored: that one follows.
    @Test func whatWasOnItsWayFollowsItsDeviceOntoTheDisk() throws {
        let node = Node(window: Self.window(perLane: 3, claim: 1))
        let first = row(1, Sample.android("1"))
        start(node, backlog: [first])
        let claim = try #require(claims(pump(node)).first)
        node.pipeline.claimed(Claimed([first]), by: claim, at: node.now)
        let spare = Outcome.deferred(Deferral(reason: "429", scope: .device, retryAfter: .seconds(600)))
        node.end(try #require(node.send()), spare)
        _ = node.take()
        _ = node.submit(Sample.android("2", message: "QUJD" + Sample.message))
        node.begin()
        _ = node.submit(Sample.android("3", token: Sample.token(3)))
        _ = node.submit(Sample.android("4", token: Sample.token(4)))
        #expect(node.stores.map(\.destination) == [.window])
        #expect(claims(pump(node)).isEmpty)
        #expect(node.pipeline.delivery.slots[1] == nil)
        node.commit([.stored(sequence: 2)])
        #expect(node.send() == nil)
        let due = node.now.unix + .milliseconds(600_000)
        let shelving = node.begin().filter { if case .shelve = $0 { true } else { false } }
        #expect(
            shelving == [
                .shelve(first.row.token, [1], notBefore: due), .shelve(first.row.token, [2], notBefore: due),
            ])
    }
}
