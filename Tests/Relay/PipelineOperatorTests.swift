import Clocks
import Testing

@testable import Relay

/// What the operator does with all that waits in a lane, while the node runs.
@Suite struct PipelineOperatorTests {
    private static let closed = LaneID(app: "closed", host: .production)

    private func row(_ sequence: Int64, _ lane: LaneID, device: Int, notBefore: UnixTime = 0) -> WaitingRow {
        let submission = Sample.android("\(sequence)", token: Sample.token(device))
        let digests = Sample.digests(
            submission, to: Recipient(lane: lane, deviceToken: submission.deviceToken))
        return WaitingRow(
            sequence: sequence, lane: lane, token: digests.token, isUrgent: false, size: 100, attempts: 0,
            acceptedAt: Sample.start.unix, notBefore: notBefore,
            expiresAt: Sample.start.unix + .milliseconds(86_400_000))
    }

    private func claimed(_ row: WaitingRow) -> Claimed.Row {
        Claimed.Row(
            row,
            Notification(
                id: NotificationID(high: 1, low: UInt64(row.sequence)), lane: row.lane,
                deviceToken: DeviceToken(Sample.token(1)), content: Sample.android().content,
                expiresAt: row.expiresAt, acceptedAt: row.acceptedAt))
    }

    private func claims(_ node: Node) -> [Claim] {
        node.takeEffects().compactMap { if case .claim(let claim) = $0 { claim } else { nil } }
    }

    /// Two in memory, of one device, and three on disk.
    private func start(_ lane: LaneID) -> Node {
        var window = Window()
        window.claim = 2
        let node = Node(window: window)
        _ = node.pipeline.add(Node.android)
        node.pipeline.start(
            OutboxContent(
                waiting: [row(4, lane, device: 1), row(5, lane, device: 1)],
                backlog: [
                    LaneBacklog(
                        lane: lane, waiting: 3, bytes: 300, oldestAcceptedAt: Sample.start.unix)
                ], lastSequence: 5), at: node.now, clockOffset: 0)
        _ = node.takeEffects()
        return node
    }

    @Test(arguments: [Self.closed, Node.android])
    func whatIsGivenUpEndsAlsoOnDiskAndWhatComesLaterDoesNot(lane: LaneID) throws {
        let node = start(lane)
        #expect(node.pipeline.drop(lane, at: node.now) == 5)
        var claim = try #require(claims(node).first)
        #expect(claim.last == 5 && claim.time.milliseconds > Int64.max / 4)
        #expect(node.begin().count == 2)
        node.pipeline.claimed(
            Claimed([claimed(row(1, lane, device: 2)), claimed(row(2, lane, device: 3))]), by: claim,
            at: node.now)
        claim = try #require(claims(node).first)
        // The second is one that came after the command.
        node.pipeline.claimed(
            Claimed([claimed(row(3, lane, device: 2)), claimed(row(6, lane, device: 4))]), by: claim,
            at: node.now)
        #expect(node.isWaiting(6) && !node.isWaiting(3))
        claim = try #require(claims(node).first)
        node.pipeline.claimed(Claimed(), by: claim, at: node.now)
        #expect(claims(node).isEmpty)
        node.commit()
        let ends = node.begin().compactMap { change -> Int64? in
            if case .finish(let sequence, .dropped) = change { sequence } else { nil }
        }
        #expect(ends == [1, 2, 3])
    }

    /// The first of those in memory, once its body is read.
    private func firstSent(_ node: Node, _ lane: LaneID) throws -> Pipeline.Handle {
        guard case .load(let sequences) = node.next(lane) else { throw Missing() }
        node.loaded(
            Dictionary(
                uniqueKeysWithValues: sequences.map { ($0, claimed(row($0, lane, device: 1)).notification) }),
            of: sequences, lane)
        return try #require(node.send(lane))
    }

    private struct Missing: Error {}

    @Test func singleOnesAreGivenUpInAnyOrder() {
        let node = start(Node.android)
        #expect(node.pipeline.drop([5, 4, 4, 1, 99], at: node.now) == 2)
        #expect(node.begin().count == 2)
        #expect(!node.isWaiting(4) && !node.isWaiting(5))
    }

    /// What was put off is sent now, and what is on disk is claimed whenever it is due.
    @Test func whatWasPutOffIsTriedNow() throws {
        let node = start(Node.android)
        let handle = try firstSent(node, Node.android)
        node.end(
            handle, .deferred(Deferral(reason: "TooManyRequests", scope: .device, retryAfter: .seconds(3600)))
        )
        #expect(node.send() == nil)
        _ = node.takeEffects()
        // Two of one device, three on disk.
        #expect(node.pipeline.retryNow(Node.android, at: node.now) == 5)
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 10, at: node.now)
        let effects = node.takeEffects()
        let claims = effects.compactMap { if case .claim(let claim) = $0 { claim } else { nil } }
        #expect(claims.first.map { $0.time.milliseconds > Int64.max / 4 && $0.last == 5 } == true)
        #expect(effects.contains { if case .send = $0 { true } else { false } })
        // Once: what comes later waits for its time.
        let claim = try #require(claims.first)
        node.pipeline.claimed(Claimed([claimed(row(1, Node.android, device: 2))]), by: claim, at: node.now)
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 10, at: node.now)
        let later = node.takeEffects().compactMap { if case .claim(let claim) = $0 { claim } else { nil } }
        #expect(later.allSatisfy { $0.time.milliseconds < Int64.max / 4 })
    }

    /// A claim of the earlier command brings no more than that covers.
    @Test func aDropDuringARetryDropsAllThatItCounted() throws {
        let node = start(Node.android)
        _ = try firstSent(node, Node.android)
        let retried = try claim(byRetrying: node)
        shelveAnother(node)
        // One behind what the gateway has, and four on disk.
        #expect(node.pipeline.drop(Node.android, at: node.now) == 5)
        node.pipeline.claimed(Claimed([claimed(row(1, Node.android, device: 2))]), by: retried, at: node.now)
        for page: [Int64] in [[2, 3], [6]] {
            let claim = try #require(claims(node).first)
            #expect(claim.last == 6 && claim.time == Claim.anyTime)
            node.pipeline.claimed(
                Claimed(page.map { claimed(row($0, Node.android, device: Int($0))) }), by: claim, at: node.now
            )
        }
        #expect(claims(node).isEmpty)
        let ends = node.begin().compactMap { change -> Int64? in
            if case .finish(let sequence, .dropped) = change { sequence } else { nil }
        }
        #expect(ends.sorted() == [1, 2, 3, 5, 6])
    }

    @Test func aRetryDuringARetryReachesWhatHasComeSince() throws {
        let node = start(Node.android)
        _ = try firstSent(node, Node.android)
        let first = try claim(byRetrying: node)
        shelveAnother(node)
        _ = node.pipeline.retryNow(Node.android, at: node.now)
        node.pipeline.claimed(Claimed(), by: first, at: node.now)
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 10, at: node.now)
        let second = try #require(claims(node).first)
        #expect(second.last == 6 && second.time == Claim.anyTime)
    }

    /// Neither the gateway has it, nor is it stored for the first time.
    @Test(arguments: [true, false]) func whatIsBeingReadIsGivenUpToo(isLane: Bool) throws {
        let node = start(Node.android)
        #expect(node.next() == .load([4]))
        let count =
            isLane
            ? node.pipeline.drop(Node.android, at: node.now) : node.pipeline.drop([4, 5], at: node.now)
        #expect(count == (isLane ? 5 : 2))
        node.loaded([4: claimed(row(4, Node.android, device: 1)).notification], of: [4])
        #expect(!node.isWaiting(4) && !node.isWaiting(5))
        #expect(node.send() == nil)
    }

    private func claim(byRetrying node: Node) throws -> Claim {
        #expect(node.pipeline.retryNow(Node.android, at: node.now) == 3)
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 10, at: node.now)
        let claim = try #require(claims(node).first)
        #expect(claim.last == 5 && claim.time == Claim.anyTime)
        return claim
    }

    /// The sixth of the lane, on disk only.
    private func shelveAnother(_ node: Node) {
        node.pipeline.lastSequence = 6
        node.pipeline.delivery.withLane(node.pipeline.lane(Node.android)) {
            $0.shelf.add()
            $0.taken.take(100)
        }
    }

    @Test func aSingleOneIsTriedNowWithTheOthersOfItsDevice() throws {
        let node = start(Node.android)
        let handle = try firstSent(node, Node.android)
        node.end(
            handle, .deferred(Deferral(reason: "TooManyRequests", scope: .device, retryAfter: .seconds(3600)))
        )
        #expect(node.send() == nil)
        #expect(node.pipeline.retryNow([99], at: node.now) == 0)
        #expect(node.pipeline.retryNow([5], at: node.now) == 2)
        #expect(node.send() != nil)
    }

    /// Only its gateway can say it, and only a refusal is one.
    @Test(arguments: [
        (DeviceToken.opaqueOfNobody.text, Outcome.refused(reason: "INVALID_ARGUMENT"), true),
        (DeviceToken.opaqueOfNobody.text, .accepted, false), (Sample.token(1), .refused(reason: "x"), false),
    ])
    func aProbeIsToldApart(token: String, outcome: Outcome, isProbe: Bool) throws {
        let node = Node()
        _ = node.pipeline.add(Node.android)
        node.accept(Sample.android("1", token: token))
        let handle = try #require(node.send())
        _ = node.takeEffects()
        node.pipeline.attemptEnded(handle, outcome, at: node.now, using: &node.random)
        let ends = node.takeEffects().compactMap { if case .ended(let end) = $0 { end } else { nil } }
        #expect(ends.map(\.isProbe) == [isProbe])
    }

    @Test func whatIsMovedGoesThroughTheBacklogOfTheOther() throws {
        let node = start(Self.closed)
        #expect(node.pipeline.move([Self.closed], toApp: "nobody", at: node.now) == .refused)
        #expect(node.pipeline.move([Node.android], toApp: "ios", at: node.now) == .refused)
        #expect(node.pipeline.move([Self.closed], toApp: "android", at: node.now) == .moved(5))
        #expect(node.pipeline.waiting == 5)
        // Not before it is there.
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 10, at: node.now)
        #expect(claims(node).isEmpty)
        let changes = node.begin()
        #expect(changes.last == .move(Self.closed, toApp: "android"))
        #expect(
            changes.contains {
                if case .shelve(_, let sequences, _) = $0 { sequences == [4, 5] } else { false }
            })
        node.commit()
        #expect(node.pipeline.lane(of: Self.closed) == nil)
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 10, at: node.now)
        #expect(claims(node).map(\.kind) == [.due(Node.android)])
    }

    /// What could not be read yet to be ended is not given to others.
    @Test func whatIsBeingGivenUpIsNotMoved() throws {
        let node = start(Self.closed)
        _ = node.pipeline.drop(Self.closed, at: node.now)
        let claim = try #require(claims(node).first)
        node.pipeline.claimFailed(claim, at: node.now)
        #expect(node.pipeline.move([Self.closed], toApp: "android", at: node.now) == .notNow)
        node.pipeline.claimed(Claimed(), by: claim, at: node.now)
        #expect(node.pipeline.move([Self.closed], toApp: "android", at: node.now) == .moved(3))
    }

    /// Of two hosts one could be moved: both stay until both can.
    @Test func whatIsMovedIsMovedForAllHostsOrForNone() throws {
        let hosts = [LaneHost.production, .sandbox]
        let node = Node()
        for host in hosts { _ = node.pipeline.add(LaneID(app: "android", host: host)) }
        let closed = hosts.map { LaneID(app: "closed", host: $0) }
        node.pipeline.start(
            OutboxContent(
                waiting: closed.enumerated().map { row(Int64($0 + 1), $1, device: $0 + 1) }, lastSequence: 2),
            at: node.now, clockOffset: 0)
        node.pipeline.delivery.withLane(node.pipeline.lane(closed[1])) { $0.isClaiming = true }
        #expect(node.pipeline.move(closed, toApp: "android", at: node.now) == .notNow)
        #expect(node.begin().isEmpty && node.pipeline.lane(of: closed[0]) != nil)
        node.pipeline.delivery.withLane(node.pipeline.lane(closed[1])) { $0.isClaiming = false }
        #expect(node.pipeline.move(closed, toApp: "android", at: node.now) == .moved(2))
    }

    /// During a mass expiry nothing can be moved, and nobody is told that nothing waited.
    @Test func whatIsBeingSweptIsNotMovedNow() {
        let node = start(Self.closed)
        node.pipeline.isSweeping = true
        #expect(node.pipeline.move([Self.closed], toApp: "android", at: node.now) == .notNow)
        node.pipeline.isSweeping = false
        #expect(node.pipeline.move([Self.closed], toApp: "android", at: node.now) == .moved(5))
    }

    /// Its gateway has the first of three; the others are dropped, and the first is not said to be.
    @Test func whatAGatewayHasIsCountedAsUnderWay() throws {
        let node = Node()
        _ = node.pipeline.add(Node.android)
        for name in ["1", "2", "3"] { node.accept(Sample.android(name)) }
        let sequences = [Int64](1...3)
        #expect(node.pipeline.underWay(in: Node.android) == 0)
        let handle = try #require(node.send())
        #expect(node.pipeline.drop(Node.android, at: node.now) == 2)
        #expect(node.pipeline.underWay(in: Node.android) == 1)
        #expect(node.pipeline.underWay(sequences) == 1 && node.pipeline.underWay([2, 3, 99]) == 0)
        node.end(handle, .accepted)
        #expect(node.pipeline.underWay(in: Node.android) == 0)
    }

    /// The outbox has it in the lane that it leaves until the move is written.
    @Test func whatIsMovedIsNotClaimedFromWhereItWas() {
        let node = start(Self.closed)
        #expect(node.pipeline.move([Self.closed], toApp: "android", at: node.now) == .moved(5))
        let lane = node.pipeline.add(Self.closed)!
        // One more has come to its backlog.
        node.pipeline.delivery.withLane(lane) {
            $0.shelf.add()
            $0.claimAt = 0
        }
        node.pipeline.pump(lane, room: 10, at: node.now)
        #expect(claims(node).isEmpty)
        node.begin()
        node.commit()
        node.pipeline.pump(lane, room: 10, at: node.now)
        #expect(claims(node).map(\.kind) == [.due(Self.closed)])
    }

    /// It may come into the same place of memory that it had in the old one.
    @Test func whatIsMovedIsSentByItsNewLaneOnly() throws {
        let node = start(Self.closed)
        #expect(node.pipeline.move([Self.closed], toApp: "android", at: node.now) == .moved(5))
        let old = node.pipeline.add(Self.closed)!
        node.begin()
        node.commit()
        let new = node.pipeline.lane(Node.android)
        node.pipeline.pump(new, room: 10, at: node.now)
        let claim = try #require(claims(node).first)
        node.pipeline.claimed(Claimed([claimed(row(4, Node.android, device: 1))]), by: claim, at: node.now)
        for (lane, sent) in [(old, 0), (new, 1)] {
            _ = node.takeEffects()
            node.pipeline.pump(lane, room: 10, at: node.now)
            #expect(node.takeEffects().count { if case .send = $0 { true } else { false } } == sent)
        }
    }

    /// A device that has some in two lanes goes back as a whole: what the other lane just reads would overtake it.
    @Test func aDeviceDoesNotGoBackWhileItIsRead() {
        let node = Node()
        _ = node.pipeline.add(Node.android)
        let token = row(1, Self.closed, device: 1).token
        let rows = [Self.closed, Node.android].enumerated().map { index, lane in
            WaitingRow(
                sequence: Int64(index + 1), lane: lane, token: token, isUrgent: false, size: 100, attempts: 0,
                acceptedAt: Sample.start.unix, notBefore: 0,
                expiresAt: Sample.start.unix + .milliseconds(86_400_000))
        }
        node.pipeline.start(
            OutboxContent(waiting: rows, lastSequence: 2), at: node.now, clockOffset: 0)
        node.pipeline.delivery.withLane(node.pipeline.lane(Node.android)) { $0.isClaiming = true }
        #expect(node.pipeline.move([Self.closed], toApp: "android", at: node.now) == .notNow)
        node.pipeline.delivery.withLane(node.pipeline.lane(Node.android)) { $0.isClaiming = false }
        #expect(node.pipeline.move([Self.closed], toApp: "android", at: node.now) == .moved(1))
    }

    @Test func whoeverBringsWhatIsRefusedIsNamed() throws {
        let node = Node()
        _ = node.pipeline.add(Node.android)
        var submission = Sample.android("1")
        submission.sender = SenderID(7)
        node.accept(submission)
        node.end(try #require(node.send()), .refused(reason: "BadDeviceToken"))
        submission = Sample.android("2")
        submission.sender = SenderID(8)
        node.accept(submission)
        let handle = try #require(node.send())
        _ = node.takeEffects()
        node.pipeline.attemptEnded(
            handle, .tokenDead(reason: "Unregistered", since: nil), at: node.now, using: &node.random)
        #expect(node.takeEffects().contains(.refused(SenderID(8))))
        #expect(!node.takeEffects().contains(.refused(SenderID(7))))
    }
}
