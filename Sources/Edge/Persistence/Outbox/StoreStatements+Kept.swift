import Relay

/// The ends of notifications that doors keep in tables of their own.
extension StoreStatements {
    /// Takes a notification from the outbox: with this commit a door has written it into its tables.
    ///
    /// - Returns: Its number; `nil`: the outbox does not have it.
    package func keep(_ identity: Digest) throws(StoreError) -> Int64? {
        guard let sequence = try identities.sequence(of: identity) else { return nil }
        try takeAway(sequence)
        try identities.keep(sequence)
        return sequence
    }

    /// Writes down that a kept notification has come to its end.
    package func keptEnded(_ end: KeptEnd) throws(StoreError) {
        if end.ending == .delivered {
            try identities.deliver(end.sequence)
        } else {
            try identities.finish(end.sequence, end.ending)
        }
        if !end.ending.isRemembered { try identities.forget(end.sequence) }
    }
}
