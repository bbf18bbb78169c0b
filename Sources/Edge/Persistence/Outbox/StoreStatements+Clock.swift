import Clocks
import Relay

/// The record of the clock, and the dates that go with it.
extension StoreStatements {
    /// Writes down what the process begins with, and moves the dates that nobody has confirmed, before anything of the store is
    /// handed out. Not where there are other nodes: dates are of several clocks there.
    ///
    /// - Returns: What was moved; `nil`: nothing.
    func begin(at now: UnixTime) throws(StoreError) -> Redating? {
        guard sharing == nil else { return nil }
        let last = try clock()
        let (record, redating) = ClockRecord.begun(after: last, lastSequence: nextSequence - 1, at: now)
        guard record != last else { return nil }
        try connection.transaction { () throws(StoreError) in
            if let redating { try redate(redating) }
            try set(record)
        }
        if let redating { identities.move(redating) }
        return redating
    }

    func clock() throws(StoreError) -> ClockRecord? {
        let clock = try Statement("SELECT trusted, set_at FROM clock", on: connection)
        guard try clock.step() else { return nil }
        return ClockRecord(
            trusted: clock.time(0), setAt: clock.isNull(1) ? nil : clock.time(1),
            unconfirmed: sharing == nil ? try tables(ClockTables.self).unconfirmed() : nil)
    }

    func set(_ record: ClockRecord) throws(StoreError) {
        try setClock.bind(1, time: record.trusted)
        if let time = record.setAt {
            try setClock.bind(2, time: time)
        } else {
            try setClock.bind(2, nil)
        }
        try setClock.run()
        if sharing == nil { try tables(ClockTables.self).set(record.unconfirmed) }
    }

    private func redate(_ redating: Redating) throws(StoreError) {
        for table in Schema.waitingTables {
            try move(table, ["accepted_at", "expires_at"], of: "sequence >", redating.behind, by: redating)
        }
        try move("identity", ["accepted_at"], of: "sequence >", redating.behind, by: redating)
        let since = redating.since.milliseconds
        // A gateway may have named a time of long before: that one was never this clock's.
        try move("dead_token", ["since"], of: "buried_at >= ?1 AND since >=", since, by: redating)
        try move("dead_token", ["buried_at"], of: "buried_at >=", since, by: redating)
        for kind in place.kinds.all where try DoorSchema.isThere(kind, on: connection) {
            for dates in kind.dates {
                try move(dates.table, dates.columns, of: "\(dates.columns[0]) >=", since, by: redating)
            }
        }
    }

    /// Moves dates of a table in those rows for which a condition holds with this number.
    private func move(
        _ table: String, _ dates: [String], of rows: String, _ first: Int64, by redating: Redating
    ) throws(StoreError) {
        let moves = dates.map { "\($0) = \($0) + ?2" }.joined(separator: ", ")
        let statement = try Statement("UPDATE \(table) SET \(moves) WHERE \(rows) ?1", on: connection)
        try statement.bind(1, first)
        try statement.bind(2, redating.by.milliseconds)
        try statement.run()
    }
}
