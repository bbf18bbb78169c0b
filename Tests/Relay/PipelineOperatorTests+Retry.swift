import Clocks
import Testing

@testable import Relay

/// What the operator does with what is put off, or is just being read from disk.
extension PipelineOperatorTests {
    /// What was put off is sent now, and what is on disk is claimed once it is written down that it is due.
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
        #expect(effects.contains { if case .send = $0 { true } else { false } })
        #expect(!effects.contains { if case .claim = $0 { true } else { false } })
        #expect(node.begin().contains(.retry(Node.android, at: node.now.unix)))
        node.commit()
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 10, at: node.now)
        let claim = try #require(claims(node).first)
        #expect(claim.time == node.now.unix && claim.last == 5)
    }

    /// On disk all that a gateway asked for its devices would be found again with the next notification.
    @Test func aRetryForgetsWhatTheLanesGatewayHasAskedForItsDevices() throws {
        let node = start(Node.android)
        let (mine, others) = (Sample.digest("one"), Sample.digest("other"))
        _ = node.pipeline.delivery.wishes.add(mine, of: Node.android, until: .max)
        _ = node.pipeline.delivery.wishes.add(others, of: Self.closed, until: .max)
        _ = node.pipeline.retryNow(Node.android, at: node.now)
        #expect(node.begin().contains(.forgetWishes([mine])))
        #expect(node.pipeline.delivery.wishes.until(mine) == 0)
        #expect(node.pipeline.delivery.wishes.until(others) == .max)
    }

    /// What the page of a retry brings, and is put off again, waits as long as that says: no page brings it at once once more.
    @Test func whatFailsAgainAfterARetryWaitsForItsTime() throws {
        let node = start(Node.android)
        _ = try firstSent(node, Node.android)
        let first = try claim(byRetrying: node)
        node.pipeline.claimed(
            Claimed([claimed(row(1, Node.android, device: 2)), claimed(row(2, Node.android, device: 3))]),
            by: first, at: node.now)
        let wish = Deferral(reason: "TooManyRequests", scope: .device, retryAfter: .seconds(3600))
        for _ in 0..<2 { node.end(try #require(node.send()), .deferred(wish)) }
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 10, at: node.now)
        // Now in the backlog again, for others to come.
        #expect(node.begin().contains { if case .shelve = $0 { true } else { false } })
        node.commit()
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 10, at: node.now)
        let second = try #require(claims(node).first)
        #expect(second.time == node.now.unix)
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
        #expect(!node.isWaiting(1))
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

    /// What the claim of the first command brings to its end ends that command, and not the second one.
    @Test func aDropDuringADropReachesWhatHasComeSince() throws {
        let node = start(Node.android)
        #expect(node.pipeline.drop(Node.android, at: node.now) == 5)
        let first = try #require(claims(node).first)
        shelveAnother(node)
        #expect(node.pipeline.drop(Node.android, at: node.now) == 4)
        node.pipeline.claimed(Claimed([claimed(row(1, Node.android, device: 2))]), by: first, at: node.now)
        let second = try #require(claims(node).first)
        #expect(second.last == 6 && second.time == Claim.anyTime)
    }

    @Test func aRetryDuringARetryReachesWhatHasComeSince() throws {
        let node = start(Node.android)
        _ = try firstSent(node, Node.android)
        let first = try claim(byRetrying: node)
        shelveAnother(node)
        _ = node.pipeline.retryNow(Node.android, at: node.now)
        node.pipeline.claimed(Claimed(), by: first, at: node.now)
        #expect(node.begin().contains(.retry(Node.android, at: node.now.unix)))
        node.commit()
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 10, at: node.now)
        let second = try #require(claims(node).first)
        #expect(second.last == 6)
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

    /// A lane without a gateway that the operator has emptied stays until what is read for it is there: its place is no other
    /// lane's before.
    @Test(arguments: [true, false]) func aLaneStaysWhileItsBodiesAreBeingRead(succeeds: Bool) throws {
        let node = Node()
        _ = node.pipeline.add(Node.android)
        node.pipeline.start(
            OutboxContent(waiting: [row(4, Node.android, device: 1)], backlog: [], lastSequence: 4),
            at: node.now, clockOffset: 0)
        let lane = node.pipeline.lane(Node.android)
        node.pipeline.pump(lane, room: 1, at: node.now)
        #expect(node.takeEffects().contains(.load([4], lane: lane)))
        node.pipeline.remove(Node.android)
        #expect(node.pipeline.drop(Node.android, at: node.now) == 1)
        _ = node.begin()
        node.commit()
        #expect(node.pipeline.lane(of: Node.android) == lane)
        if succeeds {
            node.loaded([:], of: [4])
        } else {
            node.pipeline.loadFailed([4], lane: lane, at: node.now)
        }
        #expect(node.pipeline.lane(of: Node.android) == nil)
    }

    private func claim(byRetrying node: Node) throws -> Claim {
        #expect(node.pipeline.retryNow(Node.android, at: node.now) == 3)
        #expect(node.begin().contains(.retry(Node.android, at: node.now.unix)))
        node.commit()
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 10, at: node.now)
        let claim = try #require(claims(node).first)
        #expect(claim.last == 5)
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
}
