import Client
import Clocks
import Glibc
import HTTP1
import MailboxClients
import Processes
import Reactor
import Terminal
import Tor

/// The options of `onionbell receive`.
struct ReceiveRunSettings {
    var place: MailboxURL
    var tor: WatchTor.Source
    /// The point from which the first connection of a book begins that knows no message.
    var since: String
    /// Whether to fetch the messages that lie there, and end.
    var isOnce: Bool
    var pingInterval: Duration
    /// The longest time for a connection.
    var deadline: Duration
}

/// Reads a mailbox until it is stopped: connects, takes what comes, connects again.
@EventLoop
final class ReceiveRun {
    private let settings: ReceiveRunSettings
    private let file: BookFile
    private var book: MailboxBook
    private let screen: MessageScreen
    private let tor: WatchTor
    private var session: MailboxSession?
    private let attempts = AttemptLoop()
    private var hasConnected = false
    private var hasNews = false
    private var failure: Int32?

    /// The longest time for the answer to a request, and to a ping: a circuit can be dead without a sign of
    /// it.
    private static let patience: Duration = .seconds(30)

    init(_ settings: ReceiveRunSettings, file: BookFile, book: MailboxBook, screen: MessageScreen) {
        (self.settings, self.file, self.book, self.screen) = (settings, file, book, screen)
        tor = WatchTor(settings.tor)
    }

    /// Shows messages until it is told to stop, or can't go on. Returns the exit status. The message in hand is kept and
    /// shown before the end.
    func run() async -> Int32 {
        await attempts.run(
            by: tor,
            finishing: { [unowned self] in
                session?.stop()
                return session != nil
            }, receive)
    }

    private func receive() async -> Int32 {
        while !attempts.isStopping {
            let words = await connect()
            if let failure { return failure }
            guard let words else {
                // The connection was good. What was new is acknowledged by asking for what comes behind it.
                attempts.reset()
                if settings.isOnce, !hasNews { break }
                if settings.isOnce { continue }
                await attempts.pause()
                continue
            }
            if settings.isOnce, !attempts.isStopping { return fail(words, status: 69).rawValue }
            attempts.tell("\(words); trying again")
            await attempts.pause()
        }
        return EXIT_SUCCESS
    }

    /// Connects and takes messages until the connection ends. Returns what went wrong; `nil` after a good
    /// connection.
    private func connect() async -> String? {
        let socket: WebSocket
        let unread: [UInt8]
        do {
            (socket, unread) = try await WebSocket.open(
                opening, by: try await tor.route(to: settings.place.node), deadline: settings.deadline,
                answerTimeout: ReceiveRun.patience)
        } catch let error as WebSocket.OpeningError {
            if error.isFinal(hasConnected: hasConnected) { failure = refusal(error) }
            guard case .refused(let refusal) = error else { return "\(error)" }
            return "the node refuses with status \(refusal.status)"
        } catch {
            return "\(error)"
        }
        hasConnected = true
        hasNews = false
        attempts.tell("connected")
        let start = EventLoop.now
        let session = MailboxSession(
            socket, pingInterval: settings.pingInterval, patience: ReceiveRun.patience
        ) { [unowned self] in await take($0) }
        self.session = session
        let end = await session.run(unread: unread)
        self.session = nil
        let lasted = EventLoop.now - start
        let reason: String
        switch end {
        case .stopped, .notTaken: return nil
        case .closed where settings.isOnce: return nil
        case .unreadable: return "what answers there does not speak as ntfy does"
        case .closed: reason = "the node has closed the connection"
        case .lost: reason = "the connection is lost"
        case .silent: reason = "the node does not answer any more"
        }
        attempts.connectionEnded(after: lasted, hasNews: hasNews)
        return reason
    }

    private var opening: WebSocket.Opening {
        var query = "since=\(book.last ?? settings.since)"
        if settings.isOnce { query += "&poll=1" }
        let token = book.access.token
        return WebSocket.Opening(
            host: settings.place.host, path: "\(settings.place.topic)/ws?\(query)",
            fields: token.isEmpty ? [] : [("Authorization", "Bearer \(token)")])
    }

    private func refusal(_ error: WebSocket.OpeningError) -> Int32 {
        let words =
            switch error {
            case .refused(let refusal):
                switch refusal.status {
                case 401: "the mailbox does not know this reader's token, or was removed"
                case 403: "there is no such mailbox, or this reader's token is for another one"
                case let status:
                    "the node refuses with status \(status): is this a mailbox's ntfy address?"
                }
            case .notAWebSocket, .exchange: "\(error): is this a mailbox's ntfy address?"
            }
        return fail(words, status: 1).rawValue
    }

    // MARK: Messages

    /// Shows a message and keeps it; only then it is acknowledged. A message in between when this process
    /// dies is shown again.
    private func take(_ event: MailboxEvent) async -> Bool {
        guard case .message(let note) = event, !book.has(note.id) else { return true }
        hasNews = true
        let now = EventLoop.unixMilliseconds
        var opened: ReceivedMessage?
        let isShown: Bool
        do throws(PhoneError) {
            let message = try ReceivedMessage(opening: note, with: book.access.pairingToken)
            guard book.takes(message, at: now) else { throw .notErased }
            opened = message
            isShown = await screen.show(
                MailboxBook.Entry(id: note.id, time: note.time, message: message))
        } catch {
            isShown = await screen.showUnreadable(note, error)
        }
        guard isShown else {
            failure = fail("standard output takes no more", status: 74).rawValue
            return false
        }
        book.note(note, opened, at: now)
        do throws(BookFile.Fault) {
            try file.write(book)
        } catch {
            failure = fail("\(error); the message will come again", status: error.exitStatus).rawValue
            return false
        }
        return true
    }
}
