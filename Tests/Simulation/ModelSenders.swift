import Vectors

@testable import Relay

/// All who submit: what each was told, and whether that was true.
struct ModelSenders {
    struct Sender {
        /// Of each phone, where it is an alias.
        let identities: [Digest]
        let awaitsOutcome: Bool
        /// It is refused unless it is known.
        let isLookup: Bool
        /// Nothing was told yet.
        var isNew = true
        /// The last sequence number when it heard something first: what is stored later is a repetition's.
        var last = Int64.max
    }

    /// By the index of the id that the pipeline gave.
    private(set) var listening: [Int: Sender] = [:]
    /// The end that was told for an identity, which is never to change, not even over a crash.
    private(set) var told: [Digest: Ending] = [:]
    private(set) var tellings = 0
    /// Identities that were delivered before they were stored, and are not in the outbox yet.
    private var unwritten: Set<Digest> = []
    /// Identities that the last commit let go: it may have held their ends as well.
    private var justForgotten: Set<Digest> = []

    mutating func submit(_ sender: Sender, as id: ReplyID, _ fail: (String) -> Void) {
        if listening.updateValue(sender, forKey: id.index) != nil { fail("one id names two senders") }
    }

    mutating func hear(
        _ id: ReplyID, _ receipt: Receipt, isLast: Bool, in outbox: ModelOutbox, _ fail: (String) -> Void
    ) {
        guard var sender = listening[id.index] else { return fail("\(receipt) is told to nobody") }
        tellings += 1
        defer {
            if sender.isNew { sender.last = outbox.lastSequence }
            sender.isNew = false
            listening[id.index] = isLast ? nil : sender
        }
        guard let identity = sender.identities.first, sender.identities.count == 1 else {
            return hear(receipt, isLast: isLast, of: sender, in: outbox, fail)
        }
        let known = outbox.identities[identity]
        switch receipt {
        case .stored where justForgotten.contains(identity): break
        case .stored:
            if known == nil { fail("called stored, and the outbox doesn't have it") }
            if isLast == sender.awaitsOutcome, known?.ending == nil {
                fail("no end is told to who awaits it")
            }
        case .held, .kept: if isLast { fail("held is the last word") }
        case .busy: if !sender.isNew || !isLast { fail("told to come again, and more") }
        case .ended(.refused(reason: .duplicateUid, detail: nil)):
            if !sender.isNew { fail("a late conflict") }
        case .ended where justForgotten.contains(identity): break
        case .ended(.tokenDead(reason: .unregistered, detail: _)) where sender.isLookup && sender.isNew:
            if !isLast { fail("more is to come after a refusal") }
        case .ended(let ending):
            if known?.ending != ending, ending != .delivered || !unwritten.contains(identity) {
                fail("\(ending) is told, and the outbox has \(known as Any)")
            }
            if told.updateValue(ending, forKey: identity) ?? ending != ending {
                fail("an end that was told has changed")
            }
            if !isLast { fail("more is to come after the end") }
        }
    }

    /// One to an alias hears of all its phones as of one.
    private func hear(
        _ receipt: Receipt, isLast: Bool, of sender: Sender, in outbox: ModelOutbox, _ fail: (String) -> Void
    ) {
        let known = sender.identities.map { outbox.identities[$0] }
        let isForgotten = !justForgotten.isDisjoint(with: sender.identities)
        switch receipt {
        case .stored:
            if known.allSatisfy({ $0 == nil }), !isForgotten {
                fail("an alias is called stored, and nobody has it")
            }
        case .held, .kept: if isLast { fail("held is the last word") }
        case .busy: if !isLast { fail("told to come again, and more") }
        case .ended(.delivered):
            if !known.contains(where: { $0?.ending == .delivered }), !isForgotten {
                fail("an alias is called delivered, and no phone has it")
            }
            if !isLast { fail("more is to come after the end") }
        case .ended(.tokenDead):
            // A phone that was known as dead is tried again after a while.
            if !sender.isNew, !isForgotten,
                known.contains(where: { phone in
                    phone.map {
                        $0.sequence <= sender.last && ($0.ending == nil || $0.ending == .delivered)
                    } ?? false
                })
            {
                fail("an alias is called dead, and a phone waits or has it")
            }
            if !isLast { fail("more is to come after the end") }
        case .ended: if !isLast { fail("more is to come after the end") }
        }
    }

    mutating func drop(_ id: ReplyID, _ fail: (String) -> Void) {
        if listening.removeValue(forKey: id.index) == nil { fail("nobody is dropped") }
    }

    /// The node is gone, and with it every connection. What was told stays told; what was delivered and not written down may
    /// come again as if for the first time.
    mutating func crash() {
        listening = [:]
        for identity in unwritten { told[identity] = nil }
        unwritten = []
    }

    /// A gateway has taken one that was never stored.
    mutating func deliverUnwritten(_ identity: Digest) { unwritten.insert(identity) }

    /// The outbox knows it.
    mutating func write(_ identity: Digest) { unwritten.remove(identity) }

    /// The outbox has let these go: they may come again as if for the first time.
    mutating func forget(_ identities: [Digest]) {
        for identity in identities { told[identity] = nil }
        justForgotten = Set(identities)
    }

    /// The same of one, whatever runs.
    mutating func forget(_ identity: Digest) {
        told[identity] = nil
        justForgotten.insert(identity)
    }

    /// What was told is as it was, and whoever awaits an end awaits one that nobody knows.
    func check(_ outbox: ModelOutbox, isCommitting: Bool, _ fail: (String) -> Void) {
        for (identity, ending) in told
        where outbox.identities[identity]?.ending != ending && !unwritten.contains(identity) {
            fail("\(ending) was told, and the outbox has changed its mind")
        }
        guard !isCommitting else { return }
        for sender in listening.values where !sender.isNew {
            let known = sender.identities.compactMap { outbox.identities[$0] }
            if known.count == sender.identities.count, known.allSatisfy({ $0.ending != nil }) {
                fail("one waits for an end that is known")
            }
            if known.isEmpty, justForgotten.isDisjoint(with: sender.identities) {
                fail("one waits for what nobody has")
            }
        }
    }
}
