import Clocks
import Relay
import TestedStores
import Testing
import Vectors

@testable import Persistence

/// Random histories of changes, by clocks that are set both ways, of a store and of its model: each answer is the same. What
/// the simulation finds in the model is so in the store.
@Suite(.serialized) struct ModelComparisonTests {
    static let seeds: [UInt64] = Array(1...(isLong ? 40 : 4))

    @Test(arguments: TestedEngine.allCases, seeds)
    func aStoreIsAsItsModel(on engine: TestedEngine, seed: UInt64) throws {
        let directory = try Directory()
        try directory.use(engine)
        let history = try History(directory.place, seed: seed, numbersAhead: engine == .database)
        for _ in 0..<600 {
            try history.step()
            if let difference = history.difference {
                Issue.record("\(engine.testDescription), seed \(seed), step \(history.steps): \(difference)")
                return
            }
        }
        #expect(history.forgotten > 20)
        #expect(history.ended > 50)
    }
}

/// One history.
private final class History {
    private var store: StoreStatements?
    private let place: StorePlace
    private var model = ModelOutbox()
    private var random: SeededRandom
    /// A database gives a commit its numbers when it begins.
    private let numbersAhead: Bool
    private(set) var difference: String?
    private(set) var steps = 0
    private(set) var forgotten = 0
    private(set) var ended = 0

    private var now = UnixTime(milliseconds: 1_000_000_000)
    /// The last time at which the clock was set, by a clock that nobody sets.
    private var lived: Int64 = 0
    private var setAt: Int64 = 0
    private var submitted: [StoreRequest] = []
    private var uids: UInt64 = 0
    /// In memory, or handed out.
    private var sent: Set<Int64> = []
    private var kept: Set<Int64> = []
    private var dead: Set<Digest> = []

    private static let memory: Int64 = 100_000
    private static let lane = LaneID(app: "app", host: .production)

    init(_ place: StorePlace, seed: UInt64, numbersAhead: Bool) throws {
        self.place = place
        self.numbersAhead = numbersAhead
        random = SeededRandom(state: seed)
        store = try StoreStatements(place)
    }

    private func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private func same<Value: Equatable>(_ what: String, _ stored: Value, _ modelled: Value) {
        guard stored != modelled, difference == nil else { return }
        difference = "the store's \(what): \(stored), and the model's: \(modelled)"
    }

    private var open: StoreStatements {
        guard let store else { preconditionFailure("the store is closed") }
        return store
    }

    func step() throws {
        steps += 1
        switch draw(100) {
        case 0..<55: try commit((0...draw(4)).map { _ in change() }.compactMap(\.self))
        case 55..<65: try claim()
        case 65..<72: try forget()
        case 72..<90: pass(Int64(draw(8000)))
        case 90..<93: setClock()
        case 93..<96: try keep()
        case 96..<99: try endKept()
        default: try restart()
        }
        guard let request = submitted.randomElement(using: &random) else { return }
        let identity = request.digests.identity
        same("state", try open.state(of: identity), model.state(of: identity))
    }

    // MARK: The clock

    private func pass(_ milliseconds: Int64) {
        now = now + .milliseconds(milliseconds)
        lived += milliseconds
    }

    private func setClock() {
        let jump = Int64(draw(2) == 0 ? draw(50_000) : draw(5_000_000))
        now = now + .milliseconds(draw(2) == 0 ? jump : -jump)
        setAt = lived
    }

    /// As the core does it: with no clock to trust nothing is too old. Now and then one is trusted that is not to be.
    private func forget() throws {
        let isTrusted = lived - setAt > History.memory || draw(5) == 0
        let before = model.identities.count
        try commit([
            isTrusted
                ? .forget(
                    acceptedBefore: now - .milliseconds(History.memory),
                    buriedBefore: now - .milliseconds(3 * History.memory),
                    latest: draw(3) == 0 ? .max : now + .milliseconds(1000))
                : .forget(acceptedBefore: .min, buriedBefore: .min)
        ])
        forgotten += before - model.identities.count
        dead = Set(model.deadTokens.keys)
        same("dead tokens", try open.content().deadTokens, model.deadTokens)
        same("count of identities", try count(), model.identities.count)
    }

    private func count() throws -> Int {
        Int(try open.connection.firstInteger("SELECT count(*) FROM identity") ?? 0)
    }

    // MARK: Changes

    private func change() -> OutboxChange? {
        switch draw(12) {
        case 0..<5: return .store(submission())
        case 5: return .lookUp(submission().digests)
        case 6: return .remember(submission().digests, acceptedAt: now)
        case 7..<10:
            guard let sequence = sent.sorted().randomElement(using: &random) else { return nil }
            sent.remove(sequence)
            ended += 1
            return .finish(sequence: sequence, ending())
        case 10:
            let token = token()
            dead.insert(token)
            return .buryToken(token, DeadToken(since: now, buriedAt: now))
        default:
            let token = token()
            return dead.remove(token) == nil ? nil : .reviveToken(token)
        }
    }

    private func ending() -> Ending {
        [
            .delivered, .delivered, .expired, .refused(reason: .gateway("Word"), detail: "Why."),
            .refused(reason: .gateway("BadDeviceToken")), .tokenDead(reason: .gateway("Gone")),
        ][draw(6)]
    }

    private func token() -> Digest { Digest(high: UInt64(draw(6)), low: 1) }

    /// A new one, or one that was submitted before, now and then with another text.
    private func submission() -> StoreRequest {
        let isNew = submitted.isEmpty || draw(3) > 0
        if isNew { uids += 1 }
        let uid = isNew ? uids : UInt64(draw(Int(uids))) + 1
        let token = token()
        let request = StoreRequest(
            notification: Relay.Notification(
                id: NotificationID(high: uid, low: 1), lane: History.lane,
                deviceToken: DeviceToken("token-\(token.high)"), message: "bWVzc2FnZQ==",
                isUrgent: draw(2) == 0, hasSound: false, isMutableContent: false,
                isContentAvailable: false, expiresAt: .max, acceptedAt: now),
            digests: SubmissionDigests(
                token: token, identity: Digest(high: uid, low: 2),
                content: Digest(high: draw(20) == 0 ? 8 : 7, low: 3)),
            destination: draw(3) == 0 ? .backlog(room: 4) : .window)
        if submitted.count < 40 { submitted.append(request) } else { submitted[draw(40)] = request }
        return request
    }

    private func commit(_ changes: [OutboxChange], _ writes: [DoorWrite] = []) throws {
        let numbers = numbersAhead ? model.reserve(for: changes) : []
        let results = try open.commit(changes, writes).results
        same(
            "results", results,
            model.commit(changes, numbers: numbers) { self.difference = self.difference ?? $0 })
        let stores = changes.filter {
            switch $0 {
            case .store, .lookUp: true
            default: false
            }
        }
        for case (.store(let request), .stored(let sequence)) in zip(stores, results)
        where request.destination == .window { sent.insert(sequence) }
    }

    private func claim() throws {
        let claim = Claim(.due(History.lane), at: now, last: .max, limit: 1 + draw(5))
        let claimed = model.claim(claim)
        same("claim", try open.claim(claim), claimed)
        sent.formUnion(claimed.rows.map(\.row.sequence))
    }

    // MARK: Gateways that keep

    private func keep() throws {
        guard let sequence = sent.sorted().randomElement(using: &random),
            let identity = model.identities.first(where: { $0.value.sequence == sequence })?.key
        else { return }
        var number: Int64?
        let write = DoorWrite(
            run: { (store) throws(StoreError) in number = try store.keep(identity) }, end: { _ in })
        try commit([], [write])
        model.keep(sequence) { difference = difference ?? $0 }
        same("number of what is kept", number, sequence)
        sent.remove(sequence)
        kept.insert(sequence)
    }

    private func endKept() throws {
        guard let sequence = kept.sorted().randomElement(using: &random) else { return }
        let end = KeptEnd(sequence: sequence, ending: ending())
        let write = DoorWrite(run: { (store) throws(StoreError) in try store.keptEnded(end) }, end: { _ in })
        try commit([], [write])
        model.keptEnded(sequence, end.ending)
        kept.remove(sequence)
    }

    // MARK: Processes

    /// The process ends, and the next one opens the store. In a file a number that nothing has any more is given again, and
    /// in the model it is not: the last one is taken.
    private func restart() throws {
        uids += 1
        let last = SubmissionDigests(
            token: token(), identity: Digest(high: uids, low: 9), content: Digest(high: 7, low: 3))
        try commit([.remember(last, acceptedAt: now)])
        store = nil
        store = try StoreStatements(place)
        model.restart()
        let (content, wanted) = (try open.content(), model.content)
        same("waiting ones", content.waiting, wanted.waiting)
        same("backlog", content.backlog.map(\.waiting), wanted.backlog.map(\.waiting))
        same("last number", content.lastSequence, wanted.lastSequence)
        sent = Set(wanted.waiting.map(\.sequence))
    }
}
