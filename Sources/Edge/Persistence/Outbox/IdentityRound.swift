import Relay

/// The statements of a round through all identities, page by page: what is out of order lies anywhere.
final class IdentityRound {
    private let page: Statement
    private let over: Statement
    private let delete: Statement

    /// Prepares them; `stays` is true of identities that are never over.
    init(_ connection: borrowing Connection, stays: String) throws(StoreError) {
        page = try Statement(
            """
            SELECT max(sequence), count(*)
            FROM (SELECT sequence FROM identity WHERE sequence > ? ORDER BY sequence LIMIT ?) AS page
            """, on: connection)
        let areOver = """
            FROM identity WHERE sequence > ?1 AND sequence <= ?2 AND (accepted_at < ?3 OR accepted_at > ?4)
                AND NOT \(stays)
            """
        over = try Statement("SELECT sequence, digest \(areOver)", on: connection)
        delete = try Statement("DELETE \(areOver)", on: connection)
    }

    /// Returns the highest number of the next identities, and how many they are.
    func nextPage(after first: Int64, most: Int) throws(StoreError) -> (last: Int64, count: Int) {
        try page.bind(1, first)
        try page.bind(2, Int64(most))
        defer { page.reset() }
        return try page.step() && !page.isNull(0) ? (page.integer(0), Int(page.integer(1))) : (first, 0)
    }

    func forEachOver(
        by verdict: ClockVerdict, after first: Int64, upTo last: Int64,
        _ body: (_ identity: Digest, _ sequence: Int64) -> Void
    ) throws(StoreError) {
        try bind(verdict, first, last, to: over)
        defer { over.reset() }
        while try over.step() { body(Digest(over.pair(1)), over.integer(0)) }
    }

    func deleteOver(by verdict: ClockVerdict, after first: Int64, upTo last: Int64) throws(StoreError) {
        try bind(verdict, first, last, to: delete)
        try delete.run()
    }

    private func bind(
        _ verdict: ClockVerdict, _ first: Int64, _ last: Int64, to statement: borrowing Statement
    ) throws(StoreError) {
        try statement.bind(1, first)
        try statement.bind(2, min(last, verdict.last))
        try statement.bind(3, time: verdict.acceptedBefore)
        try statement.bind(4, time: verdict.latest)
    }
}
