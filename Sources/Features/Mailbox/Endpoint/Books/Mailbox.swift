import Clocks
import Encodings
import Relay

/// A place where notifications lie until their phones fetch them: what the store keeps of one, beside its messages.
///
/// Four capabilities lead to it, and none of them gives another: the address writes, the topic with a reader's token
/// reads, the topic with a publisher's token publishes. Only keyed digests of them are kept.
package struct Mailbox: Equatable, Sendable {
    /// A reader of a mailbox: a phone, a desktop. Each gets everything.
    package struct Reader: Equatable, Sendable {
        package let number: Int64
        package let name: String
        package let token: Digest

        package init(number: Int64 = 0, name: String, token: Digest) {
            self.number = number
            self.name = name
            self.token = token
        }
    }

    /// A publisher of texts of its own in a mailbox, which reads none: the owner's scripts and servers.
    package struct Publisher: Equatable, Sendable {
        package let name: String
        package let token: Digest

        package init(name: String, token: Digest) {
            self.name = name
            self.token = token
        }
    }

    /// The text that an app shows if it can't decrypt.
    package enum Show: String, CaseIterable, Sendable {
        /// A text that the node writes; the message goes beside it.
        case bell
        /// The encrypted message itself.
        case sealed
    }

    /// The store's own number for the mailbox, never given again.
    package let number: Int64
    package let name: String
    package let show: Show
    /// Whether everybody who has the topic may read, without a token. Such reading acknowledges nothing.
    package let isOpen: Bool
    /// Whether the mailbox is a topic of UnifiedPush, which a reader made by subscribing: every sender that has it writes
    /// to it.
    package let isPush: Bool
    package let topic: Digest
    /// The digest of the address by which senders write to the mailbox; `nil`: it is not read from the store.
    package let address: Digest?
    /// The readers whose acknowledgements count.
    package let readers: [Reader]
    package let publishers: [Publisher]

    package init(
        number: Int64 = 0, name: String, show: Show, isOpen: Bool, isPush: Bool = false, topic: Digest,
        address: Digest? = nil, readers: [Reader], publishers: [Publisher] = []
    ) {
        self.number = number
        self.name = name
        self.show = show
        self.isOpen = isOpen
        self.isPush = isPush
        self.topic = topic
        self.address = address
        self.readers = readers
        self.publishers = publishers
    }

    /// The most mailboxes, and the most topics of UnifiedPush.
    package static let most = 1000
    /// The most readers of a mailbox.
    package static let mostReaders = 10
    /// The most publishers of a mailbox.
    package static let mostPublishers = 20
    /// Topics of UnifiedPush of one reader.
    package static let mostPushTopics = 50
}

package struct MailboxMessage: Equatable, Sendable {
    /// Letters and digits; the same for a repetition.
    package static let idLength = 12

    /// The number of a message; a later one has a higher number, also after a restart. 0: not stored yet.
    package let number: Int64
    package let id: String
    package let acceptedAt: UnixTime
    package let expiresAt: UnixTime
    package let isUrgent: Bool
    /// The text as the sender encrypted it; of one that was published, as the endpoint sealed it.
    package let text: String
    /// The name by which the message replaces an earlier message with the same name.
    package let replaces: String?
    /// Whether the message is a publisher's, not Bisq's.
    package let isPublished: Bool
    /// The publisher for which the message waits until ``acceptedAt``; `nil`: it is there at once.
    package let delayedBy: Digest?

    package init(
        number: Int64 = 0, id: String, acceptedAt: UnixTime, expiresAt: UnixTime, isUrgent: Bool,
        text: String,
        replaces: String? = nil, isPublished: Bool = false, delayedBy: Digest? = nil
    ) {
        self.number = number
        self.id = id
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.isUrgent = isUrgent
        self.text = text
        self.replaces = replaces
        self.isPublished = isPublished
        self.delayedBy = delayedBy
    }

    /// Returns the message as one that was accepted so much later.
    package func later(by time: Duration) -> MailboxMessage {
        MailboxMessage(
            number: number, id: id, acceptedAt: acceptedAt + time, expiresAt: expiresAt + time,
            isUrgent: isUrgent, text: text, replaces: replaces, isPublished: isPublished, delayedBy: delayedBy
        )
    }

    /// Returns the id of a notification's message: 64 of its bits, as letters and digits.
    package static func id(of notification: NotificationID) -> String {
        let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        var rest = notification.high ^ notification.low
        var text = [UInt8](repeating: digits[0], count: idLength)
        for index in text.indices.reversed() {
            text[index] = digits[Int(rest % 62)]
            rest /= 62
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// How much lies in one mailbox, and what becomes of one message more.
package struct MailboxBounds: Equatable, Sendable {
    package var messages = 500
    package var bytes = 2 << 20
    /// The most published messages; they are counted apart from ``messages``. A new one beyond this evicts the oldest.
    package var publishedMessages = 100
    package var publishedBytes = 256 << 10
    /// The most messages of one publisher that wait to be published later. More are refused; no waiting message is evicted,
    /// since each was promised for its time.
    package var delayedMessages = 50
    package var delayedBytes = 128 << 10

    package init() {}

    package enum Room: Equatable, Sendable {
        case enough
        /// The oldest message goes: where a bell is a bell, the newest counts.
        case oldestGoes
        /// The new message is refused: nothing that the phone has not seen is thrown away.
        case none
    }

    /// Returns the room that a mailbox has for a message of `size` bytes.
    ///
    /// - Parameters:
    ///   - messages, bytes: The messages of the same kind that lie there.
    ///   - isPublished: The kind of the new message.
    package func room(
        for size: Int, besides messages: Int, bytes: Int, showing show: Mailbox.Show,
        isPublished: Bool = false
    ) -> Room {
        let (most, mostBytes) =
            isPublished ? (publishedMessages, publishedBytes) : (self.messages, self.bytes)
        // However many went for it, there would be no room.
        guard most > 0, size <= mostBytes else { return .none }
        if messages < most, bytes + size <= mostBytes { return .enough }
        return isPublished || show == .bell ? .oldestGoes : .none
    }
}

/// The point up to which a reader has seen the messages, as it says.
package enum MailboxSince: Equatable, Sendable {
    case all
    /// The messages that come from now on, and no others.
    case none
    /// The last one of each, and what comes.
    case latest
    /// The messages from this time on, in milliseconds since 1970.
    case time(Int64)
    /// The messages behind that with this id, in all mailboxes that are asked for. A registered reader acknowledges by it
    /// what it was sent, if that was the last one (``MailboxReturn``).
    case message(String)
}

/// The message of a mailbox behind which a reader goes on.
package struct MailboxPlace: Equatable, Sendable {
    package let mailbox: Int64
    package var number: Int64

    package init(mailbox: Int64, number: Int64) {
        self.mailbox = mailbox
        self.number = number
    }
}

/// The result of storing a message, and of those that went for it.
package struct MailboxPut: Equatable, Sendable {
    package let result: MailboxPutResult
    package let ends: [KeptEnd]

    package init(_ result: MailboxPutResult, _ ends: [KeptEnd] = []) {
        self.result = result
        self.ends = ends
    }
}

/// The messages whose time has come.
package struct MailboxDelivery: Equatable, Sendable {
    /// The numbers of the mailboxes that have got something.
    package let mailboxes: Set<Int64>
    /// The time of the first that still waits, in milliseconds since 1970; `nil`: none does.
    package let next: Int64?

    package init(mailboxes: Set<Int64>, next: Int64?) {
        self.mailboxes = mailboxes
        self.next = next
    }
}

/// The result of storing a message.
package enum MailboxPutResult: Equatable, Sendable {
    /// The message lies in the mailbox of that number, now or since an earlier try.
    case stored(Int64)
    case full
    case noSuchMailbox
}
