@testable import Relay

/// What must hold after every step, and at the end.
extension World {
    func check() {
        let storing =
            submissions - lookups + (commit.map { $0.submissions - $0.lookups } ?? 0)
        if books.accepted != books.ended + books.waiting.count { fail("the books don't balance") }
        if pipeline.waiting != books.waiting.count + storing {
            fail("\(pipeline.waiting) places are taken by \(books.waiting.count) and \(storing)")
        }
        if pipeline.waiting > max(World.limits.waiting, restored) { fail("\(pipeline.waiting) wait") }
        if pipeline.waitingBytes > max(World.limits.waitingBytes, restored * 104) {
            fail("\(pipeline.waitingBytes) bytes wait")
        }
        // 104 bytes of message and token each; 64 loaded for each lane and the budget may be in memory besides.
        let bodies =
            World.bodyBudget + 104
            * (storing + attempts.count + (64 + World.window.claim) * World.lanes.count)
        if pipeline.bodyBytes > bodies { fail("\(pipeline.bodyBytes) bytes of bodies") }
        for lane in pipeline.lanes where !lane.isProven && lane.taken.count > 64 {
            fail("\(lane.id) has never delivered and has \(lane.taken.count) waiting")
        }
        for lane in pipeline.lanes
        where lane.taken.count > max(World.limits.waiting * 4 / 5 + 1, restored) {
            fail("\(lane.id) takes the reserve of all others")
        }
        for lane in pipeline.lanes
        where lane.count - lane.storing > World.window.perLane + 2 * World.window.claim {
            fail("\(lane.count) of \(lane.id) are in memory")
        }
        for lane in pipeline.lanes where lane.condition == .trying && lane.inFlight > 1 {
            // Those sent before the pause may be under way.
            if lane.inFlight > max(World.requestsAtOnce, Lane.mostTrials) {
                fail("\(lane.id) tries with many")
            }
        }
        if steps % 256 == 0 { checkAll() }
    }

    private func checkAll() {
        if pipeline.waitingBytes != 104 * pipeline.waiting { fail("\(pipeline.waitingBytes) bytes wait") }
        for entry in books.waiting.values
        where books.count(of: entry.token) > max(World.limits.waitingPerToken, restoredOfOne) {
            fail("a device has \(books.count(of: entry.token)) waiting")
        }
        for (sequence, entry) in books.waiting {
            if outbox.rows[sequence]?.notification != entry.notification { fail("\(sequence) has no row") }
        }
        senders.check(outbox, isCommitting: commit != nil, fail)
        guard commit?.results == nil else { return }
        let undurable = outbox.rows.keys.filter { books.waiting[$0] == nil && books.undurable[$0] == nil }
        if !undurable.isEmpty { fail("rows that nobody accepted: \(undurable)") }
    }

    /// Faults cease and senders rest: everything must come to its end.
    func drain() {
        hasFaults = false
        if isStopping { crash() }
        gateway.heal()
        for lane in World.lanes where !present.contains(lane) { add(lane) }
        carryOut()
        for _ in 0..<20_000 where violation == nil {
            if pipeline.waiting == 0, !isCommitAsked, commit == nil, pipeline.commitAt == .max { break }
            beginCommit()
            endCommit(succeeds: true)
            while !loads.isEmpty { endLoad(succeeds: true) }
            while !claims.isEmpty { endClaim(succeeds: true) }
            while !attempts.isEmpty { answer() }
            pump()
            wake()
            if attempts.isEmpty, loads.isEmpty, claims.isEmpty, !isCommitAsked, commit == nil {
                pass(.seconds(20))
            }
            check()
        }
        if pipeline.waiting != 0 || !books.waiting.isEmpty { fail("\(pipeline.waiting) are stuck") }
        if pipeline.waitingBytes != 0 || pipeline.bodyBytes != 0 { fail("bytes are left of nothing") }
        if !outbox.rows.isEmpty { fail("rows are left of nothing") }
        if books.accepted != books.ended { fail("the books don't balance at the end") }
        if !books.undurable.isEmpty { fail("ends are not written down") }
        if !senders.listening.isEmpty { fail("\(senders.listening.count) wait for nothing") }
    }
}
