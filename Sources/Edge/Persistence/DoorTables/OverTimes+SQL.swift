import Relay

/// The condition that something is over, in SQL. What a process has dated itself ends by another time than what was there
/// before, where one of the two clocks was wrong.
extension OverTimes {
    /// Returns the time for a row with a date in this column: an expression of three values.
    package static func time(for column: String) -> String {
        "CASE WHEN \(column) >= CAST(? AS BIGINT) THEN CAST(? AS BIGINT) ELSE CAST(? AS BIGINT) END"
    }

    /// Binds the three values, the first one at this index; all earlier by `age`.
    package func bind(to statement: borrowing Statement, from index: Int32, less age: Int64 = 0)
        throws(StoreError)
    {
        try statement.bind(index, since)
        try statement.bind(index + 1, own - age)
        try statement.bind(index + 2, before - age)
    }
}
