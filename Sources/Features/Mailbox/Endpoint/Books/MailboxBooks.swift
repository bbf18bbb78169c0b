import Encodings

/// The messages of one mailbox that one connection has brought a registered reader.
///
/// A connection brings everything in order. So a reader that names the last message of a connection acknowledges all that
/// this connection brought before it. No other id acknowledges anything.
package struct MailboxSent: Equatable, Sendable {
    /// Each message of the mailbox behind this number, up to ``upTo``, was sent.
    package let after: Int64
    package let upTo: Int64
    /// The id of the last message that the connection brought, whichever mailbox it lies in.
    package let id: String
    /// The highest ``after`` of all connections before and of this one. Whoever names another message than the last one may
    /// have it from any of them.
    package let earliest: Int64
    /// The number up to which the reader may have a message from a connection that read other mailboxes. Such a message says
    /// nothing of what lies in those.
    package let alone: Int64
    /// A digest of the readers of the connection, one for each mailbox.
    package let readers: Int64

    package init(
        after: Int64, upTo: Int64, id: String, earliest: Int64 = 0, alone: Int64 = 0, readers: Int64 = 0
    ) {
        (self.after, self.upTo, self.id) = (after, upTo, id)
        (self.alone, self.readers) = (alone, readers)
        self.earliest = max(earliest, after)
    }

    fileprivate func with(after: Int64? = nil, earliest: Int64? = nil, alone: Int64 = 0) -> MailboxSent {
        MailboxSent(
            after: after ?? self.after, upTo: upTo, id: id, earliest: max(earliest ?? 0, self.earliest),
            alone: max(alone, self.alone), readers: readers)
    }

    fileprivate func has(_ number: Int64) -> Bool { after <= number && number <= upTo }
}

/// An acknowledgement: the messages of its mailbox that a registered reader has.
package struct MailboxReceipt: Equatable, Sendable {
    package let reader: Int64
    /// The number behind which the messages begin.
    package let after: Int64
    package let upTo: Int64

    package init(reader: Int64, after: Int64, upTo: Int64) {
        (self.reader, self.after, self.upTo) = (reader, after, upTo)
    }
}

/// The point in one mailbox from which a connection reads.
package struct MailboxStart: Equatable, Sendable {
    package let place: MailboxPlace
    /// The number behind which all that the connection's reader has not acknowledged was sent before, or is sent now.
    package let after: Int64
    /// The acknowledgement in the request.
    package let receipt: MailboxReceipt?
    /// The record of what the reader was sent before.
    package let sent: MailboxSent?

    package init(
        _ mailbox: Int64, behind number: Int64, after: Int64? = nil, receipt: MailboxReceipt? = nil,
        sent: MailboxSent? = nil
    ) {
        place = MailboxPlace(mailbox: mailbox, number: number)
        self.after = after ?? number
        (self.receipt, self.sent) = (receipt, sent)
    }
}

/// A mailbox of a request that names a message, and what the node knows of its reader.
package struct MailboxReturn: Sendable {
    package let mailbox: Int64
    package let reader: Int64?
    /// The number of the named message; `nil`: it does not lie there.
    package let number: Int64?
    /// The number up to which the reader has acknowledged; 0 without a reader.
    package let acknowledged: Int64
    /// The record of what the reader was sent last; `nil`: neither this node's books nor the store's know anything.
    package let sent: MailboxSent?

    package init(
        _ mailbox: Int64, reader: Int64?, number: Int64?, acknowledged: Int64, sent: MailboxSent?
    ) {
        (self.mailbox, self.reader, self.number) = (mailbox, reader, number)
        (self.acknowledged, self.sent) = (acknowledged, sent)
    }

    /// Decides from which point a reader that names a message reads on, and which messages it acknowledges by naming it.
    ///
    /// All mailboxes number their messages in one series, so a message that came after the named one has a higher number in
    /// every mailbox. The last message that a connection brought is a receipt, even when it is deleted since; any other
    /// message is a question. A message that nobody knows leads to the reader's last acknowledgement.
    package static func starts(behind id: String, in mailboxes: [MailboxReturn]) -> [MailboxStart] {
        let last = mailboxes.lazy.compactMap(\.sent).first { $0.id.hasSameBytes(as: id) }
        let lying = mailboxes.first { $0.number != nil }
        guard let number = last?.upTo ?? lying?.number else {
            return mailboxes.map { MailboxStart($0.mailbox, behind: $0.acknowledged, sent: $0.sent) }
        }
        // The connection that brought the named message; it may have been cut behind that.
        let connection = last ?? lying?.sent.flatMap { $0.has(number) ? $0 : nil }
        let isShared = mailboxes.lazy.compactMap(\.sent).allSatisfy {
            number > $0.alone || !$0.id.hasSameBytes(as: connection?.id ?? "")
        }
        return mailboxes.map { mailbox in
            guard let reader = mailbox.reader, let sent = mailbox.sent, let connection,
                sent.id.hasSameBytes(as: connection.id), sent.has(number),
                isShared || mailbox.number == number
            else { return MailboxStart(mailbox.mailbox, behind: number, sent: mailbox.sent) }
            // What a connection that was cut has brought up to there is acknowledged with what comes next.
            guard last != nil else {
                return MailboxStart(
                    mailbox.mailbox, behind: number, after: min(sent.earliest, number), sent: sent)
            }
            return MailboxStart(
                mailbox.mailbox, behind: number,
                receipt: MailboxReceipt(reader: reader, after: sent.after, upTo: number), sent: sent)
        }
    }
}

/// The way of one connection through the mailboxes that it reads.
package struct MailboxStream: Sendable {
    package struct Source: Sendable {
        /// The place up to which everything was sent, or left out by a filter.
        package fileprivate(set) var place: MailboxPlace
        fileprivate var after: Int64
        package let reader: Int64?
        /// Whether the reader was sent anything that it has not acknowledged.
        fileprivate var hasBrought: Bool
    }

    /// The mailboxes, in the order of the request.
    package private(set) var sources: [Source]
    /// A digest of the readers (FNV-1a over their numbers, in order): another request of the same mailboxes has the same.
    fileprivate let readers: Int64
    /// The last message that was sent.
    package private(set) var last: (number: Int64, id: String)?
    /// Whether a filter leaves messages out. Then nothing is acknowledged: nobody has seen those.
    package let isFiltered: Bool

    package var places: [MailboxPlace] { sources.map(\.place) }
    /// Whether the connection's reader can acknowledge anything.
    package var canAcknowledge: Bool { !isFiltered && sources.contains { $0.reader != nil } }

    fileprivate init(from starts: [MailboxStart], for readers: [Int64?], isFiltered: Bool) {
        self.isFiltered = isFiltered
        let digest = readers.compactMap(\.self).sorted().reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64(bitPattern: $1)) &* 0x100_0000_01B3
        }
        self.readers = Int64(bitPattern: digest)
        sources = zip(starts, readers).map { start, reader in
            Source(
                place: start.place, after: start.after, reader: reader,
                hasBrought: start.after < start.place.number)
        }
    }

    /// Goes on behind a message of the store, which is sent or left out.
    package mutating func pass(_ number: Int64) {
        for index in sources.indices where sources[index].place.number < number {
            sources[index].place.number = number
        }
    }

    /// Notes that a message was sent.
    ///
    /// - Parameter source: The index of its mailbox.
    package mutating func note(_ number: Int64, _ id: String, from source: Int) {
        last = (number, id)
        sources[source].hasBrought = true
    }

    /// Returns what a pong to the ping behind a message acknowledges. A pong for what was not sent yet acknowledges nothing.
    package func receipts(upTo number: Int64) -> [MailboxReceipt] {
        guard !isFiltered, let last, number <= last.number else { return [] }
        return sources.compactMap { source in
            guard let reader = source.reader, source.hasBrought, source.after < number else { return nil }
            return MailboxReceipt(reader: reader, after: source.after, upTo: number)
        }
    }

    /// Notes what a pong has acknowledged.
    package mutating func acknowledge(upTo number: Int64) {
        for index in sources.indices where sources[index].after < number { sources[index].after = number }
    }

    fileprivate mutating func join(_ index: Int, _ sent: MailboxSent) {
        if sent.has(sources[index].after) { sources[index].after = sent.after }
    }
}

/// The books of what a node has sent to the registered readers of mailboxes.
///
/// The store has a copy of each entry that is not acknowledged (``takeUnwritten()``), written before the messages are sent:
/// a reader that comes back with the last one after the node was killed acknowledges them.
package struct MailboxBooks: Sendable {
    private struct Key: Hashable {
        let reader: Int64
        let isFiltered: Bool
    }

    private struct Entry {
        var sent: MailboxSent
        /// Whether the connection was a poll that came to its end.
        var isWhole = false
    }

    private var entries: [Key: Entry] = [:]
    private var unwritten: Set<Int64> = []

    package init() {}

    package func sent(to reader: Int64, filtered isFiltered: Bool) -> MailboxSent? {
        entries[Key(reader: reader, isFiltered: isFiltered)]?.sent
    }

    /// Begins a connection.
    ///
    /// - Parameter readers: The client's number among the readers of each mailbox; `nil`: it is none.
    package mutating func open(
        from starts: [MailboxStart], for readers: [Int64?], isFiltered: Bool
    ) -> MailboxStream {
        for (start, reader) in zip(starts, readers) where !isFiltered {
            guard let reader, let sent = start.sent else { continue }
            add(sent, to: Key(reader: reader, isFiltered: false))
        }
        return MailboxStream(from: starts, for: readers, isFiltered: isFiltered)
    }

    /// Notes what a connection has brought its readers by now.
    package mutating func note(_ stream: MailboxStream) {
        guard let last = stream.last else { return }
        for source in stream.sources {
            guard let reader = source.reader, source.hasBrought else { continue }
            let key = Key(reader: reader, isFiltered: stream.isFiltered)
            guard !stream.isFiltered else {
                add(MailboxSent(after: last.number, upTo: last.number, id: last.id), to: key)
                blur(source.after + 1..<max(source.after, last.number) + 1, of: reader)
                continue
            }
            let single = sent(to: reader, filtered: true)?.upTo ?? 0
            let after = last.number > single ? source.after : last.number
            add(
                MailboxSent(
                    after: after, upTo: last.number, id: last.id, earliest: single, alone: single,
                    readers: stream.readers), to: key)
            if after < last.number { unwritten.insert(reader) }
        }
    }

    /// Adds what was sent. A client may have the same message from several connections: then the one that was sent less
    /// speaks. A client comes anew before its old connection is known to be dead, for example, and both are sent what comes.
    private mutating func add(_ sent: MailboxSent, to key: Key) {
        guard let known = entries[key]?.sent else {
            entries[key] = Entry(sent: sent)
            return
        }
        let alone = known.readers == sent.readers ? 0 : min(known.upTo, sent.upTo)
        guard known.upTo >= sent.upTo else {
            entries[key] = Entry(
                sent: sent.with(earliest: known.earliest, alone: max(alone, known.alone)))
            return
        }
        entries[key]?.sent = known.with(
            after: known.upTo == sent.upTo ? max(known.after, sent.after) : known.after,
            earliest: sent.earliest, alone: max(alone, sent.alone))
    }

    /// Notes that a reader may have any of these messages by itself, from a connection with a filter.
    private mutating func blur(_ numbers: Range<Int64>, of reader: Int64) {
        let key = Key(reader: reader, isFiltered: false)
        guard let sent = entries[key]?.sent else { return }
        let last = numbers.upperBound - 1
        entries[key]?.sent = sent.with(
            after: numbers.contains(sent.upTo) ? sent.upTo : sent.after, earliest: last,
            alone: min(last, sent.upTo))
    }

    /// Adds the messages of a reader's finished polls to a connection. A reader that acknowledges a message of the connection
    /// has those of the polls as well.
    package func join(_ stream: inout MailboxStream) {
        for (index, source) in stream.sources.enumerated() where !stream.isFiltered {
            guard let reader = source.reader,
                let entry = entries[Key(reader: reader, isFiltered: false)], entry.isWhole
            else { continue }
            stream.join(index, entry.sent)
        }
    }

    /// Notes that a poll was sent to its end. A reader that names the poll's last message has all of the poll.
    package mutating func end(_ poll: MailboxStream) {
        guard let last = poll.last, !poll.isFiltered else { return }
        for source in poll.sources {
            guard let reader = source.reader else { continue }
            let key = Key(reader: reader, isFiltered: false)
            guard source.hasBrought, let sent = entries[key]?.sent,
                sent.upTo == last.number || sent.after == sent.upTo
            else { continue }
            entries[key] = Entry(
                sent: MailboxSent(
                    after: min(last.number, source.after), upTo: last.number, id: last.id,
                    earliest: sent.earliest, alone: sent.alone, readers: poll.readers),
                isWhole: true)
            if entries[key]?.sent != sent, source.after < last.number { unwritten.insert(reader) }
        }
    }

    /// Notes what a reader has acknowledged. Its last message still says where it goes on.
    package mutating func note(_ receipt: MailboxReceipt) {
        let key = Key(reader: receipt.reader, isFiltered: false)
        guard let sent = entries[key]?.sent, sent.after < receipt.upTo else { return }
        entries[key]?.sent = sent.with(after: min(receipt.upTo, sent.upTo))
    }

    /// Takes out the entries that the store does not know yet.
    package mutating func takeUnwritten() -> [(reader: Int64, sent: MailboxSent)] {
        defer { unwritten = [] }
        return unwritten.compactMap { reader in
            guard let sent = sent(to: reader, filtered: false), sent.after < sent.upTo else { return nil }
            return (reader, sent)
        }
    }

    /// Forgets the readers that there are no more.
    package mutating func forget(butTo readers: Set<Int64>) {
        entries = entries.filter { readers.contains($0.key.reader) }
    }
}
