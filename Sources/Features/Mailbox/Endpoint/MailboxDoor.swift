import Clocks
import Doors
import Encodings
import HTTP1
import Overview
import Persistence
import Reactor
import Relay

/// The limits and times of the endpoint for readers and publishers of mailboxes.
package struct MailboxDoorSettings: Equatable, Sendable {
    /// Open answers of all registered readers together.
    package var readers = 1000
    /// Requests a second, on average, of each kind of those who ask (``MailboxShares``); as many may come at once.
    package var rate = 500
    package var bounds = MailboxBounds()
    package var keepAlive: Duration = .seconds(45)
    /// The longest silence of a WebSocket's client; after that, the client counts as gone.
    package var silence: Duration = .seconds(480)

    /// Open answers of clients without a token, beside those of registered readers.
    package var strangers: Int { max(MailboxDoor.mostReadings, readers / 8) }

    package init() {}
}

/// The mailboxes, in the interface of ntfy: phones and programs fetch here what came for them.
///
/// A registered reader acknowledges what it was sent: by `since=` the id of the last of it, or by the pong to the ping
/// behind a message (``MailboxBooks``). Bytes that TCP has taken are not.
@EventLoop
package final class MailboxDoor: LiveDoor {
    /// Open answers of one reader, and of all without a token at one mailbox.
    package nonisolated static let mostReadings = 10
    /// Bytes of a request's body, as ntfy takes them of JSON: a webhook is long before it is a text.
    package nonisolated static let mostBody = 131_072

    /// Called with notifications that have come to their ends: their first reader has acknowledged them, or they are gone.
    package var onEnds: (@EventLoop ([KeptEnd]) -> Void)?

    /// Called with all mailboxes when a reader has made a topic.
    package var onMade: (@EventLoop ([Mailbox]) -> Void)?

    /// Whether the store takes what it is given, as far as is known: ntfy's clients ask.
    package var isStoring: @EventLoop () -> Bool = { true }

    private let settings: MailboxDoorSettings
    let store: StoredMailboxes
    let digests: MailboxDigests
    /// The way back.
    package let replies: ReplyBoard
    /// The places of registered readers; ``strangers`` are for those without a token. Neither takes the others'.
    private let places: Places
    private let strangers: Places
    private var shares: MailboxShares
    private var counted = Report.Mailboxes()
    private var isClosed = false
    package private(set) var directory = MailboxDirectory()
    /// The uses of the rate, by the numbers of topics of UnifiedPush, and of mailboxes that are published to.
    private var pushes = Rates<Int64>(Rate(perSecond: 1, burst: 60), most: .max)
    var readings = MailboxReadings()
    var books = MailboxBooks()
    private(set) var delays: MailboxDelays!
    private var unknownTopics = UnknownTopics()
    /// The readings that get a keepalive, in the order of their times.
    private var keepAlives: ArraySlice<(due: MonotonicTime, reading: MailboxReading)> = []
    private let keepAliveTimer = Timer()
    private let cleaning = Timer()

    private static let cleaningInterval: Duration = .seconds(60)

    package init(
        settings: MailboxDoorSettings, store: StoredMailboxes, digests: MailboxDigests, replies: ReplyBoard,
        room: BufferRoom = BufferRoom()
    ) {
        (self.settings, self.store, self.digests, self.replies) = (settings, store, digests, replies)
        places = Places(settings.readers, room: room)
        strangers = Places(settings.strangers, room: room)
        shares = MailboxShares(rate: settings.rate)
        keepAliveTimer.action = { [unowned self] in keepAlive() }
        cleaning.action = { [unowned self] in clean() }
        delays = MailboxDelays(store: store, bounds: settings.bounds) { [unowned self] mailboxes in
            for mailbox in mailboxes { for reading in readings.of(mailbox) { reading.look() } }
        }
        cleaning.start(after: .zero)
    }

    package var openReadings: Int { readings.count }
    package var figures: Report.Mailboxes {
        var figures = counted
        figures.readersLimit = settings.readers
        (figures.mailboxes, figures.pushTopics) = directory.counts
        (figures.readers, figures.strangers) = (places.count, strangers.count)
        return figures
    }

    /// Takes over the mailboxes after the operator has made one, or removed one.
    package func use(_ mailboxes: [Mailbox]) {
        let known = directory.numbers
        directory = MailboxDirectory(mailboxes)
        // Senders who listen for what lay in one that is gone hear of its end.
        if !known.isSubset(of: directory.numbers) { clean() }
        pushes.keep { directory.has($0) }
        unknownTopics.clean(at: EventLoop.now) { directory.pushTopic($0) != nil }
        books.forget(butTo: Set(mailboxes.flatMap { $0.readers.map(\.number) }))
        for reading in readings.all
        where reading.mailboxes.contains(where: { !directory.has($0) }) { reading.end() }
    }

    /// Ends all readings.
    package func close() async {
        isClosed = true
        cleaning.stop()
        delays.stop()
        keepAliveTimer.stop()
        replies.close()
        for reading in readings.all { reading.end() }
        keepAlives = []
        await places.shutDown()
        await strangers.shutDown()
    }

    // MARK: In

    /// Puts a notification into its mailbox, once however often, and tells the readers.
    package func keep(_ notification: Notification) async throws(OutboxError) -> MailboxPutResult {
        // The service takes no other.
        guard case .bisq(let content) = notification.content else { return .noSuchMailbox }
        let message = MailboxMessage(
            id: MailboxMessage.id(of: notification.id), acceptedAt: notification.acceptedAt,
            expiresAt: notification.expiresAt, isUrgent: content.isUrgent, text: content.message)
        return try await put(
            message, atAddress: digests.address(notification.deviceToken.text),
            keeping: notification.id.identity)
    }

    func put(
        _ message: MailboxMessage, atAddress address: Relay.Digest, keeping identity: Relay.Digest?
    ) async throws(OutboxError) -> MailboxPutResult {
        let put = try await store.put(message, to: address, keeping: identity, within: settings.bounds)
        if case .stored(let mailbox) = put.result {
            for reading in readings.of(mailbox) { reading.look() }
        }
        tell(put.ends)
        return put.result
    }

    /// Makes readings look that have not seen these messages, which another node may have put there.
    package func heard(_ news: [MailboxPlace]) {
        for place in news {
            for reading in readings.of(place.mailbox) where reading.isBehind(place) { reading.look() }
        }
    }

    func tell(_ ends: [KeptEnd]) { if !ends.isEmpty { onEnds?(ends) } }

    private func clean() {
        // Another node that took something for later may be gone.
        delays.look()
        shares.clean(at: EventLoop.now)
        unknownTopics.clean(at: EventLoop.now) { directory.pushTopic($0) != nil }
        Task {
            let read = Set(readings.all.flatMap(\.pushTopics))
            if !read.isEmpty { try? await store.touch(read, at: EventLoop.unixMilliseconds) }
            // What could not be deleted now is deleted later, and shown to nobody.
            tell((try? await store.forget(expiredBefore: EventLoop.unixMilliseconds)) ?? [])
            if let held = try? await store.held() { (counted.messages, counted.bytes) = held }
            guard !isClosed else { return }
            cleaning.start(after: MailboxDoor.cleaningInterval)
        }
    }

    // MARK: Out

    package func opening(of request: HTTPRequest) -> HTTPServer.Opening? {
        if let push = MailboxPush(request) {
            return { [self] live in answer(push, request, over: live) }
        }
        if let opening = accountOpening(of: request) { return opening }
        if let target = PublishTarget(request) {
            return { [self] live in answer(target, request, over: live) }
        }
        if let channel = ReplyForm.channel(inPath: request.path) {
            return { [self] live in answer(request, at: channel, over: live) }
        }
        guard let (topics, kind) = MailboxRequest.path(request.path) else { return nil }
        return { [self] live in
            do throws(MailboxFault) {
                try open(request, topics, kind, over: live)
            } catch {
                refuse(error, over: live)
            }
        }
    }

    func refuse(_ fault: MailboxFault, over live: LiveAnswer) {
        if fault.isStrike { live.strike() }
        counted.refused += 1
        live.answer(fault.response)
    }

    /// Counts a request for its owner's share. A client that shows something known here takes from a share that strangers
    /// don't reach: so the owner is looked up before.
    func count(_ owner: MailboxShares.Owner) throws(MailboxFault) {
        guard shares.take(by: owner, at: EventLoop.now) else { throw .tooManyRequests }
    }

    func hasPushTopic(_ topic: String) -> Bool { directory.pushTopic(digests.topic(topic)) != nil }

    func countPush(to topic: String) throws(MailboxFault) {
        guard let number = directory.pushTopic(digests.topic(topic)) else { throw .noSubscriber }
        try countPublished(in: number)
    }

    /// Counts a text for the rate of its mailbox, whichever way it comes.
    func countPublished(in mailbox: Int64) throws(MailboxFault) {
        guard pushes.take(by: mailbox, at: EventLoop.now) == .zero else { throw .tooManyRequests }
    }

    /// Notes a push of a Matrix server to a topic without a subscriber.
    ///
    /// - Returns: Whether the server need not push to it any more.
    func noteMissing(_ topic: String, for request: HTTPRequest) -> Bool {
        unknownTopics.noteMissing(
            digests.topic(topic), by: request.sender, at: EventLoop.now)
    }

    private func open(
        _ request: HTTPRequest, _ topics: [String], _ kind: MailboxRequest.Kind, over live: LiveAnswer
    ) throws(MailboxFault) {
        guard request.method != "OPTIONS" else { return live.answer(MailboxDoor.crossOrigin) }
        guard request.method == "GET" else {
            return live.answer(.methodNotAllowed("GET, OPTIONS").inFormOfNtfy)
        }
        let wanted = try MailboxRequest(request, topics: topics, kind: kind, at: EventLoop.unixMilliseconds)
        let claim = wanted.credentials.map {
            MailboxDirectory.Claim(token: digests.token($0.token), user: $0.user)
        }
        try count(directory.owner(of: claim, at: topics.prefix(1).map { digests.topic($0) }))
        try open(wanted, for: claim, request, over: live)
    }

    private func open(
        _ wanted: MailboxRequest, for claim: MailboxDirectory.Claim?, _ request: HTTPRequest,
        over live: LiveAnswer
    ) throws(MailboxFault) {
        let (topics, kind) = (wanted.topics, wanted.kind)
        let known = topics.filter { !MailboxPush.isTopic($0) || hasPushTopic($0) }
        if known.count < topics.count {
            // A topic of UnifiedPush comes to be when its reader subscribes.
            guard claim != nil else { throw .forbidden }
            _ = try directory.access(to: known.map { digests.topic($0) }, for: claim)
            if kind != .auth { return make(wanted, for: claim, request, over: live) }
        }
        let granted = try directory.access(to: known.map { digests.topic($0) }, for: claim)
        guard kind != .auth else { return live.answer(.mailbox(Array("{\"success\":true}\n".utf8))) }
        guard let head = MailboxDoor.head(of: wanted, answering: request) else { throw .noWebSocket }
        let owner: MailboxReading.Owner =
            if let claim, granted.contains(where: { $0.reader != nil }) {
                .reader(claim.token)
            } else {
                .stranger(mailbox: granted[0].mailbox.number)
            }
        Task { await begin(wanted, of: granted, for: owner, head, over: live) }
    }

    /// Makes topics, then reads them.
    private func make(
        _ wanted: MailboxRequest, for claim: MailboxDirectory.Claim?, _ request: HTTPRequest,
        over live: LiveAnswer
    ) {
        Task {
            guard await makePushTopics(wanted.topics, for: claim) else {
                return refuse(.storeFailed, over: live)
            }
            do throws(MailboxFault) {
                try open(wanted, for: claim, request, over: live)
            } catch {
                refuse(error, over: live)
            }
        }
    }

    private func makeRoom(for owner: MailboxReading.Owner, by sender: Int) throws(MailboxFault) {
        readings.oneTooMany(of: owner, by: sender)?.end()
        // Of strangers the one with most makes room.
        guard !owner.isRegistered || places.count < settings.readers else { throw .tooManyReaders }
    }

    private func begin(
        _ request: MailboxRequest, of granted: [MailboxDirectory.Granted], for owner: MailboxReading.Owner,
        _ head: [UInt8], over live: LiveAnswer
    ) async {
        let starts: [MailboxStart]
        do throws(OutboxError) {
            starts = try await begin(request.since, of: granted, filtered: request.filter != nil)
        } catch {
            return live.answer(MailboxFault.storeFailed.response)
        }
        do throws(MailboxFault) {
            // The operator may have removed one while the store was asked.
            guard granted.allSatisfy({ directory.has($0.mailbox.number) }) else { throw .forbidden }
            try makeRoom(for: owner, by: request.sender)
        } catch {
            return live.answer(error.response)
        }
        let reading = MailboxReading(request, of: granted, for: owner, from: starts, over: live, at: self)
        live.client = reading
        readings.add(reading)
        if reading.wantsKeepAlive { scheduleKeepAlive(of: reading) }
        let isWebSocket = request.kind == .ws
        guard
            live.begin(
                isWebSocket ? 101 : 200, at: owner.isRegistered ? places : strangers,
                silence: isWebSocket ? settings.silence : nil, head: head
            )
        else { return }
        if !request.isPoll { reading.say(.open, id: MailboxDoor.newID(), at: EventLoop.unixMilliseconds) }
        reading.look()
    }

    // MARK: Keep-alive

    private func scheduleKeepAlive(of reading: MailboxReading) {
        let due = EventLoop.now + settings.keepAlive
        // Those that have ended are never more than those that are there, and a few.
        if keepAlives.count > 2 * readings.count + 64 { keepAlives.removeAll(where: \.reading.hasEnded) }
        keepAlives.append((due, reading))
        if !keepAliveTimer.isRunning { keepAliveTimer.start(after: settings.keepAlive) }
    }

    private func keepAlive() {
        let now = EventLoop.now
        let time = EventLoop.unixMilliseconds
        while let (due, reading) = keepAlives.first, due <= now || reading.hasEnded {
            keepAlives.removeFirst()
            guard !reading.hasEnded else { continue }
            reading.say(.keepalive, id: MailboxDoor.newID(), at: time)
            scheduleKeepAlive(of: reading)
        }
        guard let next = keepAlives.first else { return }
        keepAliveTimer.start(after: max(.zero, next.due - now))
    }
}
