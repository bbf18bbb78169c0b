import Clocks
import Relay

extension ModelOutbox {
    /// What a process finds first: the record of the clock, and the dates that went with it.
    package mutating func begin(at now: UnixTime) -> Redating? {
        let (record, redating) = ClockRecord.begun(after: clock, lastSequence: lastSequence, at: now)
        clock = record
        guard let redating else { return nil }
        for (sequence, row) in rows where redating.moves(sequence) {
            rows[sequence]?.notification = row.notification.later(by: redating.by)
        }
        for (digest, identity) in identities where redating.moves(identity.sequence) {
            identities[digest]?.acceptedAt = identity.acceptedAt + redating.by
        }
        for (token, told) in deadTokens where redating.moves(told.buriedAt) {
            deadTokens[token] = DeadToken(
                since: redating.moves(told.since) ? told.since + redating.by : told.since,
                buriedAt: told.buriedAt + redating.by)
        }
        return redating
    }
}
