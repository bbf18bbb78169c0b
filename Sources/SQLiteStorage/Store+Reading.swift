import Relay

extension Store {
    func notifications(_ sequences: [Int64]) throws(SQLiteError) -> [Int64: Notification] {
        var found: [Int64: Notification] = [:]
        defer { selectNotification.reset() }
        for sequence in sequences {
            try selectNotification.bind(1, sequence)
            if try selectNotification.step() { found[sequence] = try selectNotification.notification() }
            selectNotification.reset()
        }
        return found
    }

    func claim(_ claim: Claim) throws(SQLiteError) -> Claimed { try backlog.claim(claim) }

    func content() throws(SQLiteError) -> OutboxContent {
        var content = OutboxContent(backlog: try backlog.content(), lastSequence: nextSequence - 1)
        let waiting = try Statement(
            "SELECT \(Statement.waitingColumns(connection.dialect)) FROM notification ORDER BY sequence",
            on: connection)
        while try waiting.step() { content.waiting.append(waiting.waitingRow) }
        let tokens = try Statement("SELECT digest, since, buried_at FROM dead_token", on: connection)
        while try tokens.step() {
            content.deadTokens[Digest(tokens.pair(0))] = DeadToken(
                since: tokens.integer(1), buriedAt: tokens.integer(2))
        }
        let clock = try Statement("SELECT trusted, set_at FROM clock", on: connection)
        if try clock.step() {
            content.clock = ClockRecord(
                trusted: clock.integer(0), setAt: clock.isNull(1) ? nil : clock.integer(1))
        }
        content.wishes = try wishes.all()
        content.lanes = try wishes.lanes()
        content.known = identities.takeFilter()
        return content
    }
}
