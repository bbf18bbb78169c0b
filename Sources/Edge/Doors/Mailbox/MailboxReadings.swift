import Reactor
import Relay

/// The readings that are open, by whose they are and by what they read.
@EventLoop
struct MailboxReadings {
    private(set) var all: [ObjectIdentifier: MailboxReading] = [:]
    /// The oldest first.
    private var byOwner: [MailboxReading.Owner: [MailboxReading]] = [:]
    private var byMailbox: [Int64: [MailboxReading]] = [:]
    /// The last message that each registered reader was sent, whatever came of it: by the reader's number.
    private var sent: [Int64: Int64] = [:]

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

    // MARK: What was sent

    mutating func noteSent(_ number: Int64, to reader: Int64) {
        sent[reader] = max(sent[reader] ?? 0, number)
    }

    /// Takes out the last message up to this number that a reader was sent, and has not acknowledged since;
    /// `nil`: there is none.
    mutating func takeSent(to reader: Int64, upTo number: Int64) -> Int64? {
        guard let last = sent[reader], number > 0 else { return nil }
        if last <= number { sent[reader] = nil }
        return min(last, number)
    }

    /// Forgets what was sent to readers that there are no more.
    mutating func forgetSent(butTo readers: Set<Int64>) {
        sent = sent.filter { readers.contains($0.key) }
    }
}

extension MailboxDoor {
    /// Acknowledges what a reader was sent. By the id of one topic's message the reader says what it has seen
    /// of all that it asks for. What it was sent of the others it has acknowledged, and nothing else: it may
    /// read them for the first time.
    func acknowledgeSent(
        by granted: [MailboxDirectory.Granted], upTo places: [MailboxPlace]
    ) async throws(OutboxError) {
        for (granted, place) in zip(granted, places) {
            guard let reader = granted.reader?.number,
                let number = readings.takeSent(to: reader, upTo: place.number)
            else { continue }
            tell(try await store.acknowledge(number, by: [reader]))
        }
    }
}
