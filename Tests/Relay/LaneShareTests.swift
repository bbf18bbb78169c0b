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
    private func fill(_ node: Node, from first: Int = 0) -> Int {
        for number in first..<10_000 {
            guard node.accept(Sample.android("\(number)", token: Sample.token(number))) > 0 else {
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
}
