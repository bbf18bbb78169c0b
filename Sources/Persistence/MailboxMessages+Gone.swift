import Relay

extension MailboxMessages {
    /// What lay in mailboxes that were removed: its end is written down already.
    func gone() throws(SQLiteError) -> [KeptEnd] {
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
