import Calls
import Dispatching
import Doors
import Encodings
import Gateways
import Node
import Overview
import Persistence
import Reactor
import Relay

/// The mailboxes' endpoint, as the settings want it: `doors.mailbox`. Notifications that come by the gateway of mailboxes lie at
/// this node until they are fetched there.
package struct MailboxFeature: FeatureWithCalls {
    package static let name = "mailbox"
    package static let tables: [any DoorTables.Type] = [MailboxTables.self]
    package static let gateways: [any ConfiguredApp.Type] = [MailboxApp.self]
    package nonisolated static let calls = NodeCalls.mailboxCalls

    /// The places at which phones fetch; empty: nowhere.
    package var listen: [DoorPlace] = []
    /// The address that phones get instead of the first of these places: `https://HOST[:PORT]`; empty: none.
    package var url = ""
    package var settings = MailboxDoorSettings()

    package var connections: Int { listen.isEmpty ? 0 : settings.readers + settings.strangers }

    package init(_ section: SettingsReader.Section, of settings: Settings) {
        listen = settings.places(section)
        section.text("url", &url)
        if !url.isEmpty, !Settings.isOrigin(url) {
            section.fault(
                "url", "must be http:// or https://, a host and perhaps a port, and nothing behind it")
        }
        section.integer("readers", &self.settings.readers, in: 1...1_000_000)
        section.integer("rate", &self.settings.rate, in: 1...1_000_000)
        section.integer("messages", &self.settings.bounds.messages, in: 1...100_000)
        if !listen.isEmpty, !settings.apps.contains(where: { $0.service.name == MailboxApp.gateway }) {
            section.fault("listen", "nothing comes to it without an app with gateway: \(MailboxApp.gateway)")
        }
    }

    package mutating func lowerConnections(_ lowered: (Int) -> Int) -> (key: String, number: Int)? {
        settings.readers = lowered(settings.readers)
        return listen.isEmpty ? nil : ("doors.mailbox.readers", settings.readers)
    }

    /// Opens the mailboxes to their gateway: they are there before the door has a place.
    package func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        guard site.settings.apps.contains(where: { $0.service.name == MailboxApp.gateway }) else {
            return nil
        }
        let (dispatcher, log) = (site.dispatcher, site.log)
        let digests = MailboxDigests(key: try state.digestKey())
        let (door, watch, news): (MailboxDoor, StoreWatch<[Mailbox]>, MailboxNews)
        do throws(OutboxError) {
            let store = try await StoredMailboxes(in: site.outbox, dates: { dispatcher.dates })
            let made = MailboxDoor(
                settings: settings, store: store, digests: digests,
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
        if !listen.isEmpty {
            opened.placed = DoorListeners.PlacedDoor(door, places: listen, body: MailboxDoor.mostBody)
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
        opened.desk = MailboxDesk(door, dispatcher, lane: lane)
        opened.lookNow = { await watch.lookNow() }
        opened.close = {
            watch.stop()
            news.stop()
            await door.close()
        }
        return opened
    }
}
