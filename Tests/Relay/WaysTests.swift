import Clocks
import Testing

@testable import Relay

/// Notifications that must go by one way of their gateway, which is not open yet.
@Suite struct WaysTests {
    private let lane = 0

    private static func away(_ way: Int, for pause: Duration = .seconds(30)) -> Outcome {
        .deferred(Deferral(reason: "UpstreamAway", scope: .device, retryAfter: pause, way: way))
    }

    /// A node with notifications of as many devices, each put off for the way that is given for it.
    private func node(_ ways: [Int]) throws -> Node {
        let node = Node()
        _ = node.pipeline.add(Node.android)
        for number in ways.indices { node.accept(Sample.android(token: Sample.token(number))) }
        let handles = ways.map { _ in node.send() }
        for (handle, way) in zip(handles, ways) { node.end(try #require(handle), WaysTests.away(way)) }
        return node
    }

    private func sent(by way: Int, room: Int, _ node: Node) -> [Int64] {
        _ = node.takeEffects()
        _ = node.pipeline.pump(lane, way: way, room: room, at: node.now)
        return handles(node).map(\.sequence)
    }

    private func handles(_ node: Node) -> [Pipeline.Handle] {
        node.takeEffects().compactMap { if case .send(let handle, _, _) = $0 { handle } else { nil } }
    }

    @Test func whatWaitsForAWayGoesWhenItIsOpenAndNoSooner() throws {
        let node = try node([1, 2, 1, 1])
        #expect(node.sendAll() == [])
        node.pass(.seconds(10))
        #expect(sent(by: 0, room: 9, node) == [])
        #expect(sent(by: 1, room: 0, node) == [])
        // As many as it takes, in the order in which they came to wait.
        #expect(sent(by: 1, room: 2, node) == [1, 3])
        #expect(sent(by: 1, room: 2, node) == [4])
        #expect(sent(by: 2, room: 2, node) == [2])
        #expect(sent(by: 2, room: 2, node) == [])
    }

    @Test func aGatewayIsToldWhetherMoreWait() throws {
        let node = try node([1, 1, 2])
        func waits(_ way: Int, room: Int) -> Bool {
            node.pipeline.pump(lane, way: way, room: room, at: node.now)
        }
        #expect(!waits(0, room: 9) && waits(1, room: 0) && waits(1, room: 1) && !waits(1, room: 1))
        #expect(waits(2, room: 0))
    }

    @Test func itIsTriedAtItsOwnTimeInAnyCase() throws {
        let node = try node([1])
        node.pass(.seconds(30))
        let again = try #require(node.send())
        // Then it waits no more, and is not sent twice.
        #expect(sent(by: 1, room: 9, node) == [])
        node.end(again, WaysTests.away(1))
        #expect(sent(by: 1, room: 9, node) == [1])
    }

    /// The pause of a lane is for what may go by any way.
    @Test func aPausedLaneSendsWhatHasAWay() throws {
        let node = try node([1])
        var handles: [Pipeline.Handle] = []
        for number in 1...3 { node.accept(Sample.android(token: Sample.token(number))) }
        while let handle = node.send() { handles.append(handle) }
        for handle in handles { node.end(handle, .overloaded) }
        guard case .paused = node.condition() else { return #expect(Bool(false)) }
        #expect(sent(by: 1, room: 9, node) == [1])
    }

    /// It asked for nothing: what comes for its device later does not wait for longer than it does.
    @Test func whatWaitsForAWayHoldsUpItsDeviceOnlyUntilItGoes() throws {
        let node = Node()
        _ = node.pipeline.add(Node.android)
        node.accept(Sample.android("1"))
        node.end(try #require(node.send()), WaysTests.away(1))
        node.accept(Sample.android("2"))
        #expect(node.sendAll() == [])
        _ = node.pipeline.pump(lane, way: 1, room: 1, at: node.now)
        node.end(try #require(handles(node).first), .accepted)
        #expect(node.sendAll() == [2])
        node.accept(Sample.android("3"))
        #expect(!node.changes.contains { if case .spare = $0 { true } else { false } })
    }

    @Test func itIsCountedAndIsTriedAtOnceAfterAStart() throws {
        let node = try node([1])
        #expect(node.take().last == .postpone(sequence: 1, attempts: 1, notBefore: 0))
    }

    /// The operator has mended something: a way that was closed may be open.
    @Test func whenTheOperatorResumesTheLaneItIsTriedAtOnce() throws {
        let node = try node([1, 2])
        node.pipeline.resume(Node.android, at: node.now)
        #expect(node.sendAll() == [1, 2])
    }

    /// What was asked for on the one way does not count on the other, nor for what comes later.
    @Test func whatWasPutOffOnOneWayGoesAtOnceByAnother() throws {
        let node = Node()
        _ = node.pipeline.add(Node.android)
        for number in 0..<8 { node.accept(Sample.android(token: Sample.token(number))) }
        let handles = (0..<8).map { _ in node.send() }
        let later = Outcome.deferred(Deferral(reason: "HTTP429", scope: .host, retryAfter: .seconds(3600)))
        for handle in handles { node.end(try #require(handle), later) }
        node.pass(.seconds(60))
        #expect(node.sendAll() == [])
        node.pipeline.tryAnew(lane, at: node.now)
        var sent: [Int64] = []
        while let handle = node.send() {
            sent.append(handle.sequence)
            node.end(handle, .accepted)
        }
        #expect(sent == Array(1...8))
        node.accept(Sample.android(token: Sample.token(0)))
        #expect(node.sendAll() == [9])
    }

    @Test func whatWentOutBeforeItWasStoredWaitsUnderItsNewNumber() throws {
        let node = Node(writeBehind: .milliseconds(250))
        _ = node.pipeline.add(Node.android)
        var submission = Sample.android()
        submission.patience = .full
        guard case .storing = node.submit(submission, awaitsOutcome: true) else {
            return #expect(Bool(false))
        }
        let first = try #require(node.send())
        node.end(first, WaysTests.away(1))
        node.pass(.seconds(1))
        node.pipeline.wake(at: node.now, clockOffset: 0)
        node.begin()
        node.commit([.stored(sequence: node.number())])
        #expect(first.sequence != 1)
        #expect(sent(by: 1, room: 1, node) == [1])
    }

    @Test func whatHasExpiredIsNotSent() throws {
        let node = Node()
        _ = node.pipeline.add(Node.android)
        node.accept(Sample.android(expiresAt: node.now.unix + .seconds(60)))
        node.end(try #require(node.send()), WaysTests.away(1, for: .seconds(300)))
        node.pass(.seconds(61))
        #expect(sent(by: 1, room: 1, node) == [])
        #expect(node.pipeline.waiting == 0)
    }
}
