import Relay

/// The phones that nobody has pushed to yet, by the senders that brought them, since this process began.
///
/// A new phone takes, when the table is full and nothing in it is old, the place of the oldest one of the
/// sender that brought most, if that sender brought at least two more than the sender of the new one. So
/// whoever fills the table gives way to all others, and a sender with one phone never does.
struct Newcomers {
    private struct Brought {
        private var keys: [StatusIMRegistration.Key] = []
        /// The index of the first key that is left: those before it are gone.
        private var first = 0

        var count: Int { keys.count - first }

        mutating func add(_ key: StatusIMRegistration.Key) { keys.append(key) }

        mutating func takeOldest() -> StatusIMRegistration.Key {
            defer {
                first += 1
                if first > keys.count / 2 {
                    keys.removeFirst(first)
                    first = 0
                }
            }
            return keys[first]
        }
    }

    /// The most phones that are known. One more, and the oldest of the sender that brought most is forgotten.
    let capacity: Int
    private var brought: [SenderID: Brought] = [:]
    private var total = 0

    init(capacity: Int) { self.capacity = capacity }

    /// Adds a phone.
    ///
    /// - Parameter sender: The sender that brought the phone; `nil`: not known. Such phones give way to
    ///   nobody.
    mutating func add(_ key: StatusIMRegistration.Key, by sender: SenderID?) {
        guard let sender else { return }
        if total >= capacity { _ = takeOldest(ofMoreThan: 0) }
        brought[sender, default: Brought()].add(key)
        total += 1
    }

    /// Takes out the phone that gives way to a new one of this sender; `nil`: none does.
    mutating func giveWay(to sender: SenderID?) -> StatusIMRegistration.Key? {
        guard let sender else { return nil }
        // With one more each they would only take turns.
        return takeOldest(ofMoreThan: (brought[sender]?.count ?? 0) + 1)
    }

    private mutating func takeOldest(ofMoreThan least: Int) -> StatusIMRegistration.Key? {
        guard let most = brought.max(by: { $0.value.count < $1.value.count }), most.value.count > least else {
            return nil
        }
        let key = brought[most.key]?.takeOldest()
        if brought[most.key]?.count == 0 { brought[most.key] = nil }
        total -= 1
        return key
    }
}
