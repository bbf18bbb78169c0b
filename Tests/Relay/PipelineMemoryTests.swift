import Clocks
import Testing

@testable import Relay

/// What is kept in memory, and what waits on disk only.
@Suite struct PipelineMemoryTests {
    private static let size = Sample.message.utf8.count + Sample.token(10).utf8.count

    /// Accepts `count` for as many devices, with room for `bodies` in memory; what the outbox holds.
    private func node(_ count: Int, bodies: Int) -> (Node, [Int64: Notification]) {
        let node = Node(bodyBudget: bodies * Self.size)
        for number in 10..<10 + count { node.accept(Sample.android(token: Sample.token(number))) }
        var rows: [Int64: Notification] = [:]
        for (index, request) in node.stores.enumerated() { rows[Int64(index + 1)] = request.notification }
        return (node, rows)
    }

    @Test func withinTheBudgetNothingIsLoaded() {
        let (node, _) = node(20, bodies: 20)
        #expect(node.sendAll() == Array(1...20))
    }

    @Test func beyondTheBudgetBodiesWaitOnDiskAndAreLoadedInTime() {
        let (node, rows) = node(30, bodies: 20)
        #expect(node.pipeline.bodyBytes == 20 * Self.size)
        let handles = (1...20).compactMap { _ in node.send() }
        #expect(handles.map(\.sequence) == Array(1...20))
        for handle in handles { node.end(handle, .accepted) }
        #expect(node.pipeline.bodyBytes == 0)
        #expect(node.next() == .load(Array(21...30)))
        node.loaded(rows, of: Array(21...30))
        #expect(node.pipeline.bodyBytes == 10 * Self.size)
        #expect(node.sendAll() == Array(21...30))
    }

    @Test func noMoreThanSixtyFourAreLoadedAtOnce() {
        let (node, rows) = node(100, bodies: 0)
        #expect(node.next() == .load(Array(1...64)))
        node.loaded(rows, of: Array(1...64))
        for number in 1...64 { #expect(node.send()?.sequence == Int64(number)) }
        guard case .load(let more) = node.next() else { return #expect(Bool(false)) }
        #expect(more == Array(65...100))
    }

    /// One that is in memory is not asked for again, and not counted twice.
    @Test func whatIsInMemoryIsNotLoaded() {
        var (node, rows) = node(10, bodies: 0)
        #expect(node.next() == .load(Array(1...10)))
        node.loaded(rows, of: Array(1...10))
        node.accept(Sample.android(token: Sample.token(99), isUrgent: true))
        #expect(node.next() == .load([11]))
        for (index, request) in node.stores.enumerated() { rows[Int64(index + 1)] = request.notification }
        node.loaded(rows, of: [11])
        #expect(node.pipeline.bodyBytes == 11 * Self.size)
        #expect(node.sendAll() == [11] + Array(1...10))
    }

    @Test(arguments: [
        Outcome.tooMany, .overloaded, .goneAway, .blocked(reason: "BadTopic"),
    ])
    func whatIsPutOffLeavesMemoryBeyondTheBudget(outcome: Outcome) {
        let (node, rows) = node(64, bodies: 5)
        // The first five are in memory already.
        var handles = (1...5).compactMap { _ in node.send() }
        guard case .load(let sequences) = node.next() else { return #expect(Bool(false)) }
        node.loaded(rows, of: sequences)
        while let handle = node.send() { handles.append(handle) }
        #expect(handles.count == 64)
        #expect(node.pipeline.bodyBytes == 64 * Self.size)
        for handle in handles { node.end(handle, outcome) }
        #expect(node.pipeline.bodyBytes == 5 * Self.size)
        #expect(node.pipeline.waiting == 64)
    }

    @Test func everyEndGivesItsBodyBack() throws {
        let (node, _) = node(5, bodies: 5)
        node.end(try #require(node.send()), .accepted)
        node.end(try #require(node.send()), .refused(reason: "r"))
        node.end(try #require(node.send()), .tokenDead(reason: "d", since: nil))
        #expect(node.pipeline.bodyBytes == 2 * Self.size)
        node.pass(.seconds(28 * 86400))
        #expect(node.expire().count == 2)
        #expect(node.pipeline.bodyBytes == 0)
        _ = node.submit(Sample.android())
        node.begin()
        node.pipeline.commitFailed(.full, at: node.now)
        #expect(node.pipeline.bodyBytes == 0)
    }

    /// Those that still wait keep their places and their order.
    @Test func anOutageLeavesNoRoomBehind() throws {
        let node = Node(bodyBudget: 1 << 24)
        for number in 0..<4000 { node.accept(Sample.android(token: Sample.token(number))) }
        let room = node.pipeline.delivery.entries.capacity
        for _ in 0..<3990 { node.end(try #require(node.send()), .accepted) }
        node.end(try #require(node.send()), .tooMany)
        node.pipeline.delivery.giveBackRoom()
        node.accept(Sample.android(token: Sample.token(5000)))
        #expect(node.pipeline.delivery.slots[4001] == 0)
        #expect(node.sendAll() == Array(3992...4001))
        node.pass(.seconds(3600))
        let late = try #require(node.send())
        #expect(late.sequence == 3991)
        node.end(late, .accepted)
        node.pass(.seconds(28 * 86400))
        _ = node.expire()
        node.pipeline.delivery.giveBackRoom()
        #expect(node.pipeline.delivery.entries.capacity <= room)
        node.accept(Sample.android(token: Sample.token(5001)))
        #expect(node.sendAll() == [4002])
    }

    @Test func anEmptyNodeKeepsLittleRoom() throws {
        let node = Node(bodyBudget: 1 << 24)
        for number in 0..<4000 { node.accept(Sample.android(token: Sample.token(number))) }
        for _ in 0..<4000 { node.end(try #require(node.send()), .accepted) }
        node.pipeline.delivery.giveBackRoom()
        #expect(node.pipeline.delivery.entries.isEmpty)
        #expect(node.pipeline.delivery.entries.capacity < 8)
        node.accept(Sample.android(token: Sample.token(5000)))
        #expect(node.sendAll() == [4001])
    }

    /// For weeks nothing is sent, and what comes expires unsent.
    @Test func aLaneThatIsBlockedGathersNothing() throws {
        let node = Node()
        node.accept(Sample.android(token: Sample.token(0)))
        node.end(try #require(node.send()), .blocked(reason: "BadTopic"))
        for round in 0..<5000 {
            let lifetime = node.now.unix + .milliseconds(500)
            node.accept(Sample.android(token: Sample.token(round), expiresAt: lifetime))
            node.pass(.milliseconds(600))
            #expect(node.expire().count == 1)
            node.end(node.retry(), .blocked(reason: "BadTopic"))
        }
        let lane = node.pipeline.lanes[node.pipeline.lane(Node.android)]
        #expect(lane.ready.count < 200)
        #expect(lane.postponed.count < 200)
    }
}

extension Node {
    /// The operator's try: what was blocked goes at once.
    fileprivate func retry() -> Pipeline.Handle {
        pipeline.resume(Node.android, at: now)
        guard let handle = send() else { preconditionFailure("nothing to try with") }
        return handle
    }
}
