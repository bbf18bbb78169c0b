import Relay

/// The way back: what a phone says to its Bisq, or Bisq's agent to the phone, until the other one fetches it. The node can
/// open none of it.
package struct MailboxReply: Equatable, Sendable {
    /// The number of a reply; a later one has a higher number.
    package let number: Int64
    package let sealed: [UInt8]

    package init(number: Int64, sealed: [UInt8]) {
        self.number = number
        self.sealed = sealed
    }

    /// Bytes of one that is taken; those of today have 1,309 at most.
    package static let longest = 2048
    /// Milliseconds that it lies here; for longer it is good for nothing.
    package static let life: Int64 = 600_000
}

/// How far a channel has come.
package struct MailboxReplyPlace: Equatable, Sendable {
    package let channel: Digest
    package let number: Int64

    package init(channel: Digest, number: Int64) {
        self.channel = channel
        self.number = number
    }
}

/// How many replies lie here. Whoever has a mailbox's address may leave some: the share is the mailbox's.
package struct MailboxReplyBounds: Equatable, Sendable {
    package var ofChannel = 16
    package var ofMailbox = 64
    package var inAll = 4096

    package init() {}
}

/// The result of storing a reply.
package enum MailboxReplyResult: Equatable, Sendable {
    /// It lies here, now or since an earlier try.
    case stored
    case full
    case noSuchMailbox
}

/// Replies in the store. Each call is a transaction.
package protocol MailboxReplies: Sendable {
    /// Keeps a reply, once. Durable when it returns.
    ///
    /// - Parameters:
    ///   - address: The mailbox's.
    ///   - digest: Of the channel and what is sealed.
    ///   - now: Milliseconds since 1970.
    func post(
        _ sealed: [UInt8], digest: Digest, in channel: Digest, by address: Digest, at now: Int64,
        within bounds: MailboxReplyBounds
    ) async throws(OutboxError) -> MailboxReplyResult

    /// Returns the replies in a channel of a mailbox, the oldest first.
    ///
    /// - Parameter acknowledged: Up to this number they are deleted before.
    /// - Returns: `nil`: there is no such mailbox.
    func replies(
        in channel: Digest, of address: Digest, acknowledging acknowledged: Int64, at now: Int64
    ) async throws(OutboxError) -> [MailboxReply]?

    /// The last replies of channels that have got any behind that number, whichever node took them.
    func replyNews(behind number: Int64) async throws(OutboxError) -> [MailboxReplyPlace]
}
