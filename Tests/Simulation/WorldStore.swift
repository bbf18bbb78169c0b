import Clocks

@testable import Relay

/// A real store beside the model of one: it is asked for all that the model does, and has to answer the same.
struct StoreBeside {
    let commit: ([OutboxChange]) throws -> [StoreResult]
    let claim: (Claim) throws -> Claimed
    let notifications: ([Int64]) throws -> [Int64: Notification]
    /// A gateway takes one over; returns its number.
    let keep: (Digest) throws -> Int64?
    let endKept: (KeptEnd) throws -> Void
    /// The process has ended, and the next one opens the store.
    let restart: (UnixTime) throws -> OutboxContent
}

/// What the store beside the model answers.
extension World {
    private func same<Value: Equatable>(
        _ what: String, _ wanted: Value, _ body: (StoreBeside) throws -> Value
    ) {
        guard let beside, violation == nil else { return }
        do {
            let value = try body(beside)
            if value != wanted { fail("the store's \(what): \(value), and the model's \(wanted)") }
        } catch {
            fail("the store's \(what): \(error)")
        }
    }

    /// Of what a clock that can be trusted calls over nobody is told how it ended, but for what ends with the same commit. The last
    /// word of a commit counts.
    func checkForgotten(_ changes: [OutboxChange]) {
        var word: (acceptedBefore: UnixTime, latest: UnixTime)?
        for case .forget(let acceptedBefore, _, let latest) in changes
        where acceptedBefore > .min || latest < .max {
            word = (acceptedBefore, latest)
        }
        guard let word else { return }
        var news: Set<Digest> = []
        for change in changes {
            switch change {
            case .finish(let sequence, _):
                news.formUnion(outbox.identities.filter { $0.value.sequence == sequence }.map(\.key))
            case .remember(let digests, _): news.insert(digests.identity)
            case _: break
            }
        }
        let known = outbox.identities.first {
            !news.contains($0.key)
                && ($0.value.acceptedAt < word.acceptedBefore || $0.value.acceptedAt > word.latest)
                && $0.value.ending != nil && outbox.state(of: $0.key) != nil
        }
        if let known { fail("\(known.value.sequence) is known beyond its time") }
    }

    func commitBeside(_ changes: [OutboxChange], as results: [StoreResult]) {
        same("results", results) { try $0.commit(changes) }
    }

    func claimBeside(_ claim: Claim, as claimed: Claimed) {
        same("claim", claimed) { try $0.claim(claim) }
    }

    func readBeside(_ sequences: [Int64], as found: [Int64: Notification]) {
        same("notifications", found) { try $0.notifications(sequences) }
    }

    func keepBeside(_ sequence: Int64, _ notification: Notification?) {
        guard let identity = notification?.id.identity else { return }
        same("number of what is kept", sequence) { try $0.keep(identity) }
    }

    func endKeptBeside(_ sequence: Int64, _ ending: Ending) {
        same("end of what was kept", true) {
            try $0.endKept(KeptEnd(sequence: sequence, ending: ending))
            return true
        }
    }

    /// Takes the last number of both before they begin anew.
    func takeLastNumberBeside() {
        guard beside != nil else { return }
        // A store gives a number again that nothing in it has any more, and the model does not: the last one is taken.
        let last = OutboxChange.remember(
            SubmissionDigests(
                token: Digest(high: 0, low: 0), identity: Digest(high: 0, low: UInt64(crashes) << 32 | 1),
                content: Digest(high: 0, low: 0)), acceptedAt: now.unix)
        _ = outbox.commit([last], fail)
        commitBeside([last], as: [])
    }

    func restartBeside() {
        guard beside != nil else { return }
        let wanted = outbox.content
        var content: OutboxContent?
        same("waiting ones", wanted.waiting) {
            let found = try $0.restart(now.unix)
            content = found
            return found.waiting
        }
        guard let content else { return }
        same("backlog", wanted.backlog.map(\.waiting)) { _ in
            content.backlog.sorted { ($0.lane.app, $0.lane.host.name) < ($1.lane.app, $1.lane.host.name) }
                .map(\.waiting)
        }
        same("dead tokens", wanted.deadTokens) { _ in content.deadTokens }
        same("wishes", wanted.wishes) { _ in
            content.wishes.sorted { ($0.token.high, $0.token.low) < ($1.token.high, $1.token.low) }
        }
        same("lanes", wanted.lanes) { _ in content.lanes }
        same("clock", wanted.clock) { _ in content.clock }
        same("last number", wanted.lastSequence) { _ in content.lastSequence }
    }
}
