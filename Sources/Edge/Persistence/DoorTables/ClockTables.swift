import Clocks
import Relay

/// The dates that nobody has confirmed: one row, or none. A table of its own beside `clock`, since stores of before have
/// none.
final class ClockTables: DoorTables {
    static let name = "clock"
    static let format: PerDialect<Int64> = 1
    private typealias Column = StoreTable.Column
    static let tables = [
        StoreTable(
            "clock_unconfirmed",
            [
                Column("id", .number, .exactly("PRIMARY KEY CHECK (id = 1)")), Column("behind"),
                Column("since"), Column("until"),
            ], isCopied: false)
    ]
    static let views: [RegistrationView] = []

    private let select: Statement
    private let insert: Statement
    private let delete: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        select = try Statement("SELECT behind, since, until FROM clock_unconfirmed", on: connection)
        insert = try Statement(
            """
            INSERT INTO clock_unconfirmed (id, behind, since, until) VALUES (1, ?, ?, ?) ON CONFLICT (id) DO UPDATE
                SET behind = excluded.behind, since = excluded.since, until = excluded.until
            """, on: connection)
        delete = try Statement("DELETE FROM clock_unconfirmed", on: connection)
    }

    func unconfirmed() throws(StoreError) -> UnconfirmedDates? {
        defer { select.reset() }
        guard try select.step() else { return nil }
        return UnconfirmedDates(
            behind: select.integer(0), since: select.time(1), until: select.time(2))
    }

    func set(_ dates: UnconfirmedDates?) throws(StoreError) {
        guard let dates else { return try delete.run() }
        try insert.bind(1, dates.behind)
        try insert.bind(2, time: dates.since)
        try insert.bind(3, time: dates.until)
        try insert.run()
    }
}
