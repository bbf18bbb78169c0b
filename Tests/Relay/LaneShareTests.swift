import Testing

@testable import Relay

/// One lane's trouble fills no other lane's room.
@Suite struct LaneShareTests {
    private func node(waiting: Int) -> Node {
        var limits = Admission.Limits()
        limits.waiting = waiting
        let node = Node(limits: limits)
        _ = node.pipeline.add(Node.android)
        _ = node.pipeline.add(Node.ios)
        return node
    }

    /// As many as a lane takes.
    private func fill(_ node: Node, from first: Int = 0, by circuit: Int? = nil) -> Int {
        for number in first..<10_000 {
            var submission = Sample.android("\(number)", token: Sample.token(number))
            submission.sender = circuit.map { SenderID($0) }
            guard node.accept(submission) > 0 else {
                return number - first
            }
        }
        return 10_000
    }

    @Test func aLaneThatNeverDeliveredHasLittleRoom() {
        let node = node(waiting: 1000)
        #expect(fill(node) == 111)
        #expect(node.accept(Sample.ios()) > 0)
    }

    @Test func aLaneThatDeliveredLeavesRoomForOthers() throws {
        let node = node(waiting: 1000)
        node.accept(Sample.android("first"))
        node.end(try #require(node.send()), .accepted)
        #expect(fill(node) == 800)
        #expect(node.submit(Sample.android("more")) == .answered(.busy(.node(retryAfter: .seconds(30)))))
        // Another one finds its share of what is left, although it never delivered.
        for number in 0..<20 {
            let token = String(repeating: number < 10 ? "0\(number)" : "\(number)", count: 32)
            #expect(node.accept(Sample.ios(token: token)) > 0)
        }
    }

    @Test func whatWasLeftOfBeforeKeepsItsRoom() {
        let node = node(waiting: 1000)
        node.pipeline.start(
            OutboxContent(backlog: [
                LaneBacklog(lane: Node.android, waiting: 500, bytes: 500, oldestAcceptedAt: 0)
            ]), at: node.now, clockOffset: 0)
        #expect(fill(node) == 300)
    }

    // MARK: One circuit

    /// The same for bytes.
    @Test(arguments: [(1000, 256 << 20, 495...505), (100_000, 1 << 20, 6000...7500)])
    func oneCircuitTakesNoMoreThanHalfOfTheNode(waiting: Int, bytes: Int, share: ClosedRange<Int>) throws {
        var limits = Admission.Limits()
        (limits.waiting, limits.waitingBytes) = (waiting, bytes)
        let node = Node(limits: limits)
        _ = node.pipeline.add(Node.android)
        node.accept(Sample.android("first"))
        node.end(try #require(node.send()), .accepted)
        let taken = fill(node, by: 1)
        #expect(share.contains(taken))
        // Others find the rest of the lane's room, until they have brought much of it.
        #expect(fill(node, from: 8000, by: 2) == 16)
        #expect(fill(node, from: 8500, by: 2) == 0)
        #expect(fill(node, from: 9000, by: 3) == 16)
        #expect(fill(node, from: 9500) > 100)
    }

    @Test func oneCircuitTakesHalfOfALaneThatNeverDelivered() {
        let node = node(waiting: 100)
        #expect(fill(node, by: 1) == 32)
        #expect(fill(node, from: 1000, by: 2) == 16)
        #expect(fill(node, from: 2000, by: 3) == 16)
        #expect(fill(node, from: 3000) == 0)
    }

    /// What goes out at once is nobody's share, however much it is.
    @Test func whoBringsMuchOfWhatIsDeliveredIsLetIn() throws {
        let node = node(waiting: 100)
        for number in 0..<200 {
            var submission = Sample.android("\(number)", token: Sample.token(number))
            submission.sender = SenderID(1)
            #expect(node.accept(submission) > 0)
            node.end(try #require(node.send()), .accepted)
        }
        #expect(fill(node, from: 1000, by: 1) == 50)
    }

    /// Nor does it count later, when others have brought what waits.
    @Test func whatWasDeliveredAtOnceIsNotRememberedAgainstItsSender() throws {
        let node = node(waiting: 100)
        for number in 0..<200 {
            var submission = Sample.android("\(number)", token: Sample.token(number))
            submission.sender = SenderID(1)
            #expect(node.accept(submission) > 0)
            node.end(try #require(node.send()), .accepted)
        }
        for number in 1000..<1060 {
            #expect(node.accept(Sample.android("\(number)", token: Sample.token(number))) > 0)
        }
        #expect(fill(node, from: 2000, by: 1) == 16)
    }
}
