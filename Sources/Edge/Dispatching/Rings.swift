import Clocks
import Encodings
import Reactor
import Relay

/// The last rings: what became of each, for the eyes of the node's owner. In memory only, and without tokens and texts;
/// a restart in place hands it on.
///
/// One device can fill the list, as far as ``Relay/Admission`` lets it. Then the others are known by the last ring of each
/// phone of the book, which no other takes away; and a flood that is refused has a table of its own.
package struct Rings: Sendable {
    /// A notification that its push service has judged, that its mailbox keeps, or that has expired.
    package struct Ring: Equatable, Sendable {
        package enum Outcome: String, Sendable {
            case delivered, dead, refused, expired
            /// The mailbox has it, and its phone has not fetched it.
            case kept
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
    }

    /// Submissions that were not taken, all of one endpoint and reason together.
    package struct Refused: Equatable, Sendable {
        package let door: String
        package let reason: String
        package internal(set) var count: Int
        /// The time of the last one.
        package internal(set) var at: UnixTime
    }

    package static let most = 200
    static let mostRefused = 64

    /// A ring that goes round: the oldest is at ``next`` once it is full.
    private var kept: [Ring] = []
    private var next = 0
    /// The last refusal first.
    package internal(set) var refused: [Refused] = []
    private var watched: Set<Digest> = []
    /// The last ring of each device that is watched.
    var last: [Digest: Ring] = [:]

    package init() {}

    /// The last first.
    package var all: [Ring] { Array((kept[next...] + kept[..<next]).reversed()) }

    /// Returns the last ring of a device that is watched; `nil`: there was none since the start, or since it is watched.
    package func last(of device: Digest) -> Ring? { last[device] }

    /// Keeps the last ring of each of these devices, whatever becomes of the list.
    mutating func watch(_ devices: some Sequence<Digest>) {
        watched = Set<Digest>(devices)
        last = last.filter { watched.contains($0.key) }
    }

    mutating func add(_ ring: consuming Ring) {
        if watched.contains(ring.device) { last[ring.device] = copy ring }
        if kept.count < Rings.most {
            kept.append(ring)
        } else {
            kept[next] = ring
            next = next + 1 == Rings.most ? 0 : next + 1
        }
    }

    /// Notes the end of one that a mailbox kept; nothing, if it is no longer in the list.
    mutating func end(_ sequence: Int64, _ ending: Ending, at now: UnixTime) {
        guard let index = kept.firstIndex(where: { $0.sequence == sequence && $0.outcome == .kept }) else {
            return
        }
        let before = kept[index]
        let came = before.at.milliseconds - before.taken
        let ring = Ring(
            at: now, sequence: sequence, device: before.device, lane: before.lane, door: before.door,
            outcome: Ring.Outcome(ending), reason: ending.reason?.code,
            taken: max(0, now.milliseconds - came))
        kept[index] = ring
        if last[ring.device]?.sequence == sequence { last[ring.device] = ring }
    }

    mutating func refuse(_ reason: String, at door: String, at now: UnixTime) {
        var entry = Refused(door: door, reason: reason, count: 0, at: now)
        if let index = refused.firstIndex(where: { $0.door == door && $0.reason == reason }) {
            entry = refused.remove(at: index)
        }
        entry.count += 1
        entry.at = now
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
        rings.add(
            Rings.Ring(
                at: EventLoop.unixTime, sequence: leaving.sequence, device: leaving.token,
                lane: pipeline.shown(leaving.lane), door: door, outcome: outcome, reason: reason,
                taken: (EventLoop.now.nanoseconds - leaving.submittedAt.nanoseconds) / 1_000_000))
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
