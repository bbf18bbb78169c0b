@testable import Relay

/// What goes wrong.
extension Cluster {
    /// About every second something.
    func disturb() {
        let node = nodes[draw(nodes.count)]
        switch draw(2000) {
        case 0..<6:
            if case .down = node.state { return }
            kills += 1
            node.end(restartAfter: draw(3) == 0 ? milliseconds(20_000) : milliseconds(1000))
        case 6..<9:
            guard node.isUp else { return }
            stops += 1
            node.stop()
        case 9..<15:
            guard node.pausedUntil == nil, node.session != nil else { return }
            pauses += 1
            node.pause(until: time + milliseconds(draw(2) == 0 ? 3000 : 20_000), standsStill: draw(2) == 0)
        case 15..<23: node.cut(until: time + milliseconds([1, 1000, 4000, 15_000][draw(4)]))
        case 23..<26:
            outages += 1
            let end = time + milliseconds(draw(2) == 0 ? 2000 : 15_000)
            for node in nodes { node.cut(until: end) }
        case 26..<36:
            let mood = ModelGateway.Mood.allCases[draw(ModelGateway.Mood.allCases.count)]
            gateway.change(World.lanes[draw(World.lanes.count)], to: mood)
        case 36..<38: gateway.heal()
        default: break
        }
    }

    static let forGood: Int64 = 1_000_000_000_000

    /// Nothing goes wrong any more. A node may be gone for good.
    func heal() {
        calmSince = time
        gateway.heal()
        for node in nodes {
            node.cutUntil = min(node.cutUntil, time)
            if let until = node.pausedUntil { node.pausedUntil = min(until, time) }
            // What a paused one had not sent yet.
            if let commit = node.commit { commit.dueAt = min(commit.dueAt, time) }
            node.comeBack()
        }
        guard draw(3) == 0, let node = nodes.last, !node.isStopping else { return }
        node.end(restartAfter: Cluster.forGood)
    }

    func take(_ attempt: World.Attempt, in process: Int) {
        if let wrong = books.take(attempt.handle.sequence, in: process) { fail(wrong) }
    }
}
