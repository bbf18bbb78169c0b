import Dispatching
import Doors
import Gateways
import Logging
import Persistence
import Reactor
import Relay

/// The mailboxes of this node: what comes by their gateway lies there until it is fetched at their door.
@EventLoop
struct MailboxAssembly {
    let door: MailboxDoor
    private let watch: StoreWatch<[Mailbox]>
    private let news: MailboxNews

    /// Opens them to the gateway, if there is one.
    init(
        _ settings: Settings, state: borrowing StateDirectory, in outbox: OutboxStore,
        lanes: [GatewayAssembly.Lane], dispatcher: Dispatcher, room: BufferRoom, log: Logger
    ) async throws(NodeError) {
        let digests = MailboxDigests(key: try state.digestKey())
        do throws(OutboxError) {
            let store = try await StoredMailboxes(in: outbox)
            let door = MailboxDoor(
                settings: settings.doors.mailbox.settings, store: store, digests: digests,
                replies: ReplyBoard(store: store, digests: digests), room: room)
            // Whoever pushes to a topic may come to another node right after it was made.
            let interval = dispatcher.sharing == nil ? StoreWatch<[Mailbox]>.interval : MailboxNews.interval
            watch = try await StoreWatch(initial: [], every: interval) { (known) throws(OutboxError) in
                try await store.all(unless: known).map { ($0.version, $0.mailboxes) }
            } onFault: {
                log.error("mailbox.read_failed", metadata: ["reason": "\($0)"])
            } onChange: {
                log.notice("mailbox.changed", metadata: ["mailboxes": "\($0.count)"])
                door.use($0)
            }
            door.use(watch.value)
            door.onMade = { [watch] in watch.note($0) }
            self.door = door
            news = MailboxNews(of: store, for: door, from: dispatcher)
        } catch {
            throw .unavailable("the mailboxes can't be read: \(error)")
        }
        for lane in lanes {
            guard let gateway = lane.gateway as? MailboxGateway else { continue }
            door.onEnds = { [unowned dispatcher] in dispatcher.keptEnded($0, in: lane.id) }
            gateway.use { [door] notification throws(OutboxError) in
                try await door.keep(notification)
            }
        }
    }

    /// Takes over now what was changed beside it.
    func lookNow() async { await watch.lookNow() }

    /// Ends what readers have open.
    func close() async {
        watch.stop()
        news.stop()
        await door.close()
    }
}
