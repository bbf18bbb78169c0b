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

    /// The most bytes of a reply that is taken; those of today have 1,309 at most.
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

/// How many replies a node holds. Anyone who has a mailbox's address may leave some: the share is the mailbox's.
package struct MailboxReplyBounds: Equatable, Sendable {
    package var ofChannel = 16
    package var ofMailbox = 64
    package var inAll = 4096

    package init() {}
}

/// The result of storing a reply.
package enum MailboxReplyResult: Equatable, Sendable {
    /// The reply lies here, now or since an earlier try.
    case stored
    case full
    case noSuchMailbox
}
