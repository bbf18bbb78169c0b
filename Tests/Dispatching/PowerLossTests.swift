import Crypto
import Dispatching
import Figures
import Foundation
import Logging
import Outbound
import Persistence
import Reactor
import Relay
import Testing
import Vectors

/// The dispatcher and the outbox as they are, over a disk whose power is cut afterwards at points drawn by the seed.
/// What happens when is the threads' affair; where it is cut and what the disk then still has is the seed's.
@EventLoop
@Suite(.serialized) struct PowerLossTests {
    @Test(arguments: (isLong ? [1, 2, 3] : [1]) as [UInt64])
    func aPowerCutAtAnyPointLosesNothingThatWasAnswered(seed: UInt64) async throws {
        try await cutPower(seed: seed, failing: 0)
    }

    /// A disk that can't write something down says so once, and forgets it.
    @Test(arguments: (isLong ? [4, 5] : [4]) as [UInt64])
    func aSyncThatFailsLosesNothingThatWasAnswered(seed: UInt64) async throws {
        let operations = try await cutPower(seed: seed, failing: 7)
        #expect(operations.count { if case .failedSync = $0 { true } else { false } } > 1)
    }

    /// A store in a directory of its own, with one notification of each number.
    private struct Store {
        let directory = NSTemporaryDirectory() + "onionbell-power-\(UUID().uuidString)"
        let trace: DiskTrace
        let outbox: OutboxStore

        init() async throws {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            trace = DiskTrace(directory: directory)
            outbox = try await OutboxStore(path: directory + "/outbox.sqlite")
        }

        func store(_ number: UInt64) async throws {
            let digest = Digest(high: number, low: number)
            let lane = LaneID(app: "android", host: .production)
            let notification = Notification(
                id: NotificationID(high: 1, low: number), lane: lane,
                deviceToken: DeviceToken(String(repeating: "t", count: 40)), message: "QUJD", isUrgent: false,
                hasSound: false, isMutableContent: false, isContentAvailable: false,
                expiresAt: .max, acceptedAt: EventLoop.unixTime)
            let digests = SubmissionDigests(token: digest, identity: digest, content: digest)
            let change = OutboxChange.store(StoreRequest(notification: notification, digests: digests))
            _ = try await outbox.commit([change])
        }

        func end(_ sequence: Int64, isAwaited: Bool) async throws {
            _ = try await outbox.commit([.finish(sequence: sequence, .delivered)], isAwaited: isAwaited)
        }

        /// Syncs of the log.
        var syncs: Int {
            trace.all.count { if case .sync("outbox.sqlite-wal") = $0 { true } else { false } }
        }

        /// The numbers that wait after the process has ended now, or its machine has lost its power and all that was not
        /// brought to the disk.
        func waiting(afterPowerCut isCut: Bool) async throws -> [Int64] {
            let copy = directory + "/copy"
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: copy) }
            var disk = Disk()
            for operation in trace.all { disk.apply(operation) }
            for name in ["outbox.sqlite", "outbox.sqlite-wal"] {
                let found =
                    try isCut
                    ? Data(disk.durable(name)) : Data(contentsOf: URL(filePath: directory + "/" + name))
                try found.write(to: URL(filePath: copy + "/" + name))
            }
            let other = try await OutboxStore(path: copy + "/outbox.sqlite")
            let waiting = try await other.content().waiting.map(\.sequence)
            await other.close()
            return waiting
        }

        func close() async {
            await outbox.close()
            try? FileManager.default.removeItem(atPath: directory)
        }
    }

    /// Nobody hears of it: a power cut may lose it, the end of the process may not.
    @Test func anEndThatNobodyAwaitsCostsNoSync() async throws {
        let store = try await Store()
        for number in 1...3 as ClosedRange<UInt64> { try await store.store(number) }
        let before = store.syncs
        try await store.end(1, isAwaited: false)
        #expect(store.syncs == before)
        #expect(try await store.waiting(afterPowerCut: false) == [2, 3])
        #expect(try await store.waiting(afterPowerCut: true) == [1, 2, 3])
        try await store.end(2, isAwaited: true)
        #expect(store.syncs == before + 1)
        #expect(try await store.waiting(afterPowerCut: true) == [3])
        await store.close()
    }

    /// The disk forgets the end that it could not write, and what comes behind it in the log must not go with it.
    @Test func aSyncThatFailsBehindAnEndLosesNothingThatComesLater() async throws {
        let store = try await Store()
        try await store.store(1)
        try await store.end(1, isAwaited: false)
        store.trace.fail(each: 1)
        await #expect(throws: OutboxError.self) { try await store.store(2) }
        await #expect(throws: OutboxError.self) { try await store.store(2) }
        store.trace.heal()
        try await store.store(3)
        #expect(try await store.waiting(afterPowerCut: true).contains(2))
        await store.close()
    }

    @discardableResult
    private func cutPower(seed: UInt64, failing: Int) async throws -> [DiskTrace.Operation] {
        let directory = NSTemporaryDirectory() + "onionbell-power-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let history = History(seed: seed, trace: DiskTrace(directory: directory, failing: failing))
        try await history.run(outbox: OutboxStore(path: directory + "/outbox.sqlite"))
        // What remains is opened in the same directory.
        history.trace.heal()
        var random = SeededRandom(state: seed)
        let operations = history.trace.all
        #expect(operations.contains { if case .write("outbox.sqlite", _, _) = $0 { true } else { false } })
        var cuts = Set((0..<40).map { _ in Int.random(in: 0...operations.count, using: &random) })
        // The log is emptied now and then: what it held must be in the database before it goes.
        let emptied = operations.indices.filter {
            if case .truncate("outbox.sqlite-wal", 0) = operations[$0] { true } else { false }
        }
        #expect(emptied.count > 3)
        for position in emptied { cuts.formUnion([position - 1, position, position + 1]) }
        var disk = Disk()
        for position in 0...operations.count {
            if cuts.contains(position) {
                let remains = directory + "/remains"
                try FileManager.default.createDirectory(atPath: remains, withIntermediateDirectories: true)
                for (name, contents) in disk.remains(using: &random) {
                    try Data(contents).write(to: URL(filePath: remains + "/" + name))
                }
                try await history.check(
                    OutboxStore(path: remains + "/outbox.sqlite"), cutAt: position,
                    of: "\(operations.count), seed \(seed)")
                try FileManager.default.removeItem(atPath: remains)
            }
            if position < operations.count { disk.apply(operations[position]) }
        }
        return operations
    }
}

/// Notifications through a dispatcher to a gateway that misbehaves, with the point of the trace at which each was told
/// of. Notifications are known by their messages.
@EventLoop
private final class History: Gateway {
    let trace: DiskTrace
    private var random: SeededRandom
    private var stored: [String: Int] = [:]
    private var told: [String: Int] = [:]
    /// The senders of the others await no outcome.
    private var awaiting = 0
    /// When a gateway took one first, or judged it otherwise.
    private var judged: [String: Int] = [:]
    private var submissions: [String: Submission] = [:]

    private static let lane = LaneID(app: "android", host: .production)
    private static let count = 250
    private static let devices = 25

    var capacity = 8 { didSet { if oldValue == 0, capacity > 0 { onCapacity?() } } }
    var onCapacity: (@EventLoop () -> Void)?

    init(seed: UInt64, trace: DiskTrace) {
        self.trace = trace
        random = SeededRandom(state: seed)
    }

    func run(outbox: OutboxStore) async throws {
        let app = App(name: "android", service: SampleService.android, isEnabled: true)
        var limits = Admission.Limits()
        limits.tokenRate = 100_000
        limits.tokenBurst = 100_000
        var policy = RetryPolicy()
        policy.longest = .milliseconds(2)
        let pipeline = Pipeline(
            validator: Validator(apps: [app], defaultIOS: "", defaultAndroid: "android"), limits: limits,
            policy: policy)
        let dispatcher = Dispatcher(
            pipeline: pipeline, outbox: outbox, digester: SubmissionDigester(key: Secret([1, 2, 3])),
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        dispatcher.add(self, for: History.lane)
        try await dispatcher.start()
        for number in 0..<History.count {
            submit(number, to: dispatcher)
            // Beside the commits of the dispatcher: old rows are forgotten, and the log is emptied.
            if number % 25 == 24 {
                _ = try? await outbox.commit([.forget(acceptedBefore: .min, buriedBefore: .min)])
            }
            if draw(4) == 0 { await EventLoop.pass(.milliseconds(draw(5))) }
        }
        try await EventLoop.until {
            self.told.count == self.awaiting && self.judged.count == History.count
        }
        await dispatcher.stop()
    }

    private func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private func submit(_ number: Int, to dispatcher: Dispatcher) {
        let device = draw(History.devices)
        let digits = String(number)
        // Long, so that the log is written back into the database now and then.
        let message =
            String(repeating: "QUJD", count: 700 + draw(300)) + "AAAA".dropLast(digits.count) + digits
        let submission = Submission(
            uid: "uid-\(number)", platform: .android,
            deviceToken: String(repeating: "t", count: 40) + "\(device)", message: message,
            isUrgent: draw(2) == 0)
        submissions[message] = submission
        let isAwaiting = draw(2) == 0
        if isAwaiting { awaiting += 1 }
        submit(submission, message, awaitsOutcome: isAwaiting, to: dispatcher)
    }

    /// Until it is stored.
    private func submit(
        _ submission: Submission, _ message: String, awaitsOutcome: Bool, to dispatcher: Dispatcher
    ) {
        dispatcher.submit(submission, awaitsOutcome: awaitsOutcome) { [self] receipt in
            switch receipt {
            case .stored: stored[message] = trace.position
            case .ended: told[message] = trace.position
            case .busy where dispatcher.outboxFault != nil:
                Task {
                    try? await EventLoop.until { dispatcher.outboxFault == nil }
                    submit(submission, message, awaitsOutcome: awaitsOutcome, to: dispatcher)
                }
            case .busy, .held, .kept: Issue.record("\(receipt)")
            }
        }
    }

    // MARK: The gateway

    func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        capacity -= 1
        let (outcome, isTaken): (Outcome, Bool) =
            switch draw(20) {
            case 0: (.refused(reason: "BadPath"), true)
            case 1, 2: (.deferred(Deferral(reason: "429", scope: .device)), false)
            case 3: (.deferred(Deferral(reason: "lost", scope: .device)), true)
            case 4: (.deferred(Deferral(reason: "goaway", scope: .device, isUnharmed: true)), false)
            case _: (.accepted, true)
            }
        let time = Duration.milliseconds(draw(4))
        Task {
            await EventLoop.pass(time)
            if isTaken, judged[notification.message] == nil { judged[notification.message] = trace.position }
            capacity += 1
            completion(outcome)
        }
    }

    let fault: String? = nil
    let figures = GatewayFigures()
    func start() {}
    func noteBacklog() {}
    func stop() {}

    // MARK: After the cut

    /// What was told before the cut must be true of what the disk still has.
    func check(_ outbox: OutboxStore, cutAt cut: Int, of all: String) async throws {
        let rows = try await outbox.content().waiting.map(\.sequence)
        let waiting = try await outbox.notifications(rows)
        await outbox.close()
        #expect(waiting.count == rows.count, "cut at \(cut) of \(all)")
        for notification in waiting.values {
            let isWhole = submissions[notification.message]?.deviceToken == notification.deviceToken
            #expect(isWhole, "cut at \(cut) of \(all): a damaged row")
        }
        let again = waiting.values.count { told[$0.message, default: .max] <= cut }
        #expect(again == 0, "cut at \(cut) of \(all): \(again) wait whose end was told")
        let left = Set(waiting.values.map(\.message))
        let lost = stored.count { message, position in
            position <= cut && judged[message, default: .max] > cut && !left.contains(message)
        }
        #expect(lost == 0, "cut at \(cut) of \(all): \(lost) were answered with stored, and are lost")
    }
}

extension Notification {
    /// Of one of Bisq's.
    fileprivate var message: String {
        if case .bisq(let content) = content { content.message } else { "" }
    }
}
