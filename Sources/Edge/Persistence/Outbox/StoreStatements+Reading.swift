import Relay

extension StoreStatements {
    func notifications(_ sequences: [Int64]) throws(StoreError) -> [Int64: Notification] {
        var found: [Int64: Notification] = [:]
        defer { selectNotification.reset() }
        for sequence in sequences {
            try selectNotification.bind(1, sequence)
            if try selectNotification.step() { found[sequence] = try selectNotification.notification() }
            selectNotification.reset()
        }
        return found
    }

    /// Claims nothing while the core has not got the news of an arrival: it would count that twice.
    func claim(_ claim: Claim) throws(StoreError) -> Claimed {
        guard sharing?.hasArrivals != true else { return Claimed(isEarly: true) }
        return try backlog.claim(claim)
    }

    /// Returns the highest of all numbers in the store.
    func highest() throws(StoreError) -> Int64 {
        try connection.firstInteger(
            """
            SELECT max(sequence) FROM (SELECT max(sequence) AS sequence FROM notification
                UNION ALL SELECT max(sequence) FROM backlog UNION ALL SELECT max(sequence) FROM identity) AS highest
            """) ?? 0
    }

    func divide(_ request: ShareRequest) throws(StoreError) -> Share {
        try sharing?.divide(request, backlog, on: connection) ?? Share()
    }

    func content() throws(StoreError) -> OutboxContent {
        var content = OutboxContent(
            backlog: try backlog.content(), lastSequence: sharing == nil ? nextSequence - 1 : try highest())
        let waiting = try Statement(
            """
            SELECT \(Statement.waitingColumns(connection.dialect)) FROM notification
            WHERE true \(connection.dialect.andOwn(1)) ORDER BY sequence
            """, on: connection)
        if let sharing { try waiting.bind(1, bytes: sharing.owned.bits) }
        while try waiting.step() { content.waiting.append(waiting.waitingRow) }
        if let sharing {
            try sharing.complete(&content)
        } else {
            let tokens = try Statement("SELECT digest, since, buried_at FROM dead_token", on: connection)
            while try tokens.step() {
                content.deadTokens[Digest(tokens.pair(0))] = DeadToken(
                    since: tokens.time(1), buriedAt: tokens.time(2))
            }
            content.wishes = try wishes.all()
        }
        content.clock = try clock()
        content.lanes = try wishes.lanes()
        content.known = try identities.takeFilter(connection)
        return content
    }
}
