import Persistence
import Relay

extension MailboxMessages {
    /// Forgets the messages that have expired.
    ///
    /// - Returns: What expired before anybody has acknowledged it, and what went with its mailbox.
    func forget(expiredAt over: OverTimes, in store: StoreStatements) throws(StoreError) -> [KeptEnd] {
        var expired: [(number: Int64, sequence: Int64?)] = []
        try selectExpired.bind(1, over.latest)
        try over.bind(to: selectExpired, from: 2)
        try selectExpired.bind(5, MailboxMessages.forgottenAtOnce)
        do {
            defer { selectExpired.reset() }
            while try selectExpired.step() {
                expired.append(
                    (selectExpired.integer(0), selectExpired.isNull(1) ? nil : selectExpired.integer(1)))
            }
        }
        var ends: [KeptEnd] = []
        for (number, sequence) in expired {
            if let sequence { ends.append(try end(sequence, .expired, in: store)) }
            try delete(number)
        }
        return try ends + gone()
    }

    /// Returns the messages of mailboxes that were removed: their end is written down already.
    func gone() throws(StoreError) -> [KeptEnd] {
        var gone: [Int64] = []
        try selectGone.bind(1, MailboxMessages.forgottenAtOnce)
        do {
            defer { selectGone.reset() }
            while try selectGone.step() { gone.append(selectGone.integer(0)) }
        }
        var ends: [KeptEnd] = []
        for sequence in gone {
            try deleteGone.bind(1, sequence)
            try deleteGone.run()
            ends.append(
                KeptEnd(
                    sequence: sequence, ending: .refused(reason: .gateway(Reason.noSuchMailbox))))
        }
        return ends
    }
}
