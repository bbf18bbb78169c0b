import Clocks
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

@EventLoop
@Suite struct DispatcherTests {
    let path = FileManager.default.temporaryDirectory.path + "/onionbell-delivery-\(UUID().uuidString)"
    static let lane = LaneID(app: "android", host: .production)

    func dispatcher(
        _ gateway: HandGateway?, outbox: (any Outbox)? = nil, policy: RetryPolicy = RetryPolicy(),
        log: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) async throws -> Dispatcher {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let app = App(name: "android", service: SampleService.android, isEnabled: true)
        let validator = Validator(apps: [app], defaultIOS: "", defaultAndroid: "android")
        let store: any Outbox
        if let outbox {
            store = outbox
        } else {
            store = try await OutboxStore(path: path + "/outbox.sqlite")
        }
        let dispatcher = Dispatcher(
            pipeline: Pipeline(validator: validator, limits: Admission.Limits(), policy: policy),
            outbox: store,
            digester: SubmissionDigester(key: Secret([1, 2, 3])),
            log: log)
        if let gateway { dispatcher.add(gateway, for: Self.lane) }
        try await dispatcher.start()
        return dispatcher
    }

    func submission(_ number: Int, uid: String? = nil, message: Int = 12) -> Submission {
        Submission(
            uid: uid ?? "uid-\(number)", platform: .android,
            deviceToken: String(repeating: "t", count: 40) + "\(number)",
            message: String(repeating: "QUJD", count: message))
    }

    @Test func aSenderHearsOfTheStoreAndThenOfTheEnd() async throws {
        let gateway = HandGateway(capacity: 10)
        let dispatcher = try await dispatcher(gateway)
        let receipts = Receipts()
        dispatcher.submit(submission(1), awaitsOutcome: true) { receipts.add($0) }
        #expect(await receipts.wait(for: 1) == [.stored])
        await gateway.wait(forSent: 1)
        gateway.answer(0, .accepted)
        #expect(await receipts.wait(for: 2) == [.stored, .ended(.delivered)])
        await dispatcher.stop()
    }

    /// Before a restart in place the doors are open until then: all goes on.
    @Test(arguments: [true, false])
    func gatewaysAreWaitedForUntilTheyHaveAnsweredOrTheLimitIsOver(isAnswered: Bool) async throws {
        let gateway = HandGateway(capacity: 10)
        let dispatcher = try await dispatcher(gateway)
        dispatcher.submit(submission(1), awaitsOutcome: false) { _ in }
        await gateway.wait(forSent: 1)
        let waiting = Task {
            await dispatcher.waitForGateways(within: isAnswered ? .seconds(3600) : .milliseconds(1))
        }
        if isAnswered {
            // Tasks of the loop begin in their order.
            await Task {}.value
            dispatcher.submit(submission(2), awaitsOutcome: false) { _ in }
            await gateway.wait(forSent: 2)
            gateway.answer(0, .accepted)
        }
        await waiting.value
        await dispatcher.stop(deadline: .milliseconds(1))
    }

    /// One that connects only when it must then looks up no host of a push service.
    @Test func aGatewayIsAskedForRoomOnlyWhenSomethingWaits() async throws {
        let gateway = HandGateway(capacity: 0)
        let dispatcher = try await dispatcher(gateway)
        gateway.onCapacity?()
        #expect(gateway.backlogs == 0)
        let receipts = Receipts()
        dispatcher.submit(submission(1), awaitsOutcome: false) { receipts.add($0) }
        #expect(await receipts.wait(for: 1) == [.stored])
        #expect(gateway.backlogs > 0)
        await dispatcher.stop()
    }

    @Test func theOperatorIsToldOfAGatewayThatFailsAndOfItsEnd() async throws {
        let gateway = HandGateway(capacity: 21)
        let told = LoggedEvents()
        let dispatcher = try await dispatcher(gateway, log: Logger(label: "test") { _ in told })
        for number in 0..<21 { dispatcher.submit(submission(number), awaitsOutcome: false) { _ in } }
        await gateway.wait(forSent: 21)
        for index in 0..<20 {
            gateway.answer(index, .deferred(Deferral(reason: "AnswerTimeout", scope: .device)))
        }
        #expect(
            told.lines.all == [
                "gateway.failing app=android attempts=20 environment=production reason=AnswerTimeout"
            ])
        gateway.answer(20, .accepted)
        #expect(told.lines.all.count == 2)
        #expect(
            told.lines.all[1].hasPrefix("gateway.recovered app=android attempts=20 environment=production "))
        await dispatcher.stop()
    }

    @Test func submissionsThatComeDuringACommitShareTheNextOne() async throws {
        let dispatcher = try await dispatcher(nil)
        let receipts = Receipts()
        for number in 0..<500 {
            dispatcher.submit(submission(number), awaitsOutcome: false) { receipts.add($0) }
        }
        let all = await receipts.wait(for: 500)
        #expect(all.allSatisfy { $0 == .stored })
        #expect(dispatcher.commitFigures.done <= 2)
        await dispatcher.stop()
    }

    @Test func whatWasStoredButNotDeliveredIsSentAfterAStartAnewUnderTheSameId() async throws {
        let first = HandGateway(capacity: 10)
        var node: Dispatcher? = try await dispatcher(first)
        let receipts = Receipts()
        node?.submit(submission(1), awaitsOutcome: false) { receipts.add($0) }
        _ = await receipts.wait(for: 1)
        await first.wait(forSent: 1)
        let id = first.sent[0].notification.id
        await node?.stop(deadline: .milliseconds(1))  // the answer never came
        node = nil
        let second = HandGateway(capacity: 10)
        let again = try await dispatcher(second)
        await second.wait(forSent: 1)
        #expect(second.sent.map(\.notification.id) == [id])
        second.answer(0, .accepted)
        await again.stop()
        let third = try await dispatcher(HandGateway(capacity: 10))
        #expect(third.waiting == 0)
        await third.stop()
    }

    @Test func aRepeatedUidIsDeliveredOnceAndToldTheOutcome() async throws {
        let gateway = HandGateway(capacity: 10)
        let dispatcher = try await dispatcher(gateway)
        let receipts = Receipts()
        dispatcher.submit(submission(1), awaitsOutcome: true) { receipts.add($0) }
        _ = await receipts.wait(for: 1)
        let repeated = Receipts()
        dispatcher.submit(submission(1), awaitsOutcome: true) { repeated.add($0) }
        #expect(await repeated.wait(for: 1) == [.stored])
        await gateway.wait(forSent: 1)
        gateway.answer(0, .accepted)
        #expect(await repeated.wait(for: 2) == [.stored, .ended(.delivered)])
        let late = Receipts()
        dispatcher.submit(submission(1), awaitsOutcome: true) { late.add($0) }
        #expect(await late.wait(for: 1) == [.ended(.delivered)])
        let other = Receipts()
        var changed = submission(1)
        changed.content = submission(2, message: 13).content
        dispatcher.submit(changed, awaitsOutcome: false) { other.add($0) }
        #expect(await other.wait(for: 1) == [.refused(.duplicateUid)])
        // Another phone's sender may count as this one does.
        let second = Receipts()
        dispatcher.submit(submission(2, uid: "uid-1"), awaitsOutcome: false) { second.add($0) }
        #expect(await second.wait(for: 1) == [.stored])
        await dispatcher.stop()
    }

    /// Each submission counts once, where it came in; each notification once, where it went out.
    @Test func figuresCountEachThingOnce() async throws {
        let gateway = HandGateway(capacity: 10)
        let dispatcher = try await dispatcher(gateway)
        let (front, back) = (dispatcher.door("front"), dispatcher.door("back"))
        let receipts = Receipts()
        func submit(_ submission: Submission, from door: DoorCounter) async {
            let count = receipts.all.count + 1
            dispatcher.submit(submission, from: door, awaitsOutcome: false) { receipts.add($0) }
            _ = await receipts.wait(for: count)
        }
        await submit(submission(1), from: front)
        await submit(submission(1), from: back)
        var changed = submission(1)
        changed.content = submission(2, message: 13).content
        await submit(changed, from: back)
        await submit(Submission(uid: "x", platform: nil, deviceToken: "", message: ""), from: back)
        await submit(submission(3), from: front)
        await gateway.wait(forSent: 2)
        #expect(dispatcher.queues.map(\.waiting) == [2])
        gateway.answer(0, .deferred(Deferral(reason: "GoAway", scope: .device, isUnharmed: true)))
        await gateway.wait(forSent: 3)
        gateway.answer(1, .tokenDead(reason: "Unregistered", since: nil))
        gateway.answer(2, .accepted)
        await submit(submission(1), from: back)
        await submit(submission(3, uid: "again"), from: front)

        #expect(
            front.figures.stored == 2 && front.figures.duplicates == 0
                && front.figures.refused.counts == ["Unregistered": 1])
        #expect(back.figures.stored == 0 && back.figures.duplicates == 2)
        #expect(back.figures.refused.counts == ["DuplicateUid": 1, "UnknownPlatform": 1])
        #expect(front.figures.submitted == 3 && front.figures.receiptTime.count == 3)
        #expect(back.figures.submitted == 4 && back.figures.receiptTime.count == 4)
        let lane = try #require(dispatcher.laneTotals.first)
        #expect(lane.attempts == 3 && lane.delivered == 1 && lane.deliveryTime.count == 1)
        #expect(lane.deferred.counts == ["GoAway": 1] && lane.tokensDead.counts == ["Unregistered": 1])
        #expect(lane.lastDelivery == lane.lastJudgement)
        #expect(dispatcher.deadTokens == 1)
        #expect(dispatcher.commitFigures.done == dispatcher.commitFigures.time.count)
        await dispatcher.stop()
    }

    /// Not after a pause that may have grown to minutes, and with the failures of an hour forgotten.
    @Test func whatWasFixedIsSentAtOnce() async throws {
        let gateway = HandGateway(capacity: 0)
        gateway.fault = "TLS"
        let dispatcher = try await dispatcher(gateway)
        var answered = 0
        for number in 1...3 {
            let wanted = submission(number)
            let stored = Receipts()
            dispatcher.submit(wanted, awaitsOutcome: false) { stored.add($0) }
            _ = await stored.wait(for: 1)
            answered = await gateway.answer(from: answered, until: wanted, .blocked(reason: "TLS"))
        }
        let lane = try #require(dispatcher.lanes.first)
        guard case .paused = lane.condition else {
            Issue.record("\(lane.condition)")
            return
        }
        #expect(lane.block?.reason == "TLS")
        gateway.fault = nil
        gateway.capacity = 10
        // Within this turn: no clock has moved.
        #expect(gateway.sent.count == answered + 3)
        for index in answered..<answered + 3 { gateway.answer(index, .accepted) }
        await dispatcher.stop()
    }

    /// Who was told an end may rely on it, even if the process is killed right after.
    @Test func anEndIsToldOnlyOnceItIsWrittenDown() async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let outbox = FailingOutbox(try await OutboxStore(path: path + "/outbox.sqlite"))
        let gateway = HandGateway(capacity: 10)
        let dispatcher = try await dispatcher(gateway, outbox: outbox)
        let receipts = Receipts()
        dispatcher.submit(submission(1), awaitsOutcome: true) { receipts.add($0) }
        await gateway.wait(forSent: 1)
        await outbox.setFault(.failed("broken"))
        gateway.answer(0, .accepted)
        try await EventLoop.until { dispatcher.commitFigures.failed > 0 }
        #expect(receipts.all == [.stored])
        await outbox.setFault(nil)
        #expect(await receipts.wait(for: 2) == [.stored, .ended(.delivered)])
        #expect(try await outbox.content().waiting.isEmpty)
        await dispatcher.stop()
    }

    @Test func aDeadTokenEndsWhatWaitsBehindItAndIsRefusedFromThenOn() async throws {
        let gateway = HandGateway(capacity: 10)
        let dispatcher = try await dispatcher(gateway)
        let receipts = Receipts()
        for uid in ["a", "b", "c"] {
            dispatcher.submit(submission(1, uid: uid), awaitsOutcome: true) { receipts.add($0) }
        }
        _ = await receipts.wait(for: 3)
        await gateway.wait(forSent: 1)
        gateway.answer(0, .tokenDead(reason: "Unregistered", since: nil))
        let dead = Receipt.ended(.tokenDead(reason: "Unregistered"))
        #expect(await receipts.wait(for: 6) == [.stored, .stored, .stored, dead, dead, dead])
        let later = Receipts()
        dispatcher.submit(submission(1, uid: "d"), awaitsOutcome: false) { later.add($0) }
        guard case .ended(.tokenDead(.unregistered, .some)) = await later.wait(for: 1).first else {
            Issue.record("\(later.all)")
            return
        }
        #expect(gateway.sent.count == 1)
        await dispatcher.stop()
    }

    /// What one start of the node has left to the next, as a wall clock that was wrong then tells it.
    private func leave(notBefore: UnixTime, expiresAt: UnixTime) async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let outbox = try await OutboxStore(path: path + "/outbox.sqlite")
        let digest = Digest(high: 1, low: 2)
        let notification = Notification(
            id: NotificationID(high: 3, low: 4), lane: LaneID(app: "android", host: .production),
            deviceToken: DeviceToken(String(repeating: "t", count: 40)), message: "QUJD", isUrgent: true,
            hasSound: false,
            isMutableContent: false, isContentAvailable: false, expiresAt: expiresAt, acceptedAt: notBefore)
        let digests = SubmissionDigests(token: digest, identity: digest, content: digest)
        _ = try await outbox.commit([
            .store(StoreRequest(notification: notification, digests: digests)),
            .postpone(sequence: 1, attempts: 3, notBefore: notBefore),
        ])
        await outbox.close()
    }

    @Test func aClockThatWasTenYearsAheadAtTheLastStartHoldsNothingUp() async throws {
        let then = EventLoop.unixTime + .seconds(10 * 365 * 86_400)
        try await leave(notBefore: then, expiresAt: then + .seconds(86_400))
        let gateway = HandGateway(capacity: 1)
        var policy = RetryPolicy()
        policy.longest = .milliseconds(50)
        let dispatcher = try await dispatcher(gateway, policy: policy)
        await gateway.wait(forSent: 1)
        gateway.answer(0, .accepted)
        await dispatcher.stop()
        #expect(gateway.sent.count == 1)
        #expect(dispatcher.waiting == 0)
    }

    @Test func whatExpiredWhileTheNodeWasAwayIsEndedAsExpired() async throws {
        let then = EventLoop.unixTime - .seconds(86_400)
        try await leave(notBefore: 0, expiresAt: then)
        let gateway = HandGateway(capacity: 1)
        let dispatcher = try await dispatcher(gateway)
        await dispatcher.stop()
        #expect(gateway.sent.isEmpty)
        #expect(dispatcher.laneTotals.map(\.expired) == [1])
        let outbox = try await OutboxStore(path: path + "/outbox.sqlite")
        #expect(try await outbox.content().waiting.isEmpty)
        await outbox.close()
    }
}
