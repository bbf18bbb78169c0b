/// Words of other nodes, which come between what is asked of the store.
extension DatabaseSharing {
    /// The descriptor on which they come in.
    var socket: Int32? { database.connection.socket }

    /// Takes the words that have come in.
    ///
    /// - Returns: Whether any have come.
    func takeNotices() -> Bool { database.connection.takeNotices() }

    /// Reads what has come. A lost connection is seen by the next question.
    func hear() { try? database.connection.hear() }
}
