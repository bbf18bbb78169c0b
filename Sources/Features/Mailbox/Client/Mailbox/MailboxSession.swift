import Client
import Clocks
import Reactor

/// One connection to a mailbox: its messages one after the other, each acknowledged once it was taken.
///
/// A message's acknowledgement is the pong to the ping behind it. So a pong waits until all that came before its ping was
/// taken.
@EventLoop
package final class MailboxSession {
    package enum End: Equatable, Sendable {
        /// The node closed the connection, in order.
        case closed
        /// The connection broke.
        case lost
        /// The node sent nothing for this time.
        case silent(after: Duration)
        /// The bytes are not ntfy's.
        case unreadable
        /// A message could not be taken; nothing behind it is acknowledged.
        case notTaken
        case stopped
    }

    private enum Item {
        case text(String)
        case ping([UInt8])
    }

    private let socket: WebSocket
    private let pingInterval: Duration
    private let patience: Duration
    /// Takes an event; false: it could not be kept or shown.
    private let take: @EventLoop (MailboxEvent) async -> Bool
    private var items: [Item] = []
    private var end: End?
    private var waiter: UnsafeContinuation<Void, Never>?
    private var timer: Timer?
    private var isAsked = false
    private var isPaused = false

    /// Items that wait before no more is read.
    private static let most = 64

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - pingInterval: between the pings by which a dead connection is found.
    ///   - patience: for the answer to a ping.
    package init(
        _ socket: WebSocket, pingInterval: Duration, patience: Duration,
        take: @escaping @EventLoop (MailboxEvent) async -> Bool
    ) {
        (self.socket, self.pingInterval, self.patience) = (socket, pingInterval, patience)
        self.take = take
    }

    /// Returns when the connection is over and what came over it is taken.
    ///
    /// - Parameter unread: What came behind the handshake.
    package func run(unread: [UInt8]) async -> End {
        let timer = Timer { [unowned self] in look() }
        timer.start(after: pingInterval)
        self.timer = timer
        socket.onPing = { [unowned self] in add(.ping($0)) }
        socket.start(
            unread: unread, onText: { [unowned self] in add(.text($0)) },
            onEnd: { [unowned self] in finish(socket.isClosedByPeer ? .closed : .lost) })
        while let item = await next() {
            switch item {
            case .ping(let bytes): socket.pong(bytes)
            case .text(let line):
                guard let event = MailboxEvent(line) else {
                    finish(.unreadable)
                    break
                }
                if await !take(event) { finish(.notTaken) }
            }
        }
        timer.stop()
        socket.onPing = nil
        socket.close()
        return end ?? .lost
    }

    /// Stops the session: the message that is being taken is the last.
    package func stop() { finish(.stopped) }

    private func add(_ item: Item) {
        items.append(item)
        if items.count >= MailboxSession.most, !isPaused {
            isPaused = true
            socket.pauseReading()
        }
        wake()
    }

    private func finish(_ end: End) {
        self.end = self.end ?? end
        // What came before the end of the connection is taken all the same.
        if end != .closed, end != .lost { items = [] }
        wake()
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }

    private func next() async -> Item? {
        while items.isEmpty {
            guard end == nil else { return nil }
            if isPaused {
                isPaused = false
                socket.resumeReading()
            }
            await withUnsafeContinuation { waiter = $0 }
        }
        return items.removeFirst()
    }

    /// Looks whether the connection still lives: a connection through Tor can be dead without a sign of it.
    private func look() {
        guard !isPaused else {
            // Nothing is read, so that nothing could be heard.
            isAsked = false
            timer?.start(after: pingInterval)
            return
        }
        let silence = EventLoop.now - socket.heardAt
        guard !isAsked || silence < patience else { return finish(.silent(after: silence)) }
        isAsked = !isAsked
        if isAsked { socket.ping() }
        timer?.start(after: isAsked ? patience : pingInterval)
    }
}
