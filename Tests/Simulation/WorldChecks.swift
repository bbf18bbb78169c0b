import Clocks

@testable import Relay

/// What must hold after every step, and at the end.
extension World {
    func check() {
        if books.accepted != books.ended + books.waiting.count + books.kept {
            fail("the books don't balance")
        }
        let unstored = atOnce.ones.count
        if pipeline.waiting != books.waiting.count + storing + unstored {
            fail("\(pipeline.waiting) places are taken by \(books.waiting.count), \(storing) and \(unstored)")
        }
        if pipeline.waiting > max(scale.limits.waiting, restored) { fail("\(pipeline.waiting) wait") }
        if pipeline.waitingBytes > max(scale.limits.waitingBytes, restored * 104) {
            fail("\(pipeline.waitingBytes) bytes wait")
        }
        // 104 bytes of message and token each; 64 loaded for each lane and the budget may be in memory besides.
        let bodies =
            scale.bodyBudget + 104
            * (storing + unstored + attempts.count + (64 + scale.window.claim)
                * (World.lanes.count + World.originsPerApp))
        if pipeline.bodyBytes > bodies { fail("\(pipeline.bodyBytes) bytes of bodies") }
        for lane in pipeline.lanes
        where lane.count - lane.storing > scale.window.perLane + 2 * scale.window.claim {
            fail("\(lane.count) of \(lane.id) are in memory")
        }
        for lane in pipeline.lanes where lane.condition == .trying && lane.inFlight > 1 {
            // Those sent before the pause may be under way.
            if lane.inFlight > max(scale.requestsAtOnce, LanePause.mostTries) {
                fail("\(lane.id) tries with many")
            }
        }
        checkOrigins()
        if let lane = pipeline.lanes.first(where: {
            !$0.stage.isGone && $0.stage.hasGateway != present.contains($0.id)
        }) {
            fail("the core and the edge differ in whether \(lane.id) has a gateway")
        }
        if steps % 16 == 0 { checkShares() }
        if steps % 256 == 0 { checkAll() }
    }

    /// Places taken by what is on its way into the outbox.
    var storing: Int { submissions - lookups + (commit.map { $0.submissions - $0.lookups } ?? 0) }

    /// No lane takes the reserve of all others, and no sender that of all others in its lane.
    private func checkShares() {
        let places = scale.limits.waiting
        for lane in pipeline.lanes where !lane.stage.isGone {
            // What was restored or moved there no limit refuses.
            let most = lane.standing.isProven ? places * 4 / 5 + 1 : max(64, places / 9 + 1)
            if lane.taken.count > max(most, restored, moved) {
                fail("\(lane.id) takes the reserve of all others: \(lane.taken.count)")
            }
            let mostOfOne = lane.standing.isProven ? places / 2 + 1 : max(32, places / 17 + 1)
            let one = shares.most(in: lane.id)
            if one > mostOfOne { fail("one sender has \(one) of \(lane.id)") }
        }
    }

    private func checkAll() {
        if pipeline.waitingBytes != 104 * pipeline.waiting { fail("\(pipeline.waitingBytes) bytes wait") }
        // What a gateway keeps has left the outbox before the node hears of it.
        let most = max(scale.limits.waitingPerToken, restoredOfOne) + keptUnheard.count
        // What the operator has moved, once or twice, was below it each time.
        for entry in books.waiting.values
        where books.count(of: entry.token) > most && entry.token.high & Books.moved == 0 {
            fail("a device has \(books.count(of: entry.token)) waiting")
        }
        for (sequence, entry) in books.waiting where !keptUnheard.contains(sequence) {
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
        // Time goes in large steps now.
        healthySince = [:]
        if isStopping { crash() }
        gateway.heal()
        for lane in lanesNow where !present.contains(lane) { add(lane) }
        carryOut()
        for _ in 0..<20_000 where violation == nil {
            if pipeline.waiting == 0, !isCommitAsked, commit == nil,
                !pipeline.commits.isToBeAsked(at: MonotonicTime(nanoseconds: .max - 1)),
                atOnce.unwritten.isEmpty
            {
                break
            }
            beginCommit()
            endCommit(succeeds: true)
            while !loads.isEmpty { endLoad(succeeds: true) }
            while !claims.isEmpty { endClaim(succeeds: true) }
            while !attempts.isEmpty { answer() }
            pump()
            wake()
            if attempts.isEmpty, loads.isEmpty, claims.isEmpty, !isCommitAsked, commit == nil {
                // One that is doubted may have to stand for a day.
                pass(.seconds(pipeline.isClockDoubted ? 300 : 20))
            }
            check()
        }
        while !kept.isEmpty, violation == nil { fetch() }
        if pipeline.waiting != 0 || !books.waiting.isEmpty { fail("\(pipeline.waiting) are stuck") }
        if pipeline.waitingBytes != 0 || pipeline.bodyBytes != 0 { fail("bytes are left of nothing") }
        if !outbox.rows.isEmpty { fail("rows are left of nothing") }
        if books.accepted != books.ended { fail("the books don't balance at the end") }
        if !atOnce.unwritten.isEmpty { fail("deliveries are not written down") }
        if !books.undurable.isEmpty { fail("ends are not written down") }
        if !senders.listening.isEmpty { fail("\(senders.listening.count) wait for nothing") }
    }
}
