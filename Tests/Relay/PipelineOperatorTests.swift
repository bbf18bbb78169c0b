import Clocks
import Testing

@testable import Relay

/// What the operator does with all that waits in a lane, while the node runs.
@Suite struct PipelineOperatorTests {
    static let closed = LaneID(app: "closed", host: .production)

    func row(_ sequence: Int64, _ lane: LaneID, device: Int, notBefore: UnixTime = 0) -> WaitingRow {
        let submission = Sample.android("\(sequence)", token: Sample.token(device))
        let digests = Sample.digests(
            submission, to: Recipient(lane: lane, deviceToken: submission.deviceToken))
        return WaitingRow(
            sequence: sequence, lane: lane, token: digests.token, isUrgent: false, size: 100, attempts: 0,
            acceptedAt: Sample.start.unix, notBefore: notBefore,
            expiresAt: Sample.start.unix + .milliseconds(86_400_000))
    }

    func claimed(_ row: WaitingRow) -> Claimed.Row {
        Claimed.Row(
            row,
            Notification(
                id: NotificationID(high: 1, low: UInt64(row.sequence)), lane: row.lane,
                deviceToken: DeviceToken(Sample.token(1)), content: Sample.android().content,
                expiresAt: row.expiresAt, acceptedAt: row.acceptedAt))
    }

    func claims(_ node: Node) -> [Claim] {
        node.takeEffects().compactMap { if case .claim(let claim) = $0 { claim } else { nil } }
    }

    /// Two in memory, of one device, and three on disk.
    func start(_ lane: LaneID) -> Node {
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
    func firstSent(_ node: Node, _ lane: LaneID) throws -> Pipeline.Handle {
        guard case .load(let sequences) = node.next(lane) else { throw Missing() }
        node.loaded(
            Dictionary(
                uniqueKeysWithValues: sequences.map { ($0, claimed(row($0, lane, device: 1)).notification) }),
            of: sequences, lane)
        return try #require(node.send(lane))
    }

    struct Missing: Error {}

    @Test func singleOnesAreGivenUpInAnyOrder() {
        let node = start(Node.android)
        #expect(node.pipeline.drop([5, 4, 4, 1, 99], at: node.now) == 2)
        #expect(node.begin().count == 2)
        #expect(!node.isWaiting(4) && !node.isWaiting(5))
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
        node.pipeline.delivery.withLane(node.pipeline.lane(closed[1])) { $0.claim.beginGivingUp() }
        #expect(node.pipeline.move(closed, toApp: "android", at: node.now) == .notNow)
        #expect(node.begin().isEmpty && node.pipeline.lane(of: closed[0]) != nil)
        node.pipeline.delivery.withLane(node.pipeline.lane(closed[1])) { $0.claim.end(dueAt: $0.claim.at) }
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
            $0.claim.becomeDue(at: 0)
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
        node.pipeline.delivery.withLane(node.pipeline.lane(Node.android)) { $0.claim.beginGivingUp() }
        #expect(node.pipeline.move([Self.closed], toApp: "android", at: node.now) == .notNow)
        node.pipeline.delivery.withLane(node.pipeline.lane(Node.android)) { $0.claim.end(dueAt: $0.claim.at) }
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
