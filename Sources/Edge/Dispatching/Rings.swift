import Clocks
import Encodings
import Reactor
import Relay

/// The last rings: what became of each, for the eyes of the node's owner. Without tokens and texts, and in memory only, unless
/// the owner has them kept on disk; a restart in place hands them on.
///
/// One device can fill the list, as far as ``Relay/Admission`` lets it. Then the others are known by the last ring of each
/// phone of the book and of each mailbox, which no other takes away; and a flood that is refused has a table of its own.
package struct Rings: Sendable {
    /// A notification that its push service has judged, that its mailbox keeps, or that has expired.
    package struct Ring: Equatable, Sendable {
        package enum Outcome: String, Sendable {
            case delivered, dead, refused, expired
            /// The mailbox has it, and its phone has not fetched it.
            case kept
            /// A test of the owner's lies in the mailbox. Whether it is fetched is not followed.
            case placed
        }

        package let at: UnixTime
        package let sequence: Int64
        /// The digest of its device token.
        package let device: Digest
        package let lane: LaneID
        /// The name of the endpoint where it came in; `nil`: not known, as of all from before the start.
        package let door: String?
        package let outcome: Outcome
        /// The reason code; `nil`: there is none.
        package let reason: String?
        /// Milliseconds from its coming to `at`.
        package let taken: Int64
        /// The name of its mailbox; `nil`: it went to none, or to one that is not known.
        package var mailbox: String?
    }

    /// Submissions that were not taken, all of one endpoint and reason together.
    package struct Refused: Equatable, Sendable {
        package let door: String
        package let reason: String
        package internal(set) var count: Int
        /// The time of the last one.
        package internal(set) var at: UnixTime
    }

    /// Rings on a page of the list, and in memory where none are kept on disk.
    package static let most = 200
    /// Rings that are kept on disk.
    package static let mostOnDisk = 10_000
    static let mostRefused = 64

    /// Changes so far, to see whether there was one.
    package private(set) var changes = 0
    /// The most mailboxes whose last ring is known: as many as a node may have.
    package static let mostMailboxes = 1000
    /// The number of rings in the list at most.
    private(set) var room: Int
    /// A ring that goes round: the oldest is at ``next`` once it is full.
    private var kept: [Ring] = []
    private var next = 0
    /// The places of those that lie in mailboxes, by their sequence numbers.
    private var inMailboxes: [Int64: Int] = [:]
    /// The last refusal first.
    package internal(set) var refused: [Refused] = []
    private var watched: Set<Digest> = []
    /// The last ring of each device that is watched.
    var last: [Digest: Ring] = [:]
    /// The last ring of each mailbox, by its name.
    package internal(set) var lastOfMailboxes: [ByteText: Ring] = [:]

    package init(room: Int = Rings.most) { self.room = room }

    /// The number of rings in the list.
    package var count: Int { kept.count }

    /// The last first.
    package var all: [Ring] { page(skipping: 0, atMost: .max) }

    /// Returns a part of the list, the last first.
    package func page(skipping skipped: Int, atMost most: Int = Rings.most) -> [Ring] {
        guard skipped < kept.count else { return [] }
        return (skipped..<min(kept.count, skipped + min(most, kept.count))).map { back in
            let index = next - 1 - back
            return kept[index < 0 ? index + kept.count : index]
        }
    }

    /// Returns the last ring of a device that is watched; `nil`: there was none since the start, or since it is watched.
    package func last(of device: Digest) -> Ring? { last[device] }

    /// Keeps the last ring of each of these devices, whatever becomes of the list.
    mutating func watch(_ devices: some Sequence<Digest>) {
        watched = Set<Digest>(devices)
        last = last.filter { watched.contains($0.key) }
    }

    mutating func add(_ ring: consuming Ring) {
        changes += 1
        if watched.contains(ring.device) { last[ring.device] = copy ring }
        if let name = ring.mailbox { note(copy ring, of: ByteText(name)) }
        if kept.count < room {
            if ring.outcome == .kept { inMailboxes[ring.sequence] = kept.count }
            kept.append(ring)
        } else {
            if kept[next].outcome == .kept { inMailboxes[kept[next].sequence] = nil }
            if ring.outcome == .kept { inMailboxes[ring.sequence] = next }
            kept[next] = ring
            next = next + 1 == room ? 0 : next + 1
        }
    }

    private mutating func note(_ ring: Ring, of mailbox: ByteText) {
        lastOfMailboxes[mailbox] = ring
        // Of mailboxes that are gone.
        if lastOfMailboxes.count > Rings.mostMailboxes,
            let oldest = lastOfMailboxes.min(by: { $0.value.at < $1.value.at })
        {
            lastOfMailboxes[oldest.key] = nil
        }
    }

    /// Notes the end of one that a mailbox kept; nothing, if it is no longer in the list.
    mutating func end(_ sequence: Int64, _ ending: Ending, at now: UnixTime) {
        guard let index = inMailboxes.removeValue(forKey: sequence) else { return }
        changes += 1
        let before = kept[index]
        let came = before.at.milliseconds - before.taken
        let ring = Ring(
            at: now, sequence: sequence, device: before.device, lane: before.lane, door: before.door,
            outcome: Ring.Outcome(ending), reason: ending.reason?.code,
            taken: max(0, now.milliseconds - came), mailbox: before.mailbox)
        kept[index] = ring
        if last[ring.device]?.sequence == sequence { last[ring.device] = ring }
        if let name = ring.mailbox, lastOfMailboxes[ByteText(name)]?.sequence == sequence {
            lastOfMailboxes[ByteText(name)] = ring
        }
    }

    /// Forgets what was known before a time.
    mutating func forget(before time: UnixTime) {
        changes += last.values.contains { $0.at < time } ? 1 : 0
        last = last.filter { $0.value.at >= time }
        lastOfMailboxes = lastOfMailboxes.filter { $0.value.at >= time }
        refused.removeAll { $0.at < time }
        // The end of one in a mailbox may be younger than those after it.
        guard kept.contains(where: { $0.at < time }) else { return }
        let rest = all.reversed().filter { $0.at >= time }
        (kept, next, inMailboxes) = ([], 0, [:])
        for ring in rest { add(ring) }
    }

    mutating func refuse(_ reason: String, at door: String, at now: UnixTime) {
        var entry = Refused(door: door, reason: reason, count: 0, at: now)
        if let index = refused.firstIndex(where: { $0.door == door && $0.reason == reason }) {
            entry = refused.remove(at: index)
        }
        entry.count += 1
        entry.at = now
        changes += 1
        refused.insert(entry, at: 0)
        if refused.count > Rings.mostRefused { refused.removeLast() }
    }
}

extension Rings.Ring.Outcome {
    init(_ ending: Ending) {
        self =
            switch ending {
            case .delivered: .delivered
            case .refused: .refused
            case .tokenDead: .dead
            case .expired: .expired
            }
    }
}

extension Dispatcher {
    func note(_ leaving: Pipeline.Leaving, _ outcome: Rings.Ring.Outcome, _ reason: String? = nil) {
        // No closure: it would ask each time whether it runs on the loop.
        let door = if let door = leaving.door { tally.doors[door].name } else { String?.none }
        var ring = Rings.Ring(
            at: EventLoop.unixTime, sequence: leaving.sequence, device: leaving.token,
            lane: pipeline.shown(leaving.lane), door: door, outcome: outcome, reason: reason,
            taken: (EventLoop.now.nanoseconds - leaving.submittedAt.nanoseconds) / 1_000_000)
        if !mailboxes.isEmpty { ring.mailbox = mailboxes[leaving.token] }
        rings.add(ring)
    }

    /// Knows from now on which mailbox a notification's device token leads to.
    package func know(_ mailbox: String, of notification: Notification) {
        let device = digester.token(
            of: Recipient(lane: notification.lane, deviceToken: notification.deviceToken))
        // One of each mailbox, and of those that are gone.
        if mailboxes.count >= 2 * Rings.mostMailboxes { mailboxes = [:] }
        mailboxes[device] = mailbox
    }

    /// Notes a test of the owner's that was put into a mailbox.
    package func noteTest(ofMailbox name: String, in lane: LaneID) {
        rings.add(
            Rings.Ring(
                at: EventLoop.unixTime, sequence: 0, device: Digest(high: 0, low: 0), lane: lane,
                door: "phone_test", outcome: .placed, reason: nil, taken: 0, mailbox: name))
    }

    func noteRefusal(_ receipt: Receipt, at door: Int) {
        guard case .ended(let ending) = receipt, let reason = ending.reason else { return }
        rings.refuse(reason.code, at: tally.doors[door].name, at: EventLoop.unixTime)
    }

    /// Knows the phones of the book by their digests, as long as the apps stay those that the node started with.
    func know(_ phoneBook: PhoneBook) {
        phones = [:]
        for phone in phoneBook.phones {
            let submission = Submission(
                platform: phone.platform, app: phone.app, deviceToken: phone.deviceToken.text, message: "")
            guard let recipient = pipeline.recipient(of: submission) else { continue }
            let device = digester.token(of: recipient)
            if phones[device] == nil { phones[device] = phone.number }
        }
        rings.watch(phones.keys)
    }
}
