import Dispatching
import Doors
import Gateways
import Overview
import Persistence
import Reactor
import Relay

/// Notifications that come by the gateway of mailboxes lie at this node until they are fetched at their door.
extension MailboxDoor: ConfiguredDoor {
    nonisolated static var listenKey: String { "doors.mailbox.listen" }

    nonisolated static func places(in settings: Node.Settings) -> [DoorPlace] {
        settings.doors.mailbox.listen
    }

    /// Opens the mailboxes to their gateway: they are there before the door has a place.
    static func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        guard site.settings.apps.contains(where: { $0.service.name == MailboxApp.gateway }) else {
            return nil
        }
        let (settings, dispatcher, log) = (site.settings.doors.mailbox, site.dispatcher, site.log)
        let digests = MailboxDigests(key: try state.digestKey())
        let (door, watch, news): (MailboxDoor, StoreWatch<[Mailbox]>, MailboxNews)
        do throws(OutboxError) {
            let store = try await StoredMailboxes(in: site.outbox, dates: { dispatcher.dates })
            let made = MailboxDoor(
                settings: settings.settings, store: store, digests: digests,
                replies: ReplyBoard(store: store, digests: digests), room: site.room)
            // Whoever pushes to a topic may come to another node right after it was made.
            let interval = dispatcher.sharing == nil ? StoreWatch<[Mailbox]>.interval : MailboxNews.interval
            watch = try await StoreWatch(initial: [], every: interval) { (known) throws(OutboxError) in
                try await store.all(unless: known).map { ($0.version, $0.mailboxes) }
            } onFault: {
                log.error("mailbox.read_failed", metadata: ["reason": "\($0)"])
            } onChange: {
                log.notice("mailbox.changed", metadata: ["mailboxes": "\($0.count)"])
                made.use($0)
            }
            news = MailboxNews(of: store, for: made, from: dispatcher)
            door = made
        } catch {
            throw .unavailable("the mailboxes can't be read: \(error)")
        }
        door.use(watch.value)
        door.onMade = { watch.note($0) }
        door.isStoring = { [unowned dispatcher] in dispatcher.outboxFault == nil }
        for lane in site.lanes {
            guard let gateway = lane.gateway as? MailboxGateway else { continue }
            door.onEnds = { [unowned dispatcher] in dispatcher.keptEnded($0, in: lane.id) }
            gateway.use { [weak dispatcher] notification throws(OutboxError) in
                let result = try await door.keep(notification)
                if case .stored(let number) = result, let name = door.directory.name(of: number) {
                    dispatcher?.know(name, of: notification)
                }
                return result
            }
        }
        var opened = OpenedDoor()
        if !settings.listen.isEmpty {
            opened.placed = DoorListeners.PlacedDoor(
                door, places: settings.listen, body: MailboxDoor.mostBody)
        }
        opened.replies = door.replies
        opened.addFigures = { report in
            let figures = door.figures
            report.mailboxes = figures
            report.places.append(
                .init(
                    "doors.mailbox.readers", open: figures.readers, limit: figures.readersLimit, heldByFew: 0)
            )
        }
        let lane = site.lanes.first { $0.gateway is MailboxGateway }?.id
        opened.ring = { [weak dispatcher] name throws(OutboxError) in
            let result = try await door.ring(name, showing: TestSeal.ofNobody)
            if case .stored? = result, let lane { dispatcher?.noteTest(ofMailbox: name, in: lane) }
            return result
        }
        opened.lookNow = { await watch.lookNow() }
        opened.close = {
            watch.stop()
            news.stop()
            await door.close()
        }
        return opened
    }
}
