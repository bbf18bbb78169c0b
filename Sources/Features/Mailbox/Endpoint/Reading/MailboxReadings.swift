import Reactor
import Relay

/// The open readings, by their owners and by the mailboxes and topics that they read.
@EventLoop
struct MailboxReadings {
    private(set) var all: [ObjectIdentifier: MailboxReading] = [:]
    /// The oldest first.
    private var byOwner: [MailboxReading.Owner: [MailboxReading]] = [:]
    private var byMailbox: [Int64: [MailboxReading]] = [:]

    nonisolated init() {}

    func of(_ mailbox: Int64) -> [MailboxReading] { byMailbox[mailbox] ?? [] }

    mutating func add(_ reading: MailboxReading) {
        all[ObjectIdentifier(reading)] = reading
        byOwner[reading.owner, default: []].append(reading)
        for mailbox in reading.mailboxes { byMailbox[mailbox, default: []].append(reading) }
    }

    mutating func remove(_ reading: MailboxReading) {
        guard all.removeValue(forKey: ObjectIdentifier(reading)) != nil else { return }
        byOwner[reading.owner]?.removeAll { $0 === reading }
        if byOwner[reading.owner]?.isEmpty ?? false { byOwner[reading.owner] = nil }
        for mailbox in reading.mailboxes {
            byMailbox[mailbox]?.removeAll { $0 === reading }
            if byMailbox[mailbox]?.isEmpty ?? false { byMailbox[mailbox] = nil }
        }
    }

    /// Returns the reading that ends when this owner begins one more; `nil`: there is room.
    ///
    /// The oldest of the circuit with most readings ends, the newcomer counted in: a phone comes anew before
    /// its old connection is known to be dead, and one stranger does not take the places of all.
    func oneTooMany(of owner: MailboxReading.Owner, by sender: Int) -> MailboxReading? {
        guard let own = byOwner[owner], own.count >= MailboxDoor.mostReadings else { return nil }
        var counts = [sender: 1]
        for reading in own { counts[reading.sender, default: 0] += 1 }
        let most = counts.values.max()
        return own.first { counts[$0.sender] == most }
    }
}
