import Testing

@testable import Relay

/// Lanes that come and go while the node runs.
@Suite struct PipelineLanesTests {
    @Test func aLaneThatComesLaterSendsWhatWaited() {
        let node = Node()
        node.accept(Sample.android())
        let lane = node.pipeline.lane(Node.android)
        node.pipeline.pump(lane, room: 5, at: node.now)
        #expect(!node.takeEffects().contains { if case .send = $0 { true } else { false } })
        #expect(node.pipeline.add(Node.android) == lane)
        var stirred: [Int] = []
        node.pipeline.takeStirred(&stirred)
        #expect(stirred == [lane])
        node.pipeline.pump(lane, room: 5, at: node.now)
        #expect(node.takeEffects().contains { if case .send = $0 { true } else { false } })
    }

    @Test func aLaneWithoutGatewayKeepsWhatWaitsAndSendsNothing() throws {
        let node = Node()
        #expect(node.pipeline.add(Node.android) == 0)
        node.accept(Sample.android("1"))
        node.accept(Sample.android("2"))
        let first = try #require(node.send())
        node.pipeline.remove(Node.android)
        node.end(first, .tooMany)
        node.pass(.seconds(900))
        node.pipeline.pump(0, room: 5, at: node.now)
        #expect(node.takeEffects() == [])
        #expect(node.pipeline.waiting == 2)
        #expect(node.pipeline.add(Node.android) == 0)
    }

    @Test func thePlaceOfALaneThatIsGoneIsTakenByAnother() throws {
        let node = Node()
        #expect(node.pipeline.add(Node.android) == 0)
        #expect(node.pipeline.add(Node.ios) == 1)
        node.pipeline.remove(Node.android)
        #expect(node.pipeline.lane(of: Node.android) == nil)
        _ = node.takeEffects()
        #expect(node.pipeline.add(Node.tight) == 0)
        #expect(node.takeEffects() == [.laneOpened(0)])
        #expect(node.pipeline.lane(of: Node.tight) == 0)
    }

    @Test func thereAreSoManyLanesAndNoMore() {
        let node = Node()
        for number in 0..<Pipeline.mostLanes {
            #expect(node.pipeline.add(LaneID(app: "\(number)", host: .production)) == number)
        }
        #expect(node.pipeline.add(Node.android) == nil)
        #expect(node.submit(Sample.android()) == .answered(.busy(.node(retryAfter: .seconds(5)))))
        node.pipeline.remove(LaneID(app: "17", host: .production))
        #expect(node.pipeline.lane(of: LaneID(app: "900", host: .production)) == 900)
        #expect(node.pipeline.add(Node.android) == 17)
        #expect(node.accept(Sample.android()) == 1)
    }
}
