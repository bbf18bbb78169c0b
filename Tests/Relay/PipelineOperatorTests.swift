import Testing

@testable import Relay

/// What the operator does with all that waits in a lane, while the node runs.
@Suite struct PipelineOperatorTests {
    private static let closed = LaneID(app: "closed", host: .production)

    private func row(_ sequence: Int64, _ lane: LaneID, device: Int, notBefore: Int64 = 0) -> WaitingRow {
        let submission = Sample.android("\(sequence)", token: Sample.token(device))
        let digests = Sample.digests(
            submission, to: Recipient(lane: lane, deviceToken: submission.deviceToken))
        return WaitingRow(
            sequence: sequence, lane: lane, token: digests.token, isUrgent: false, size: 100, attempts: 0,
            acceptedAt: Sample.start.unixMilliseconds, notBefore: notBefore,
            expiresAt: Sample.start.unixMilliseconds + 86_400_000)
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
                        lane: lane, waiting: 3, bytes: 300, oldestAcceptedAt: Sample.start.unixMilliseconds)
                ], lastSequence: 5), at: node.now, clockOffset: 0)
        _ = node.takeEffects()
        return node
    }

    @Test(arguments: [Self.closed, Node.android])
    func whatIsGivenUpEndsAlsoOnDiskAndWhatComesLaterDoesNot(lane: LaneID) throws {
        let node = start(lane)
        #expect(node.pipeline.giveUp(lane, at: node.now) == 5)
        var claim = try #require(claims(node).first)
        #expect(claim.last == 5 && claim.time > Int64.max / 4)
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

    @Test func whatIsMovedGoesThroughTheBacklogOfTheOther() throws {
        let node = start(Self.closed)
        #expect(node.pipeline.move(Self.closed, toApp: "nobody", at: node.now) == nil)
        #expect(node.pipeline.move(Node.android, toApp: "ios", at: node.now) == nil)
        #expect(node.pipeline.move(Self.closed, toApp: "android", at: node.now) == 5)
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
