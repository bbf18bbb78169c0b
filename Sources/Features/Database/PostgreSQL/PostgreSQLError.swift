/// A call into PostgreSQL that failed, with PostgreSQL's own words. They name tables and columns, never a row's content.
package struct PostgreSQLError: Error, Equatable, CustomStringConvertible {
    /// PostgreSQL's code of five letters; empty: the failure is this side's, or the connection's.
    package let state: String
    package let message: String
    /// The connection is gone, and with it what it was about to do: the next call makes a new one.
    package let isConnectionLost: Bool

    package init(state: String = "", message: String, isConnectionLost: Bool = false) {
        self.state = state
        self.message = message
        self.isConnectionLost = isConnectionLost
    }

    package var description: String { state.isEmpty ? message : "\(message) (SQLSTATE \(state))" }

    /// Whether PostgreSQL's message holds these words.
    package func says(_ words: String) -> Bool {
        let (bytes, wanted) = (Array(message.utf8), Array(words.utf8))
        return bytes.indices.contains { bytes[$0...].starts(with: wanted) }
    }

    static func lost(_ message: String) -> PostgreSQLError {
        PostgreSQLError(message: message, isConnectionLost: true)
    }
}
