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

        mutating func putBack(_ key: StatusIMRegistration.Key) {
            if first > 0 {
                first -= 1
                keys[first] = key
            } else {
                keys.insert(key, at: 0)
            }
        }

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

    /// A phone that may give way.
    struct Phone {
        let key: StatusIMRegistration.Key
        let sender: SenderID
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

    /// Takes out the phones that give way to one of this sender, as many as may be needed. Those that do not have to go
    /// are put back (``putBack(_:)``).
    mutating func giveWay(to sender: SenderID?) -> [Phone] {
        guard let sender else { return [] }
        var phones: [Phone] = []
        // With one more each they would only take turns.
        while phones.count < Newcomers.mostGivingWay,
            let phone = takeOldest(ofMoreThan: (brought[sender]?.count ?? 0) + 1)
        {
            phones.append(phone)
        }
        return phones
    }

    /// Puts phones back that kept their places.
    mutating func putBack(_ phones: [Phone]) {
        for phone in phones.reversed() {
            brought[phone.sender, default: Brought()].putBack(phone.key)
            total += 1
        }
    }

    /// One is enough, unless it has been pushed to meanwhile or is shorter than the one that it makes room for.
    private static let mostGivingWay = 16

    private mutating func takeOldest(ofMoreThan least: Int) -> Phone? {
        guard let most = brought.max(by: { $0.value.count < $1.value.count }), most.value.count > least else {
            return nil
        }
        let key = brought[most.key]?.takeOldest()
        if brought[most.key]?.count == 0 { brought[most.key] = nil }
        total -= 1
        return key.map { Phone(key: $0, sender: most.key) }
    }
}
