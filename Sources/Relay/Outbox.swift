/// A notification on its way into the outbox.
package struct StoreRequest: Equatable, Sendable {
    package let notification: Notification
    package let digests: SubmissionDigests

    package init(notification: Notification, digests: SubmissionDigests) {
        self.notification = notification
        self.digests = digests
    }
}

/// One change of the outbox. Changes of one commit take effect in their order.
package enum OutboxChange: Equatable, Sendable {
    /// Adds a notification, unless its identity is known.
    case store(StoreRequest)
    /// Deletes a notification and remembers how it ended, for those who submit it again.
    case finish(sequence: Int64, Ending)
    /// Remembers how often a notification was tried and when its next attempt is due (ms since 1970).
    case postpone(sequence: Int64, attempts: Int, notBefore: Int64)
    /// Remembers a dead token.
    case buryToken(Digest, DeadToken)
    /// Forgets a dead token: its gateway has taken a notification for it.
    case reviveToken(Digest)
    /// Forgets identities of notifications accepted before `acceptedBefore`, and tokens buried before `buriedBefore`
    /// (ms since 1970).
    case forget(acceptedBefore: Int64, buriedBefore: Int64)
    /// Changes nothing and is written all the same: what can't be written fails.
    case proof
}

/// What became of an ``OutboxChange/store(_:)``.
package enum StoreResult: Equatable, Sendable {
    /// The number orders the outbox: later submissions have higher ones, also across restarts.
    case stored(sequence: Int64)
    /// The same notification was stored before and is not at its end.
    case alreadyWaiting(sequence: Int64)
    /// The same notification was stored before and ended so.
    case alreadyEnded(Ending)
    /// The uid is known with another target or message.
    case conflict
}

/// What is known of a notification.
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
    /// Milliseconds since 1970, as the rest.
    package let acceptedAt: Int64
    /// 0: at once.
    package let notBefore: Int64
    package let expiresAt: Int64

    package init(
        sequence: Int64, lane: LaneID, token: Digest, isUrgent: Bool, size: Int, attempts: Int,
        acceptedAt: Int64, notBefore: Int64, expiresAt: Int64
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

/// What the outbox held when it was opened.
package struct OutboxContent: Equatable, Sendable {
    /// In the order of their sequence numbers.
    package var waiting: [WaitingRow]
    package var deadTokens: [Digest: DeadToken]

    package init(waiting: [WaitingRow] = [], deadTokens: [Digest: DeadToken] = [:]) {
        self.waiting = waiting
        self.deadTokens = deadTokens
    }
}

/// The durable queue.
package protocol Outbox: Sendable {
    /// Everything that waits for delivery.
    func content() async throws(OutboxError) -> OutboxContent

    /// Makes all changes or none. Durable when it returns: a power cut loses none of them.
    ///
    /// - Returns: One result for each `store`, in their order.
    func commit(_ changes: [OutboxChange]) async throws(OutboxError) -> [StoreResult]

    /// The notifications with these sequence numbers that are still waiting.
    func notifications(_ sequences: [Int64]) async throws(OutboxError) -> [Int64: Notification]

    /// What became of the notification of that identity; `nil` when it is not known, or not any more.
    func state(of identity: Digest) async throws(OutboxError) -> NotificationState?

    /// Ends its work; nothing may be asked of it afterwards.
    func close() async
}

/// Why the outbox did nothing. Nothing of the commit took effect.
package enum OutboxError: Error, Equatable, Sendable, CustomStringConvertible {
    /// No room on the disk. Mends itself when there is room again.
    case full
    case failed(String)

    package var description: String {
        switch self {
        case .full: "no space left on the outbox's disk"
        case .failed(let reason): reason
        }
    }
}
