import Clocks
import Relay
import TestedStores

@testable import MailboxEndpoint
@testable import Persistence

/// Three mailboxes, two people who read them, two nodes on one store, and what of it is so.
final class MailboxWorld {
    enum Habits: CaseIterable {
        /// Readers ask for what came behind their last one, as apps do; nodes stop in order.
        case orderly
        /// Readers ask in all forms; nodes are killed.
        case wild
    }

    struct Message {
        let id: String
        let mailbox: Int64
        let number: Int64
        let name: String?
        let expires: Int64
        let sequence: Int64?
    }

    final class Person {
        /// The reader's number by mailbox.
        let readers: [Int64: Int64]
        /// In the order in which they came.
        var received: [Message] = []
        /// What it was sent, whether it came or not.
        var sent: Set<Int64> = []

        init(_ readers: [Int64: Int64]) { self.readers = readers }

        func has(_ number: Int64) -> Bool { received.contains { $0.number == number } }
    }

    final class Line {
        let person: Person
        let node: Int
        let mailboxes: [Int64]
        let isSocket: Bool
        let isPoll: Bool
        var stream: MailboxStream
        /// The number that the client has named as its last one; `nil`: it has asked otherwise.
        let named: Int64?
        /// Sent, and not yet at the client.
        var onItsWay: [Message] = []

        init(
            _ person: Person, _ node: Int, _ mailboxes: [Int64], isSocket: Bool, isPoll: Bool,
            stream: MailboxStream, named: Int64?
        ) {
            (self.person, self.node, self.mailboxes, self.stream) = (person, node, mailboxes, stream)
            (self.isSocket, self.isPoll, self.named) = (isSocket, isPoll, named)
        }
    }

    let outbox: OutboxStore
    let store: StoredMailboxes
    let habits: Habits
    let canary: MailboxCanary?
    private(set) var random: Random
    var violations: [String] = []
    /// What happened, for whoever looks for the reason.
    private(set) var history: [String] = []
    let mailboxes: [Int64]
    let people: [Person]
    private var books = [MailboxBooks(), MailboxBooks()]
    var lines: [Line] = []
    var known: [Int64: Message] = [:]
    var ended: [Int64: Ending] = [:]
    var sequences: [Int64: Message] = [:]
    /// What is known of a message before it lies there, by its id.
    var made: [String: (name: String?, sequence: Int64?)] = [:]
    var isLying: Set<Int64> = []
    /// What lay there at the last look.
    var current: Set<Int64> = []
    var now: Int64 = 1000
    private var sent = 0
    private var bounds = MailboxBounds()
    private static let cron = Digest(high: 50, low: 1)

    init(
        seed: UInt64, _ habits: Habits, in directory: Directory, with canary: MailboxCanary?
    ) async throws {
        (self.habits, self.canary) = (habits, canary)
        random = Random(state: seed)
        (bounds.messages, bounds.publishedMessages, bounds.delayedMessages) = (8, 4, 3)
        (bounds.bytes, bounds.publishedBytes) = (1000, 1000)
        if habits == .orderly { (bounds.messages, bounds.publishedMessages) = (100, 100) }
        outbox = try await directory.open()
        store = try await StoredMailboxes(in: outbox)
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            for number: UInt64 in 1...3 {
                let names = number == 3 ? ["phone"] : ["phone", "desk"]
                let made = try file.add(
                    Mailbox(
                        name: "m\(number)", show: number == 2 ? .sealed : .bell, isOpen: false,
                        topic: Digest(high: 2, low: number),
                        readers: names.map {
                            Mailbox.Reader(name: $0, token: Digest(high: 3, low: UInt64($0.utf8.count)))
                        }),
                    address: Digest(high: 1, low: number), addedAt: 1)
                precondition(made)
            }
            _ = try file.add(
                Mailbox.Publisher(name: "cron", token: MailboxWorld.cron), to: "m1", addedAt: 1)
        }
        let all = try await store.all(unless: nil)?.mailboxes ?? []
        mailboxes = all.map(\.number)
        people = ["phone", "desk"].map { name in
            Person(
                Dictionary(
                    uniqueKeysWithValues: all.compactMap { mailbox in
                        mailbox.readers.first { $0.name == name }.map { (mailbox.number, $0.number) }
                    }))
        }
    }

    // MARK: Steps

    func step() async throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<6: try await put()
        case 6..<9: try await open()
        case 9..<14: if let line = lines.randomElement(using: &random) { try await send(to: line) }
        case 14..<16: if let line = lines.randomElement(using: &random) { try await receive(at: line) }
        case 16: if let line = lines.randomElement(using: &random) { try await cut(line) }
        case 17, 18: try await restart(.random(in: 0...1, using: &random))
        case _:
            if habits == .wild { now += Int64.random(in: 0..<400, using: &random) }
            try await end(try await store.forget(expiredBefore: now), mayGo: { $0.expires < self.now })
        }
        try await writeBooks()
    }

    private func put() async throws {
        sent += 1
        let mailbox = mailboxes.randomElement(using: &random)!
        let isPublished = mailbox == mailboxes[0] && Bool.random(using: &random)
        let name =
            isPublished && Bool.random(using: &random) ? "job\(Int.random(in: 0...1, using: &random))" : nil
        let life =
            habits == .wild && random.isOne(of: 4) ? Int64.random(in: 1...500, using: &random) : 1 << 40
        let isLater = isPublished && habits == .wild && random.isOne(of: 4)
        let identity = isPublished ? nil : Digest(high: UInt64(sent), low: 1)
        var sequence: Int64?
        let size = habits == .wild && random.isOne(of: 8) ? 1001 : 10
        let message = MailboxMessage(
            id: MailboxMessage.id(of: NotificationID(high: UInt64(sent), low: 0)),
            acceptedAt: UnixTime(milliseconds: now), expiresAt: UnixTime(milliseconds: now + life),
            isUrgent: true, text: String(repeating: "x", count: size), replaces: name,
            isPublished: isPublished,
            delayedBy: isLater ? MailboxWorld.cron : nil)
        if let identity {
            let request = StoreRequest(
                notification: Relay.Notification(
                    id: NotificationID(high: UInt64(sent), low: 1),
                    lane: LaneID(app: "mailboxes", host: .production), deviceToken: DeviceToken("mb1:x"),
                    message: "x", isUrgent: true, hasSound: false, isMutableContent: false,
                    isContentAvailable: true, expiresAt: UnixTime(milliseconds: now + life),
                    acceptedAt: UnixTime(milliseconds: now)),
                digests: SubmissionDigests(
                    token: Digest(high: 5, low: 5), identity: identity,
                    content: Digest(high: 6, low: UInt64(sent))))
            if case .stored(let number) = try await outbox.commit([.store(request)])[0] { sequence = number }
        }
        let put = try await store.put(
            message, to: Digest(high: 1, low: UInt64(mailbox)), keeping: identity, within: bounds)
        let isStored = put.result == .stored(mailbox) && !isLater
        made[message.id] = (name, sequence)
        try await look()
        let isFull = isLying.count { known[$0]?.mailbox == mailbox } >= (isPublished ? 4 : 8)
        try await end(put.ends) { gone in
            isStored && gone.mailbox == mailbox
                && (gone.name != nil && gone.name == name || isFull)
        }
        if habits == .wild {
            let before = isLying
            let delivery = try await store.deliver(dueAt: now, within: bounds)
            if !delivery.mailboxes.isEmpty { try await look() }
            let isFuller = isLying.subtracting(before).count > 0
            try await end([]) { $0.mailbox == self.mailboxes[0] && isFuller }
        }
    }

    /// A person connects, in one of the forms.
    private func open() async throws {
        let person = people.randomElement(using: &random)!
        let node = Int.random(in: 0...1, using: &random)
        // An app has one connection for a server. Its old one is dead, whether its node knows it or not.
        for line in lines where line.person === person && habits == .orderly { try await cut(line) }
        if habits == .wild, let old = lines.first(where: { $0.person === person }),
            Bool.random(using: &random)
        {
            try await cut(old)
        }
        var wanted = person.readers.keys.sorted()
        if habits == .wild { wanted = wanted.filter { _ in Bool.random(using: &random) } }
        guard !wanted.isEmpty else { return }
        let (since, named) = since(of: person)
        try await open(
            since, named, for: person, wanted, at: node, isPoll: Bool.random(using: &random),
            isFiltered: habits == .wild && random.isOne(of: 6))
    }

    private func since(of person: Person) -> (MailboxSince, Int64?) {
        let last = person.received.max { $0.number < $1.number }
        let usual: (MailboxSince, Int64?) = last.map { (.message($0.id), $0.number) } ?? (.all, nil)
        guard habits == .wild else { return usual }
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return (.none, nil)
        case 1: return (.latest, nil)
        case 2: return (.time(now - 100), nil)
        case 3: return (.all, nil)
        case 4: return (.message("neverwasthis"), nil)
        case 5, 6:
            // An older one that it has, or one that it has from nowhere.
            let one = known.values.sorted { $0.number < $1.number }
                .filter { person.has($0.number) || !person.sent.contains($0.number) }
                .randomElement(using: &random)
            return (one.map { .message($0.id) } ?? .all, nil)
        case _: return usual
        }
    }

    @discardableResult
    func open(
        _ since: MailboxSince, _ named: Int64?, for person: Person, _ wanted: [Int64], at node: Int,
        isPoll: Bool, isFiltered: Bool = false
    ) async throws -> Line {
        let clients = wanted.map { mailbox in
            let reader = person.readers[mailbox]!
            return MailboxClient(
                mailbox, reader: reader,
                sent: canary == .forgetsThePlaceOfWhatIsGone
                    ? nil : books[node].sent(to: reader, filtered: isFiltered))
        }
        var begun = try await store.begin(since, of: clients, filtered: isFiltered, at: now)
        if canary == .takesEachIDForAReceipt, case .message = since {
            let receipts = begun.starts.compactMap { start in
                person.readers[start.place.mailbox].map {
                    MailboxReceipt(reader: $0, after: 0, upTo: start.place.number)
                }
            }
            begun.ends += try await store.acknowledge(receipts, at: now)
        }
        if !isFiltered { for receipt in begun.starts.compactMap(\.receipt) { books[node].note(receipt) } }
        let isNamed = named.map { number in
            // Nobody but its reader knows where it was.
            isLying.contains(number) && wanted.contains(known[number]!.mailbox)
                || begun.starts.contains { $0.receipt != nil }
        }
        let stream = books[node].open(
            from: begun.starts, for: wanted.map { person.readers[$0] }, isFiltered: isFiltered)
        let line = Line(
            person, node, wanted, isSocket: !isPoll && Bool.random(using: &random), isPoll: isPoll,
            stream: stream, named: habits == .orderly || isNamed == true ? named : nil)
        lines.append(line)
        note("opens \(since) \(wanted)\(isFiltered ? " filtered" : "")\(isPoll ? " poll" : "")", line)
        for start in begun.starts {
            note("  from \(start.place.number), \(start.after), \(String(describing: start.receipt))", line)
        }
        try await end(begun.ends)
        return line
    }

    /// The node sends what it has.
    func send(to line: Line) async throws {
        let limit = Int.random(in: 1...5, using: &random)
        var page: [(mailbox: Int64, message: MailboxMessage)] = []
        if canary == .readsMailboxesOneAfterTheOther {
            for place in line.stream.places {
                page += try await store.messages(behind: [place], at: now, limit: 99)
                if random.isOne(of: 3) { try await put() }
            }
            page.sort { $0.message.number < $1.message.number }
        } else {
            page = try await store.messages(behind: line.stream.places, at: now, limit: limit)
        }
        books[line.node].join(&line.stream)
        for (mailbox, message) in page {
            line.stream.pass(message.number)
            guard !line.stream.isFiltered || message.number.isMultiple(of: 2) else { continue }
            if let named = line.named, message.number <= named {
                violations.append("\(message.number) comes again behind \(named)")
            }
            line.stream.note(message.number, message.id, from: line.mailboxes.firstIndex(of: mailbox)!)
            line.onItsWay.append(known[message.number]!)
            line.person.sent.insert(message.number)
        }
        books[line.node].note(line.stream)
        note("is sent \(page.map(\.message.number))", line)
        guard line.isPoll, page.count < limit else { return }
        // It is whole, and its client has all of it.
        try await writeBooks()
        try await receive(at: line, all: true)
        books[line.node].end(line.stream)
        lines.removeAll { $0 === line }
    }

    private func receive(at line: Line, all: Bool = false) async throws {
        let count = all ? line.onItsWay.count : Int.random(in: 0...line.onItsWay.count, using: &random)
        let came = line.onItsWay.prefix(count)
        line.onItsWay.removeFirst(count)
        line.person.received += came
        if !came.isEmpty { note("has \(came.map(\.number))", line) }
        guard let last = came.last, line.isSocket, Bool.random(using: &random) else { return }
        var receipts = line.stream.receipts(upTo: last.number)
        if canary == .acknowledgesAllMailboxes {
            receipts = line.mailboxes.map {
                MailboxReceipt(reader: line.person.readers[$0]!, after: 0, upTo: last.number)
            }
        }
        note("pongs \(receipts)", line)
        let ends = try await store.acknowledge(receipts, at: now)
        line.stream.acknowledge(upTo: last.number)
        for receipt in receipts { books[line.node].note(receipt) }
        try await end(ends)
    }

    /// A connection breaks, and what was on its way is lost. Its node may hear of it much later.
    func cut(_ line: Line) async throws {
        lines.removeAll { $0 === line }
        note("is cut", line)
        if canary == .takesTwoConnectionsForOne { books[line.node].end(line.stream) }
        guard habits == .wild, !line.isPoll, Bool.random(using: &random) else { return }
        // What comes now is sent to it as well.
        line.onItsWay = []
        try await send(to: line)
    }

    private func note(_ words: String, _ line: Line) {
        history.append("\(line.person === people[0] ? "phone" : "desk") at \(line.node) \(words)")
    }

    private func restart(_ node: Int) async throws {
        for line in lines where line.node == node { try await cut(line) }
        books[node] = MailboxBooks()
    }

    private func writeBooks() async throws {
        guard canary != .losesItsBooks, canary != .forgetsThePlaceOfWhatIsGone else { return }
        for node in books.indices { try await store.note(books[node].takeUnwritten()) }
    }
}
