import Reactor
import Relay

/// The open readings, by their owners and by the mailboxes and topics that they read.
@EventLoop
struct MailboxReadings {
    private(set) var count = 0
    /// The first reading of each owner, which came first; it leads to the others.
    private var byOwner: [MailboxReading.Owner: MailboxReading] = [:]
    private var byMailbox: [Int64: [MailboxReading]] = [:]

    nonisolated init() {}

    var all: [MailboxReading] { byOwner.values.flatMap(chain) }

    func of(_ mailbox: Int64) -> [MailboxReading] { byMailbox[mailbox] ?? [] }

    /// Returns the readings of an owner, the oldest first.
    private func of(_ owner: MailboxReading.Owner) -> [MailboxReading] { byOwner[owner].map(chain) ?? [] }

    private func chain(from first: MailboxReading) -> [MailboxReading] {
        Array(sequence(first: first) { $0.next })
    }

    mutating func add(_ reading: MailboxReading) {
        if let last = of(reading.owner).last { last.next = reading } else { byOwner[reading.owner] = reading }
        for mailbox in reading.mailboxes { byMailbox[mailbox, default: []].append(reading) }
        count += 1
    }

    mutating func remove(_ reading: MailboxReading) {
        let own = of(reading.owner)
        guard let index = own.firstIndex(where: { $0 === reading }) else { return }
        if index == 0 { byOwner[reading.owner] = reading.next } else { own[index - 1].next = reading.next }
        reading.next = nil
        for mailbox in reading.mailboxes {
            byMailbox[mailbox]?.removeAll { $0 === reading }
            if byMailbox[mailbox]?.isEmpty ?? false { byMailbox[mailbox] = nil }
        }
        count -= 1
    }

    /// Returns the reading that ends when this owner begins one more; `nil`: there is room.
    ///
    /// The oldest of the circuit with most readings ends, the newcomer counted in: a phone comes anew before
    /// its old connection is known to be dead, and one stranger does not take the places of all.
    func oneTooMany(of owner: MailboxReading.Owner, by sender: Int) -> MailboxReading? {
        let own = of(owner)
        guard own.count >= MailboxDoor.mostReadings else { return nil }
        var counts = [sender: 1]
        for reading in own { counts[reading.sender, default: 0] += 1 }
        let most = counts.values.max()
        return own.first { counts[$0.sender] == most }
    }
}
