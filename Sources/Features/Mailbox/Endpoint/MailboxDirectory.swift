import Encodings
import Relay

/// The directory of who may read what. Everything that is secret is looked up by its keyed digest: the time
/// that this takes tells nothing of what was nearly right.
package struct MailboxDirectory: Sendable {
    /// The token and name that a client shows.
    struct Claim: Equatable {
        let token: Digest
        /// The user whom the client names; `nil`: it names nobody.
        var user: String?
    }

    /// A mailbox, and which of its registered readers the client is; `nil`: none.
    package typealias Granted = (mailbox: Mailbox, reader: Mailbox.Reader?)

    private var byTopic: [Digest: Mailbox] = [:]
    private var byAddress: [Digest: Int64] = [:]
    /// The names of readers by their tokens. A client may be a reader of several mailboxes, with one token
    /// and one name.
    private var names: [Digest: String] = [:]
    private var publishers: [Digest: (name: String, mailbox: Int64)] = [:]
    private var byNumber: [Int64: Mailbox] = [:]

    package init(_ mailboxes: [Mailbox] = []) {
        for mailbox in mailboxes {
            byTopic[mailbox.topic] = mailbox
            if let address = mailbox.address { byAddress[address] = mailbox.number }
            byNumber[mailbox.number] = mailbox
            for reader in mailbox.readers { names[reader.token] = reader.name }
            for publisher in mailbox.publishers {
                publishers[publisher.token] = (publisher.name, mailbox.number)
            }
        }
    }

    var numbers: Set<Int64> { Set<Int64>(byNumber.keys) }

    /// Returns the name of a mailbox of the owner's; `nil`: there is none of that number.
    package func name(of number: Int64) -> String? {
        byNumber[number].flatMap { $0.isPush ? nil : $0.name }
    }

    /// Returns the owner's mailbox of a name; `nil`: there is none.
    func mailbox(named name: String) -> Mailbox? {
        byTopic.values.first { !$0.isPush && $0.name.hasSameBytes(as: name) }
    }

    /// Returns the number of a topic of UnifiedPush; `nil`: there is no such topic.
    func pushTopic(_ topic: Digest) -> Int64? {
        byTopic[topic].flatMap { $0.isPush ? $0.number : nil }
    }

    /// Returns the name of the reader whose claim this is; `nil`: the claim is nobody's.
    func name(of claim: Claim) -> String? {
        guard let name = names[claim.token], claim.user?.hasSameBytes(as: name) ?? true else { return nil }
        return name
    }

    /// Returns the name of a publisher; `nil`: the claim is no publisher's.
    func publisher(of claim: Claim) -> String? {
        guard let (name, _) = publishers[claim.token], claim.user?.hasSameBytes(as: name) ?? true else {
            return nil
        }
        return name
    }

    /// Returns the mailbox that somebody publishes to, and who it is. A topic that there is none of and another's are
    /// answered alike.
    func publishing(
        to topic: Digest, for claim: Claim?
    ) throws(MailboxFault) -> (mailbox: Mailbox, publisher: Mailbox.Publisher) {
        guard let claim else { throw .forbidden }
        guard let name = publisher(of: claim) else {
            throw self.name(of: claim) == nil ? .unauthorized : .forbidden
        }
        guard let mailbox = byTopic[topic], publishers[claim.token]?.mailbox == mailbox.number else {
            throw .forbidden
        }
        return (mailbox, Mailbox.Publisher(name: name, token: claim.token))
    }

    // MARK: Whose share a request takes

    /// Returns the owner of the share that a client uses which publishes, or asks who it is.
    func owner(of claim: Claim?) -> MailboxShares.Owner {
        guard let claim else { return .stranger }
        if publisher(of: claim) != nil { return .publisher(claim.token) }
        return name(of: claim) == nil ? .stranger : .reader(claim.token)
    }

    /// Returns the owner of the share that a client uses which wants to read.
    func owner(of claim: Claim?, at topics: [Digest]) -> MailboxShares.Owner {
        if let claim { return name(of: claim) == nil ? .stranger : .reader(claim.token) }
        guard let first = topics.first, let mailbox = byTopic[first], mailbox.isOpen else { return .stranger }
        return .mailbox(mailbox.number)
    }

    /// Returns the owner of the share that a client uses which replies.
    func owner(ofAddress address: Digest) -> MailboxShares.Owner {
        byAddress[address].map { .mailbox($0) } ?? .stranger
    }

    /// Returns the owner of the share that a client uses which pushes.
    func owner(ofTopic topic: Digest) -> MailboxShares.Owner {
        guard let mailbox = byTopic[topic], mailbox.isPush, let reader = mailbox.readers.first else {
            return .stranger
        }
        return .topics(of: reader.token)
    }

    /// The numbers of mailboxes, and of topics of UnifiedPush.
    var counts: (Int, Int) {
        let topics = byTopic.values.count(where: \.isPush)
        return (byTopic.count - topics, topics)
    }

    func has(_ mailbox: Int64) -> Bool { byNumber[mailbox] != nil }

    /// Returns the mailboxes of these topics, in their order. A topic without a mailbox and another reader's
    /// topic are answered alike.
    func access(to topics: [Digest], for claim: Claim?) throws(MailboxFault) -> [Granted] {
        if let claim, name(of: claim) == nil {
            throw publisher(of: claim) == nil ? .unauthorized : .forbidden
        }
        var granted: [Granted] = []
        for topic in topics {
            guard let mailbox = byTopic[topic] else { throw .forbidden }
            let reader = claim.flatMap { claim in mailbox.readers.first { $0.token == claim.token } }
            guard reader != nil || mailbox.isOpen else { throw .forbidden }
            granted.append((mailbox, reader))
        }
        return granted
    }
}
