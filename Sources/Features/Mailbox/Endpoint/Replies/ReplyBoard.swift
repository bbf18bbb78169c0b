import Crypto
import Encodings
import Persistence
import Reactor
import Relay

/// The way back: holds what a phone says to its Bisq, and the other way round, until the other one fetches it. One for all
/// doors. It can open nothing of it.
@EventLoop
package final class ReplyBoard {
    /// The address of a channel, as a request says it: the channel and its mailbox.
    package struct ChannelAddress: Equatable, Sendable {
        let channel: String
        /// The mailbox's address: every client that may write to it may use its channels.
        let address: String

        /// Makes an address; `nil`: the channel or the address has not the form of one.
        package init?(channel: String, address: String) {
            guard channel.utf8.count == 32,
                channel.consists(of: {
                    ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, "-") | ASCII.equal($0, "_")
                }), (1...300).contains(address.utf8.count)
            else { return nil }
            (self.channel, self.address) = (channel, address)
        }
    }

    package enum Refusal: Error, Equatable, Sendable {
        /// The node has no mailboxes.
        case notServed
        case badForm
        case noSuchMailbox
        /// The board is full: as much waits as may, for the channel, the mailbox or in all.
        case full
        case storeFailed
    }

    private struct Key: Equatable {
        let mailbox: Relay.Digest
        let channel: Relay.Digest
    }

    /// Somebody who waits for what comes to a channel.
    private final class Waiter {
        let channel: Relay.Digest
        private(set) var hasNews = false
        var continuation: UnsafeContinuation<Void, Never>?

        init(for channel: Relay.Digest) { self.channel = channel }

        func wake() {
            hasNews = true
            continuation?.resume()
            continuation = nil
        }
    }

    private let store: StoredMailboxes
    private let digests: MailboxDigests
    private let bounds: MailboxReplyBounds
    /// The waiters by their mailboxes, the oldest first.
    private var waiters: [Relay.Digest: [Waiter]] = [:]
    private var isClosed = false
    /// The last reply that another node may have taken and that was heard of.
    private var last: Int64 = 0

    /// The most waiting requests per mailbox. One more ends the oldest with the replies found so far.
    private static let mostWaiters = 8
    package nonisolated static let longestWait: Duration = .seconds(120)

    package init(
        store: StoredMailboxes, digests: MailboxDigests, bounds: MailboxReplyBounds = MailboxReplyBounds()
    ) {
        (self.store, self.digests, self.bounds) = (store, digests, bounds)
    }

    /// Ends all waiting requests without a reply, and lets nobody wait any more.
    package func close() {
        isClosed = true
        for waiter in waiters.values.flatMap(\.self) { waiter.wake() }
    }

    /// Keeps a reply; a repetition is kept once.
    ///
    /// - Parameter sealed: At most ``MailboxReply/longest`` bytes.
    package func post(_ sealed: [UInt8], at target: ChannelAddress) async throws(Refusal) {
        let key = key(of: target)
        let result: MailboxReplyResult
        do throws(OutboxError) {
            result = try await store.post(
                sealed, digest: digests.reply(sealed, in: target.channel), in: key.channel,
                by: key.mailbox, at: EventLoop.unixMilliseconds, within: bounds)
        } catch {
            throw .storeFailed
        }
        switch result {
        case .stored:
            for waiter in waiters[key.mailbox] ?? [] where waiter.channel == key.channel { waiter.wake() }
        case .full: throw .full
        case .noSuchMailbox: throw .noSuchMailbox
        }
    }

    /// Returns the replies in a channel, as soon as there are some, or none after a while.
    ///
    /// - Parameter acknowledged: The number of the last reply that was taken, and is no longer needed; 0:
    ///   none.
    package func replies(
        at target: ChannelAddress, acknowledging acknowledged: Int64, waiting time: Duration
    ) async throws(Refusal) -> [MailboxReply] {
        let key = key(of: target)
        guard time > .zero, !isClosed else { return try await look(key, acknowledged) }
        // What comes while the store is asked wakes it too.
        let waiter = Waiter(for: key.channel)
        add(waiter, of: key.mailbox)
        defer { remove(waiter, of: key.mailbox) }
        let replies = try await look(key, acknowledged)
        guard replies.isEmpty else { return replies }
        await wait(waiter, atMost: min(time, ReplyBoard.longestWait))
        return try await look(key, 0)
    }

    /// Wakes those who wait for what other nodes have taken.
    package func hearOfOthers() async {
        guard !waiters.isEmpty else { return }
        // What can't be read now is read the next time.
        let news = (try? await store.replyNews(behind: last)) ?? []
        last = max(last, news.map(\.number).max() ?? 0)
        let channels = Set(news.map(\.channel))
        for waiter in waiters.values.flatMap(\.self) where channels.contains(waiter.channel) { waiter.wake() }
    }

    private func look(_ key: Key, _ acknowledged: Int64) async throws(Refusal) -> [MailboxReply] {
        let replies: [MailboxReply]?
        do throws(OutboxError) {
            replies = try await store.replies(
                in: key.channel, of: key.mailbox, acknowledging: acknowledged, at: EventLoop.unixMilliseconds)
        } catch {
            throw .storeFailed
        }
        guard let replies else { throw .noSuchMailbox }
        return replies
    }

    private func key(of target: ChannelAddress) -> Key {
        Key(mailbox: digests.address(target.address), channel: digests.channel(target.channel))
    }

    // MARK: Waiting

    private func add(_ waiter: Waiter, of mailbox: Relay.Digest) {
        // Whoever asks anew has lost the connection by which it waited.
        if let known = waiters[mailbox], known.count >= ReplyBoard.mostWaiters {
            // It counts no more, also where many come before its own task goes on.
            waiters[mailbox]?.removeFirst().wake()
        }
        waiters[mailbox, default: []].append(waiter)
    }

    private func remove(_ waiter: Waiter, of mailbox: Relay.Digest) {
        waiters[mailbox]?.removeAll { $0 === waiter }
        if waiters[mailbox]?.isEmpty ?? false { waiters[mailbox] = nil }
    }

    private func wait(_ waiter: Waiter, atMost time: Duration) async {
        let timer = Timer { waiter.wake() }
        timer.start(after: time)
        if !waiter.hasNews { await withUnsafeContinuation { waiter.continuation = $0 } }
        timer.stop()
    }
}
