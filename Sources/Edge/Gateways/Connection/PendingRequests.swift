import Clocks

/// The requests that are on their way over one connection, each under a tag that is used again.
struct PendingRequests {
    struct Entry {
        var completion: GatewayConnection.Completion
        var sentAt: MonotonicTime
    }

    /// The requests by tag; `nil` where none is on its way, or where it was given up.
    private var entries: [Entry?] = []
    private var freeTags: [Int] = []

    mutating func add(_ completion: @escaping GatewayConnection.Completion, at time: MonotonicTime) -> Int {
        let entry = Entry(completion: completion, sentAt: time)
        guard freeTags.isEmpty else {
            let tag = freeTags.removeLast()
            entries[tag] = entry
            return tag
        }
        entries.append(entry)
        return entries.count - 1
    }

    /// Takes a tag that the session has given back.
    ///
    /// - Returns: The request; `nil` if it was given up before.
    mutating func end(_ tag: Int) -> Entry? {
        freeTags.append(tag)
        return giveUp(tag)
    }

    /// Gives up a request: it is waited for no longer. Its tag is not free before the session has given it
    /// back.
    mutating func giveUp(_ tag: Int) -> Entry? {
        let entry = entries[tag]
        entries[tag] = nil
        return entry
    }

    /// The time at which the oldest request was sent. Looks at all of them.
    var oldest: MonotonicTime? { entries.lazy.compactMap { $0?.sentAt }.min() }

    /// Returns the tags of the requests sent until then, in the order sent. Looks at all of them.
    func tags(sentUntil time: MonotonicTime) -> [Int] {
        let sent = entries.enumerated().compactMap { tag, entry in entry.map { (tag: tag, at: $0.sentAt) } }
        return sent.filter { $0.at <= time }.sorted { $0.at < $1.at }.map(\.tag)
    }
}
