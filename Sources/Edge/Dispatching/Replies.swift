import Relay

/// The replies to senders that wait, by the ids that the core has given them.
struct Replies {
    /// The replies by the indices of their ids.
    private var replies: [Dispatcher.Reply?] = []

    mutating func add(_ reply: @escaping Dispatcher.Reply, of sender: ReplyID) {
        while replies.count <= sender.index { replies.append(nil) }
        replies[sender.index] = reply
    }

    /// Returns the reply to a sender that hears more later.
    mutating func reply(of sender: ReplyID) -> Dispatcher.Reply? { replies[sender.index] }

    /// Takes the reply to a sender that hears nothing more.
    mutating func take(_ sender: ReplyID) -> Dispatcher.Reply? {
        // Moved out: nothing is let go of while the array is accessed.
        var taken: Dispatcher.Reply?
        swap(&taken, &replies[sender.index])
        return taken
    }
}
