import Clocks
import Testing
import Vectors

@testable import Relay

/// What gateways ask for outlives what waits, and the process.
@Suite struct WishesTests {
    private let outbox = Kept()

    /// An outbox, and the processes that come one after another.
    private final class Kept {
        var model = ModelOutbox()
        var faults: [String] = []

        func commit(_ node: Node) {
            let changes = node.begin()
            guard !changes.isEmpty else { return }
            node.commit(model.commit(changes) { self.faults.append($0) })
        }

        /// The next process, on a clock of its own.
        func start(after: Node? = nil, down: Duration = .zero, clock: Duration = .zero) -> Node {
            let node = Node()
            node.now.unix =
                (after?.now ?? node.now).unix + down + clock
            model.restart()
            node.pipeline.start(model.content, at: node.now, clockOffset: node.now.offset)
            _ = node.pipeline.add(Node.android)
            return node
        }
    }

    private static func deferred(_ scope: Deferral.Scope, _ wish: Duration) -> Outcome {
        .deferred(Deferral(reason: "429", scope: scope, retryAfter: wish, witnesses: 1))
    }

    /// Submits, stores and sends one, which the gateway puts off.
    private func putOff(_ node: Node, _ scope: Deferral.Scope, _ wish: Duration, expiresAt: UnixTime = 0)
        throws
    {
        _ = node.submit(Sample.android(expiresAt: expiresAt))
        outbox.commit(node)
        node.end(try #require(node.send()), Self.deferred(scope, wish))
        outbox.commit(node)
    }

    /// The one that was put off expires; ten minutes were asked for, and the next one came after 50 seconds.
    @Test func aDevicesWishOutlivesItsQueue() throws {
        let node = outbox.start()
        try putOff(node, .device, .seconds(600), expiresAt: node.now.unix + .milliseconds(30_000))
        node.pass(.seconds(50))
        #expect(node.expire().count == 1)
        _ = node.submit(Sample.android(message: "QUJD" + Sample.message))
        outbox.commit(node)
        #expect(node.send() == nil)
        node.pass(.seconds(549))
        #expect(node.send() == nil)
        node.pass(.seconds(1))
        #expect(node.send() != nil)
    }

    /// An hour was asked for; a quarter of it was kept.
    @Test func aDevicesWishOutlivesTheProcess() throws {
        let first = outbox.start()
        try putOff(first, .device, .seconds(3600))
        let second = outbox.start(after: first, down: .seconds(60))
        second.pass(.seconds(3539))
        #expect(second.next() == .wait(until: second.now.monotonic + .seconds(1)))
        second.pass(.seconds(1))
        guard case .load = second.next() else { return #expect(Bool(false)) }
    }

    /// Nothing waits any more when the process ends.
    @Test func aWishWithoutANotificationOutlivesTheProcess() throws {
        let first = outbox.start()
        try putOff(first, .device, .seconds(3600), expiresAt: first.now.unix + .milliseconds(30_000))
        first.pass(.seconds(50))
        _ = first.expire()
        outbox.commit(first)
        let second = outbox.start(after: first)
        _ = second.submit(Sample.android())
        outbox.commit(second)
        second.pass(.seconds(3549))
        #expect(second.send() == nil)
        second.pass(.seconds(1))
        #expect(second.send() != nil)
    }

    /// The whole lane was asked to wait for an hour: the next process asked at once.
    @Test func aLanesPauseOutlivesTheProcess() throws {
        let first = outbox.start()
        try putOff(first, .app, .seconds(3600))
        let second = outbox.start(after: first, down: .seconds(60))
        _ = second.submit(Sample.android(token: Sample.token(2)))
        outbox.commit(second)
        second.pass(.seconds(3539))
        #expect(second.send() == nil)
        second.pass(.seconds(1))
        #expect(second.condition() == .paused(until: second.now.monotonic))
        // The newest tries, and then the oldest, which is on disk only.
        #expect(second.send() != nil)
        guard case .load = second.next() else { return #expect(Bool(false)) }
    }

    /// However the clock was set meanwhile, no more is waited than was asked for.
    @Test(arguments: [-400 * 86_400, -7200] as [Int64]) func aClockThatWasSetBackProlongsNoWish(by: Int64)
        throws
    {
        let first = outbox.start()
        try putOff(first, .app, .seconds(600))
        let second = outbox.start(after: first, clock: .seconds(by))
        second.pass(.seconds(599))
        #expect(second.next() == .wait(until: second.now.monotonic + .seconds(1)))
    }

    /// What failed is tried by few, and its senders hear what is wrong; the operator may have mended it, so at once.
    @Test func aBlockOutlivesTheProcess() throws {
        let first = outbox.start()
        for number in 1...3 {
            _ = first.submit(Sample.android(token: Sample.token(number)))
            outbox.commit(first)
            first.end(try #require(first.send()), .blocked(reason: "InvalidProviderToken"))
        }
        outbox.commit(first)
        first.pass(.seconds(100))
        let second = outbox.start(after: first, down: .seconds(20))
        let lane = second.pipeline.lanes[second.pipeline.lane(Node.android)]
        let since = second.now.monotonic - .seconds(120)
        #expect(lane.block == LaneBlock(reason: "InvalidProviderToken", since: since))
        guard case .load(let sequences) = second.next() else { return #expect(Bool(false)) }
        let bodies = outbox.model.notifications(sequences)
        second.loaded(bodies, of: sequences)
        second.end(try #require(second.send()), .accepted)
        #expect(second.condition() == .open)
        outbox.commit(second)
        #expect(outbox.model.content.lanes.isEmpty)
        #expect(outbox.faults.isEmpty)
    }

    /// A table that grew with each device that ever was put off would be nobody's.
    @Test func whatIsOverIsForgotten() throws {
        let node = outbox.start()
        try putOff(node, .device, .seconds(60))
        #expect(outbox.model.content.wishes.count == 1)
        node.pass(.seconds(61))
        node.pipeline.wake(at: node.now, clockOffset: node.now.offset)
        outbox.commit(node)
        #expect(outbox.model.content.wishes.isEmpty)
        #expect(node.pipeline.delivery.wishes.count == 0)
    }

    /// A push server of a stranger's choice wishes something for each of its devices.
    @Test func aLaneTakesItsShareOfTheWishesOnly() {
        var wishes = Wishes(most: 4096)
        func add(_ number: Int, _ lane: String) -> Bool {
            wishes.add(
                Digest(high: UInt64(bitPattern: Int64(number)), low: 0),
                of: LaneID(app: lane, host: .production), until: 9)
        }
        let taken = (0..<4096).count { add($0, "greedy") }
        #expect(taken > 4096 / 16)
        #expect(taken < 4096 / 4)
        #expect(add(-1, "other"))
    }
}
