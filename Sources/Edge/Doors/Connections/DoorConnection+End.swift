extension DoorConnection {
    /// The reason why a connection ends.
    enum End {
        /// The client closed the connection, or the network did.
        case lost
        /// The client sent nothing for too long.
        case idle
        /// The client does not take its answers.
        case unread
        /// A frame or request that was begun did not come to its end.
        case late
        /// The connection did not begin with tor's line on its circuit.
        case withoutLine
        /// One too many for its circuit or address.
        case refused
        /// The connection made room for another one.
        case evicted
        /// The connection held most, when all together held too much.
        case greedy
        case shutDown
        /// The successor serves it.
        case handedOn
        /// The protocol's own end.
        case finished
    }
}
