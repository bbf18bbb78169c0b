@testable import Relay

/// What the operator does with all that waits in a lane.
extension World {
    func operate() {
        let lane = World.lanes[draw(World.lanes.count)]
        switch draw(4) {
        case 0: drop(lane)
        case 1: retry(lane)
        default: move(lane)
        }
        carryOut()
    }

    private func retry(_ lane: LaneID) {
        // All that was put off comes at once, and most of it fails again.
        noteFault(lane)
        books.wishes.forget(lane)
        // What was moved waits for its devices in this lane, whichever lane's gateway asked to spare them.
        for entry in books.waiting.values where entry.notification.lane == lane {
            books.wishes.spared[Digest(high: entry.token.high & ~Books.moved, low: entry.token.low)] = nil
        }
        books.resumed(lane)
        _ = pipeline.retryNow(lane, at: now)
    }

    /// What was on disk when the operator was told how many are dropped.
    private func noteDropped(_ lane: LaneID) {
        // What is moved just now is on disk in the one lane, and counted in the other.
        guard !pipeline.commits.isMoving else { return }
        for (sequence, entry) in books.waiting
        where entry.notification.lane == lane && outbox.rows[sequence]?.isShelved == true
            && pipeline.delivery.slots[sequence] == nil
        {
            books.dropped.insert(sequence)
        }
    }

    func checkDropped(_ sequence: Int64) {
        if books.dropped.contains(sequence) { fail("\(sequence) is sent, and was counted as dropped") }
    }

    private func drop(_ lane: LaneID) {
        noteDropped(lane)
        let count = pipeline.drop(lane, at: now)
        // A move may still be on its way into the outbox: the books have it in its old lane.
        let waiting = books.waiting.count + storing + atOnce.ones.count
        if count > waiting { fail("\(count) are dropped, and \(waiting) wait") }
    }

    /// An app whose gateway has gone has been given another name.
    private func move(_ lane: LaneID) {
        let other = lane.app == "ios" ? "android" : "ios"
        if lane.host == .production, hasFaults, present.contains(lane), draw(2) == 0 {
            present.remove(lane)
            pipeline.remove(lane)
            noteFault(lane)
        }
        // What is under way stays where it is, and so behind what was moved.
        guard !attempts.contains(where: { $0.lane == lane }), loads[lane] == nil, storing == 0, commit == nil
        else { return }
        let target = LaneID(app: other, host: lane.host)
        let answer = pipeline.move([lane], toApp: other, at: now)
        let mayMove = !present.contains(lane) && present.contains(target)
        if mayMove == (answer == .refused) { fail("\(lane) is moved to \(target): \(answer)") }
        guard case .moved = answer else { return }
        noteMove(lane, target)
        self.moved = max(self.moved, pipeline.lanes[pipeline.lane(target)].taken.count)
    }

    /// The outbox has given them to the other lane.
    func takeMoves(_ changes: [OutboxChange]) {
        for case .move(let lane, _) in changes {
            for (sequence, entry) in books.waiting where entry.notification.lane == lane {
                guard let row = outbox.rows[sequence], row.notification.lane != lane else { continue }
                books.move(sequence, row.notification)
            }
        }
    }
}
