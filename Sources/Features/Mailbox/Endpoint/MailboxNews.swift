import Dispatching
import Doors
import Persistence
import Reactor
import Relay

/// Tells the readers at this node of what other nodes put into their mailboxes, and who waits for replies of those.
@EventLoop
final class MailboxNews {
    private let store: StoredMailboxes
    private let door: MailboxDoor
    private let dispatcher: Dispatcher
    private let timer = Timer()
    private var isStopped = false
    /// The last message that was heard of.
    private var last: Int64 = 0

    nonisolated static let interval: Duration = .milliseconds(200)

    init(of store: StoredMailboxes, for door: MailboxDoor, from dispatcher: Dispatcher) {
        (self.store, self.door, self.dispatcher) = (store, door, dispatcher)
        timer.action = { [weak self] in self?.look() }
        // Where the store is a file, nobody else is there.
        if dispatcher.sharing != nil { timer.start(after: MailboxNews.interval) }
    }

    func stop() {
        isStopped = true
        timer.stop()
    }

    private func look() {
        Task { [weak self] in await self?.lookNow() }
    }

    private func lookNow() async {
        if dispatcher.sharing?.known != nil {
            if door.openReadings > 0 {
                // What can't be read now is read the next time.
                let news = (try? await store.news(behind: last)) ?? []
                last = max(last, news.map(\.number).max() ?? 0)
                door.heard(news)
            }
            await door.replies.hearOfOthers()
        }
        guard !isStopped else { return }
        timer.start(after: MailboxNews.interval)
    }
}
