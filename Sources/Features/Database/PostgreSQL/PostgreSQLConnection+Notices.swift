import CPostgreSQL

/// Notices between sessions, outside transactions. One may get lost with the connection.
extension PostgreSQLConnection {
    /// The connection's socket, to be watched while nothing is asked: what comes then is a notice, or the end
    /// of the connection.
    package var socket: Int32? { handle.map { libpq.socket($0) } }

    /// Sends a statement's run as a transaction of its own, which nobody waits for: whether it was done is never known.
    package func post(_ statement: PostgreSQLStatement) {
        guard isConnected, !isInTransaction, unanswered.isEmpty else { return }
        do throws(PostgreSQLError) {
            try send(statement, expectsRows: false)
            try synchronize(.posted)
        } catch {}
        if let handle { _ = libpq.flush(handle) }
    }

    /// Whether a posted statement is the last that was sent.
    var isPosted: Bool { if case .posted? = unanswered.last { true } else { false } }

    /// Reads what has come while nothing was asked.
    package func hear() throws(PostgreSQLError) {
        guard let handle else { return }
        guard libpq.consumeInput(handle) == 1 else { throw lose("it was closed") }
        try settle()
    }

    /// Whether notices have come since the last call, among what has been read.
    package func takeNotices() -> Bool {
        guard let handle else { return false }
        var hasSome = false
        while let notice = libpq.notifies(handle) {
            // Ours, with all that it points to.
            libpq.freemem(notice)
            hasSome = true
        }
        return hasSome
    }
}
