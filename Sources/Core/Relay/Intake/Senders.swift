/// The senders that wait for ends, and the id under which each gets its receipts.
struct Senders: Sendable {
    /// The senders that wait for the end of one notification. Nearly always it is one.
    private struct Listeners: Sendable {
        var first: ReplyID
        /// The senders behind the first, in the order in which they came.
        var others: [ReplyID] = []
    }

    /// The most senders that wait for the end of one notification. Its repetitions listen for the same end;
    /// the newest are those whose senders still do.
    static let mostListeners = 8

    private var listening = SequenceTable<Listeners>()
    private var free: [ReplyID] = []
    /// Ids whose last receipt is among the effects that the edge has not taken yet.
    private var leaving: [ReplyID] = []
    /// Ids whose last receipt the edge has taken; they are free when it takes effects again.
    private var left: [ReplyID] = []
    private var count = 0

    mutating func newID() -> ReplyID {
        if let id = free.popLast() { return id }
        count += 1
        return ReplyID(index: count - 1)
    }

    /// Notes that the last receipt of an id is among the effects: the id is free once the edge has sent that
    /// receipt.
    mutating func leave(_ id: ReplyID) { leaving.append(id) }

    /// Frees ids, since the edge takes effects: it has done what it took before.
    mutating func effectsTaken() {
        guard !leaving.isEmpty || !left.isEmpty else { return }
        free += left
        left.removeAll(keepingCapacity: true)
        swap(&left, &leaving)
    }

    func listens(for sequence: Int64) -> Bool { !listening.isEmpty && listening[sequence] != nil }

    /// Adds a sender that waits for the end of a notification.
    ///
    /// - Returns: The sender that hears nothing more, since too many listen.
    mutating func listen(_ id: ReplyID, for sequence: Int64) -> ReplyID? {
        guard var listeners = listening[sequence] else {
            listening[sequence] = Listeners(first: id)
            return nil
        }
        var dropped: ReplyID?
        if listeners.others.count == Senders.mostListeners - 1 {
            dropped = listeners.first
            listeners.first = listeners.others.removeFirst()
        }
        listeners.others.append(id)
        listening[sequence] = listeners
        return dropped
    }

    /// Calls `tell` with each who waits for that end; they wait no longer.
    mutating func end(_ sequence: Int64, _ tell: (ReplyID) -> Void) {
        guard !listening.isEmpty, let listeners = listening.removeValue(forKey: sequence) else { return }
        tell(listeners.first)
        leaving.append(listeners.first)
        for id in listeners.others {
            tell(id)
            leaving.append(id)
        }
    }

    func listening(for sequence: Int64) -> [ReplyID] {
        guard !listening.isEmpty, let listeners = listening[sequence] else { return [] }
        return [listeners.first] + listeners.others
    }
}
