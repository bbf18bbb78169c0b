import Dispatching
import Foundation
import Logging
import Persistence
import Reactor
import Relay
import Testing
import Vectors

/// A disk that is full, and senders that wait meanwhile.
extension DispatcherTests {
    @Test func aFullDiskIsAnsweredBusyAndNothingAcceptedIsLost() async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let outbox = FailingOutbox(try await OutboxStore(path: path + "/outbox.sqlite"))
        let gateway = HandGateway(capacity: 10)
        let dispatcher = try await dispatcher(gateway, outbox: outbox)
        let receipts = Receipts()
        dispatcher.submit(submission(1), awaitsOutcome: true) { receipts.add($0) }
        await gateway.wait(forSent: 1)
        await outbox.setFault(.full)
        let refused = Receipts()
        dispatcher.submit(submission(2), awaitsOutcome: false) { refused.add($0) }
        guard case .busy(.node) = await refused.wait(for: 1)[0] else {
            Issue.record("stored on a full disk")
            return
        }
        #expect(dispatcher.outboxFault == .full)
        gateway.answer(0, .accepted)  // its end can't be written down yet, so nobody is told
        await outbox.setFault(nil)
        #expect(await receipts.wait(for: 2) == [.stored, .ended(.delivered)])
        let again = Receipts()
        dispatcher.submit(submission(2), awaitsOutcome: true) { again.add($0) }
        #expect(await again.wait(for: 1) == [.stored])
        #expect(dispatcher.outboxFault == nil)
        await gateway.wait(forSent: 2)
        gateway.answer(1, .accepted)
        _ = await again.wait(for: 2)
        await dispatcher.stop()
        let after = try await OutboxStore(path: path + "/outbox.sqlite")
        #expect(try await after.content().waiting.isEmpty)
        await after.close()
    }

    /// A refused submission leaves nothing to write, and nobody sends another one.
    @Test func roomOnTheDiskIsFoundWithoutAnythingToWrite() async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let outbox = FailingOutbox(try await OutboxStore(path: path + "/outbox.sqlite"))
        let told = LoggedEvents()
        let dispatcher = try await dispatcher(
            nil, outbox: outbox, log: Logger(label: "test") { _ in told })
        await outbox.setFault(.full)
        let refused = Receipts()
        dispatcher.submit(submission(1), awaitsOutcome: false) { refused.add($0) }
        _ = await refused.wait(for: 1)
        await outbox.setFault(nil)
        try await EventLoop.until { dispatcher.outboxFault == nil }
        #expect(told.lines.all.map { $0.prefix { $0 != " " } } == ["outbox.failed", "outbox.recovered"])
        // Beside the record of the clock, which the failed commit had as well.
        let written = await outbox.lastCommit.filter { if case .clock = $0 { false } else { true } }
        #expect(written == [.proof])
        await dispatcher.stop()
    }

    @Test func whoeverAwaitsAnOutcomeHearsThatTheOperatorIsNeededFirst() async throws {
        let gateway = HandGateway(capacity: 10)
        let dispatcher = try await dispatcher(gateway)
        let receipts = Receipts()
        let patient = Receipts()
        dispatcher.submit(submission(1), awaitsOutcome: true) { receipts.add($0) }
        dispatcher.submit(submission(2), awaitsOutcome: false) { patient.add($0) }
        await gateway.wait(forSent: 2)
        gateway.answer(0, .blocked(reason: "BadTopic"))
        gateway.answer(1, .blocked(reason: "BadTopic"))
        #expect(await receipts.wait(for: 2) == [.stored, .held(reason: "BadTopic")])
        // What holds for these two need not hold for another.
        let later = Receipts()
        dispatcher.submit(submission(3), awaitsOutcome: true) { later.add($0) }
        #expect(await later.wait(for: 1) == [.stored])
        _ = await gateway.answer(from: 2, until: submission(3), .blocked(reason: "BadTopic"))
        #expect(await later.wait(for: 2) == [.stored, .held(reason: "BadTopic")])
        #expect(patient.all == [.stored])
        #expect(dispatcher.waiting == 3)
        #expect(dispatcher.doors.map(\.figures.stored) == [3])
        await dispatcher.stop()
    }
}
