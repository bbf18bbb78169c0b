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

    /// What the operator has to mend lets one through at a time, and no pause outlasts it.
    @Test func aLaneWhoseGatewaysFaultIsOverIsTriedAtOnce() throws {
        let node = Node()
        let added = node.pipeline.add(Node.android)
        let lane = try #require(added)
        func sends(room: Int, hasFault: Bool) -> [Pipeline.Handle] {
            _ = node.takeEffects()
            node.pipeline.pump(lane, room: room, hasFault: hasFault, at: node.now)
            return node.takeEffects().compactMap {
                if case .send(let handle, _, _) = $0 { handle } else { nil }
            }
        }
        for number in 1...3 {
            node.accept(Sample.android("\(number)", token: Sample.androidToken + "\(number)"))
        }
        #expect(sends(room: 0, hasFault: false).isEmpty)
        for _ in 1...3 {
            let sent = sends(room: 0, hasFault: true)
            #expect(sent.count == 1)
            if let handle = sent.first { node.end(handle, .blocked(reason: "TLS")) }
        }
        #expect(node.blockedReason() == "TLS")
        #expect(sends(room: 0, hasFault: true).isEmpty)
        #expect(sends(room: 0, hasFault: false).isEmpty)
        #expect(sends(room: 10, hasFault: false).count == 3)
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
