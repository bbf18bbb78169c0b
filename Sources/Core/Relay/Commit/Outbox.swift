import Clocks
import Encodings

/// A notification on its way into the outbox.
package struct StoreRequest: Equatable, Sendable {
    /// The part of the outbox in which a notification is stored, for this node or for another one.
    package enum Destination: Equatable, Sendable {
        /// Whether this node sends the notification.
        package var isHere: Bool { if case .elsewhere = self { false } else { true } }

        /// The notification is in memory as well, and is there after a start.
        case window
        /// The notification is on disk only, until it is claimed. It is stored only if the backlog holds
        /// fewer than `room` notifications of its device.
        case backlog(room: Int)
        /// The notification is on disk only, for the node that has its shard. It is stored only if the
        /// backlog holds fewer than `room` notifications of its device.
        case elsewhere(room: Int)
    }

    package let notification: Notification
    package let digests: SubmissionDigests
    package let destination: Destination
    /// The time when the app last registered the device token, for the node that has its
    /// shard; 0: not known.
    package let registeredAt: UnixTime

    package init(
        notification: Notification, digests: SubmissionDigests, destination: Destination = .window,
        registeredAt: UnixTime = 0
    ) {
        self.notification = notification
        self.digests = digests
        self.destination = destination
        self.registeredAt = registeredAt
    }
}

/// One change of the outbox. Changes of one commit take effect in their order.
package enum OutboxChange: Equatable, Sendable {
    /// Adds a notification, unless its identity is known.
    case store(StoreRequest)
    /// Adds nothing: asks what became of a notification that would be refused if it were not known.
    case lookUp(SubmissionDigests)
    /// Remembers that a notification was delivered without being stored, unless its identity is known.
    case remember(SubmissionDigests, acceptedAt: UnixTime)
    /// Deletes a notification and remembers its end, for senders who submit it again.
    case finish(sequence: Int64, Ending)
    /// Remembers how often a notification was tried and when its next attempt is due.
    ///
    /// In the backlog all others of its device wait as long.
    case postpone(sequence: Int64, attempts: Int, notBefore: UnixTime)
    /// Puts all of a device that are in memory (back) into the backlog: it and what it has there are due at `notBefore`,
    /// above 0.
    case shelve(Digest, [Int64], notBefore: UnixTime)
    /// Remembers what a gateway has asked for a device, in place of what it asked before.
    case spare(DeviceWish)
    /// Forgets what gateways asked for these devices.
    case forgetWishes([Digest])
    /// Remembers how a lane stands; `nil`: as a new one.
    case lane(LaneID, LaneRecord?)
    /// Gives all that an app has in the backlog for a host to another app. None of it is handed out, and none of it is
    /// anywhere else.
    case move(LaneID, toApp: String)
    /// Makes all that a lane has in the backlog due at a time, above 0, as far as it is put off for longer.
    case retry(LaneID, at: UnixTime)
    /// Remembers a dead token.
    case buryToken(Digest, DeadToken)
    /// Forgets a dead token: its gateway has taken a notification for it.
    case reviveToken(Digest)
    /// Forgets identities of notifications accepted before `acceptedBefore`, and tokens buried before `buriedBefore`; also
    /// those later than `latest`, which a clock that was ahead has set down.
    case forget(acceptedBefore: UnixTime, buriedBefore: UnixTime, latest: UnixTime = .max)
    /// Remembers what is known of the wall clock.
    case clock(ClockRecord)
    /// Gives these shards up: this node has nothing of theirs in memory any more.
    case giveUp(Shards)
    /// Changes nothing, but is written: a store that can't be written fails.
    case proof
}

/// The result of an ``OutboxChange/store(_:)``, and the answer to an ``OutboxChange/lookUp(_:)``.
package enum StoreResult: Equatable, Sendable {
    /// The number orders the outbox: later submissions have higher ones, also across restarts.
    case stored(sequence: Int64)
    /// This notification was stored before and is not at its end.
    case alreadyWaiting(sequence: Int64)
    /// This notification was stored before, and its gateway keeps it (``Outcome/kept``).
    case alreadyKept(sequence: Int64)
    /// This notification was stored before and ended so.
    case alreadyEnded(Ending)
    /// The uid is known with another target or message.
    case conflict
    /// The backlog holds as many of the device as may be.
    case tooMany
    /// Nothing is known of the notification: the answer to an ``OutboxChange/lookUp(_:)`` only.
    case unknown
}

/// The state of a notification, as far as it is known.
package enum NotificationState: Equatable, Sendable {
    case waiting
    case ended(Ending)
}

/// A waiting row without its body, as read at start.
package struct WaitingRow: Equatable, Sendable {
    package let sequence: Int64
    package let lane: LaneID
    package let token: Digest
    package let isUrgent: Bool
    package let size: Int
    package let attempts: Int
    package let acceptedAt: UnixTime
    /// 0: at once.
    package let notBefore: UnixTime
    package let expiresAt: UnixTime

    package init(
        sequence: Int64, lane: LaneID, token: Digest, isUrgent: Bool, size: Int, attempts: Int,
        acceptedAt: UnixTime, notBefore: UnixTime, expiresAt: UnixTime
    ) {
        self.sequence = sequence
        self.lane = lane
        self.token = token
        self.isUrgent = isUrgent
        self.size = size
        self.attempts = attempts
        self.acceptedAt = acceptedAt
        self.notBefore = notBefore
        self.expiresAt = expiresAt
    }
}

/// The content of the outbox when it was opened.
package struct OutboxContent: Equatable, Sendable {
    /// The rows that are not in the backlog, in the order of their sequence numbers. None of their devices has any there.
    package var waiting: [WaitingRow]
    package var backlog: [LaneBacklog]
    package var deadTokens: [Digest: DeadToken]
    package var wishes: [DeviceWish] = []
    package var lanes: [LaneID: LaneRecord] = [:]
    /// The record of the clock; `nil`: nothing is known of it.
    package var clock: ClockRecord?
    /// The correction of dates that has been made at this start; `nil`: none had to be.
    package var redating: Redating?
    /// All identities that were remembered when the outbox was opened, for the first who asks: nobody else holds them.
    package var known = IdentityFilter()
    /// The shards of this node. Nothing in this content is for devices of other shards.
    package var shards = Shards.all
    /// The rows that this node had when it was killed, or that it has taken over meanwhile.
    package var takenOver: TakeOver?
    /// The nodes of the store, whose clocks tell whether this one's is right; `nil`: it is alone.
    package var nodes: SharedNodes?
    /// A sequence number that no notification exceeds.
    package var lastSequence: Int64

    package init(
        waiting: [WaitingRow] = [], backlog: [LaneBacklog] = [], deadTokens: [Digest: DeadToken] = [:],
        lastSequence: Int64 = 0
    ) {
        self.waiting = waiting
        self.backlog = backlog
        self.deadTokens = deadTokens
        self.lastSequence = lastSequence
    }
}

/// The durable queue.
package protocol Outbox: Sendable {
    /// Returns all that waits for delivery: how much of it is in the backlog, and all else.
    func content() async throws(OutboxError) -> OutboxContent

    /// Hands out notifications of the backlog, each once, and changes nothing on disk. They stay in the backlog until they
    /// end; one that is shelved is handed out again.
    func claim(_ claim: Claim) async throws(OutboxError) -> Claimed

    /// Makes all changes or none. They outlast the process when it returns.
    ///
    /// - Parameter isAwaited: Whether a power cut must lose none of them. A commit that nobody awaits is as safe once a
    ///   later one has returned that somebody awaits.
    /// - Returns: One result for each `store` and `lookUp`, in their order.
    func commit(_ changes: [OutboxChange], isAwaited: Bool) async throws(OutboxError) -> [StoreResult]

    /// Returns the notifications with these sequence numbers that are still waiting.
    func notifications(_ sequences: [Int64]) async throws(OutboxError) -> [Int64: Notification]

    /// Returns the state of the notification of that identity; `nil` when it is not known, or not any more.
    func state(of identity: Digest) async throws(OutboxError) -> NotificationState?

    /// Looks who else uses the store, and takes what nobody has.
    func divide(_ request: ShareRequest) async throws(OutboxError) -> Share

    /// Ends the outbox's work; nothing may be asked of it afterwards.
    func close() async
}

extension Outbox {
    /// Makes all changes or none: a power cut loses none of them.
    package func commit(_ changes: [OutboxChange]) async throws(OutboxError) -> [StoreResult] {
        try await commit(changes, isAwaited: true)
    }
}

/// Why the outbox did nothing. Nothing of the commit took effect.
package enum OutboxError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The disk is full. The outbox works again when there is room.
    case full
    case failed(String)
    /// Somebody else holds a lock of the store. The outbox works again when it is given back.
    case locked(String)
    /// The store is as it was before: what it has answered for since may be lost. Later commits succeed.
    case setBack(String)
    /// Another node has the store: what is known of it here is old, and nothing more can be written.
    case taken(String)

    /// Whether the operator hears of it also while another fault lasts.
    var isAlwaysReported: Bool {
        switch self {
        case .full, .failed, .locked: false
        case .setBack, .taken: true
        }
    }

    /// The advice to an operator.
    package var advice: String {
        switch self {
        case .full: "make room on its disk; the node then continues by itself"
        case .failed:
            "see what the reason says; when its disk, its permissions or its database are mended, the node continues by itself"
        case .locked: "see what holds the lock, and let it end or end it; the node then continues by itself"
        case .setBack: "the node continues by itself; leave it running until what it has in memory is sent"
        case .taken: "the node ends, and its service starts it again"
        }
    }

    package var description: String {
        switch self {
        case .full: "no space left on the outbox's disk"
        case .failed(let reason), .locked(let reason), .setBack(let reason), .taken(let reason): reason
        }
    }
}
