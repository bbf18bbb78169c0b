import Logging
import Metrics
import Outbound
import Reactor
import Relay

/// Carries out what the ``Relay/Pipeline`` decides: commits to the outbox, sends by the gateways, answers the doors.
///
/// Changes of the outbox are gathered while a commit runs and while the loop has other work, and go into the next one. A
/// sender is told `stored` only after the commit that holds its notification has returned.
@EventLoop
package final class Dispatcher {
    /// Tells a sender; called once, and when the outcome was asked for and is not yet known, again: with the end, and
    /// before that with ``Relay/Receipt/held(reason:)`` whenever the operator's help is needed first.
    package typealias Reply = @EventLoop (Receipt) -> Void

    /// A submission in the next commit.
    private struct Ticket {
        let handle: Pipeline.Handle
        let door: DoorCounter
        /// Monotonic nanoseconds.
        let submittedAt: Int64
        let awaitsOutcome: Bool
        let reply: Reply
    }

    package private(set) var doors: [DoorCounter] = []
    /// Like ``lanes``.
    package private(set) var laneFigures: [LaneFigures] = []
    package private(set) var commitFigures = CommitFigures()
    /// Why the last commit failed; `nil` while the outbox works.
    package private(set) var outboxFault: OutboxError?

    private var pipeline: Pipeline
    private let outbox: any Outbox
    private let digester: SubmissionDigester
    private let log: Logger
    private var random = SystemRandomNumberGenerator()

    private var tickets: [Ticket] = []
    private var awaiting: [Int64: [Reply]] = [:]
    /// Ends that are awaited, to be told after the next commit: an end that was told never changes, even if the process
    /// is killed right after.
    private var untold: [(sequence: Int64, ending: Ending)] = []
    private var runners: [LaneID: LaneRunner] = [:]
    private var isCommitting = false
    /// The outbox takes nothing more: what ends now is delivered again under the same ids.
    private var isClosed = false
    private var isStopping = false
    private var inFlight = 0

    private var commitSoon: WhenIdle!
    private var commitLater: Timer!
    private var pace = CommitPace()
    private var pumpSoon: EndOfTurn!
    private var commitAgain: Timer!
    private var housekeeping: Timer!

    /// How long identities and dead tokens are remembered.
    private let memory: Memory
    private var clock = ClockWatch(offset: EventLoop.wallClockOffset)
    private static let retryWhenOutboxFails: Duration = .seconds(5)
    /// A busy loop gathers for one commit what it has to do anyway.
    private static let longestGathering: Duration = .milliseconds(2)
    private static let retryCommit: Duration = .seconds(1)
    private static let mostListeners = 8
    private static let housekeepingInterval: Duration = .seconds(15)

    package struct Memory: Sendable {
        /// How long a repetition is recognized.
        package var identities: Duration = .seconds(24 * 3600)
        package var deadTokens: Duration = .seconds(30 * 86400)

        package init() {}
    }

    package init(
        pipeline: consuming Pipeline, outbox: any Outbox, digester: SubmissionDigester,
        memory: Memory = Memory(), log: Logger
    ) {
        self.pipeline = pipeline
        self.outbox = outbox
        self.digester = digester
        self.memory = memory
        self.log = log
        commitSoon = WhenIdle(patience: Dispatcher.longestGathering) { [unowned self] in startCommitting() }
        commitLater = Timer { [unowned self] in commitSoon.schedule() }
        pumpSoon = EndOfTurn { [unowned self] in pump() }
        commitAgain = Timer { [unowned self] in startCommitting() }
        housekeeping = Timer { [unowned self] in keepHouse() }
    }

    /// The figures of a door, made at the first call with its name.
    package func door(_ name: String) -> DoorCounter {
        if let door = doors.first(where: { $0.name == name }) { return door }
        let door = DoorCounter(name: name)
        doors.append(door)
        return door
    }

    /// Gives a lane its gateway. Before ``start()``.
    package func add(_ gateway: any Gateway, for lane: LaneID) {
        let runner = LaneRunner(lane: lane, index: pipeline.lane(lane), gateway: gateway)
        // The runner holds both: neither may hold the runner. A gateway with requests on their way can outlive us.
        runner.timer = Timer { [unowned self, unowned runner] in pump(runner) }
        gateway.onCapacity = { [weak self, weak runner] in
            if let self, let runner { pump(runner) }
        }
        runners[lane] = runner
    }

    /// Takes over what waited when the last process ended, and begins to deliver.
    ///
    /// - Returns: How many notifications wait.
    @discardableResult
    package func start() async throws(OutboxError) -> Int {
        let content = try await outbox.content()
        pipeline.restore(content, at: .now)
        housekeeping.start(after: Dispatcher.housekeepingInterval)
        pump()
        return content.waiting.count
    }

    // MARK: In

    /// Takes a submission.
    ///
    /// - Parameters:
    ///   - door: Where it came in: see ``door(_:)``.
    ///   - awaitsOutcome: Whether `reply` wants to hear the end as well.
    ///   - reply: Called before this returns when nothing is stored, else after the commit.
    /// - Returns: Under which id ``state(of:)`` knows it once it is stored.
    @discardableResult
    package func submit(
        _ submission: Submission, from door: DoorCounter, awaitsOutcome: Bool, reply: @escaping Reply
    ) -> NotificationID? {
        guard !isStopping else {
            let receipt = Receipt.busy(.node(retryAfter: Dispatcher.retryWhenOutboxFails))
            door.count(receipt, after: 0)
            reply(receipt)
            return nil
        }
        let now = Instant.now
        switch pipeline.submit(submission, at: now, digests: { digester(submission, to: $0) }) {
        case .answered(let receipt):
            door.count(receipt, after: EventLoop.monotonicNanoseconds - now.monotonicNanoseconds)
            reply(receipt)
            return nil
        case .storing(let handle):
            tickets.append(
                Ticket(
                    handle: handle, door: door, submittedAt: now.monotonicNanoseconds,
                    awaitsOutcome: awaitsOutcome, reply: reply))
            scheduleCommit()
            return pipeline.id(of: handle)
        }
    }

    /// What became of a notification; `nil` when it is not known, or not any more.
    package func state(of id: NotificationID) async throws(OutboxError) -> NotificationState? {
        try await outbox.state(of: id.identity)
    }

    // MARK: The outbox

    /// A running commit schedules the next one when it ends.
    private func scheduleCommit() {
        guard !isCommitting, !commitSoon.isScheduled, !commitLater.isRunning else { return }
        if let rest = pace.rest(at: EventLoop.monotonicNanoseconds) {
            commitLater.start(after: rest)
        } else {
            commitSoon.schedule()
        }
    }

    private func startCommitting() {
        guard !isClosed, !isCommitting, pipeline.hasChanges || outboxFault != nil else { return }
        isCommitting = true
        Task { await commit() }
    }

    private func commit() async {
        var changes = pipeline.takeChanges()
        // A commit that has nothing to write would succeed on a full disk.
        if outboxFault != nil { changes.append(.proof) }
        let tickets = tickets
        let untold = untold
        self.tickets = []
        self.untold = []
        let begun = EventLoop.monotonicNanoseconds
        do throws(OutboxError) {
            let results = try await outbox.commit(changes)
            isCommitting = false
            let now = Instant.now
            commitFigures.done += 1
            commitFigures.time.add(now.monotonicNanoseconds - begun)
            if outboxFault != nil { log.notice("outbox.recovered") }
            outboxFault = nil
            for (ticket, result) in zip(tickets, results) { settle(ticket, result, at: now) }
            for (sequence, ending) in untold { tell(sequence, ending) }
            pump()
            pace.ended(begunAt: begun, at: now.monotonicNanoseconds)
            if pipeline.hasChanges { scheduleCommit() }
        } catch {
            isCommitting = false
            self.untold = untold + self.untold
            keepWhatMustNotBeLost(of: changes, tickets: tickets, after: error)
        }
    }

    private func settle(_ ticket: Ticket, _ result: StoreResult, at now: Instant) {
        let receipt = pipeline.stored(ticket.handle, result: result, at: now)
        let isRepetition =
            switch result {
            case .stored, .conflict: false
            case .alreadyWaiting, .alreadyEnded: true
            }
        ticket.door.count(
            receipt, isRepetition: isRepetition, after: now.monotonicNanoseconds - ticket.submittedAt)
        if ticket.awaitsOutcome, receipt == .stored {
            let sequence =
                if case .alreadyWaiting(let first) = result { first } else { ticket.handle.sequence }
            if pipeline.isWaiting(sequence) {
                listen(for: sequence, ticket.reply)
                ticket.reply(.stored)
                if let reason = pipeline.blockedReason(of: sequence) { ticket.reply(.held(reason: reason)) }
                return
            }
            if let ending = pipeline.unsavedEnding(of: sequence) {
                // It ended while this commit ran, so the outbox didn't know yet.
                guard pipeline.holdsEnd(of: sequence) else { return ticket.reply(.ended(ending)) }
                if awaiting[sequence] == nil { untold.append((sequence, ending)) }
                listen(for: sequence, ticket.reply)
            }
        }
        ticket.reply(receipt)
    }

    /// Repetitions of a notification listen for the same end; the newest are those whose senders still do.
    private func listen(for sequence: Int64, _ reply: @escaping Reply) {
        var replies = awaiting[sequence] ?? []
        if replies.count == Dispatcher.mostListeners { replies.removeFirst() }
        replies.append(reply)
        awaiting[sequence] = replies
    }

    private func tell(_ sequence: Int64, _ ending: Ending) {
        for reply in awaiting.removeValue(forKey: sequence) ?? [] { reply(.ended(ending)) }
    }

    /// Nothing of the commit took effect. Senders are told to come again; what is known of deliveries is kept for the
    /// next commit. Until then nothing more is sent: its end could not be written down.
    private func keepWhatMustNotBeLost(
        of changes: [OutboxChange], tickets: [Ticket], after error: OutboxError
    ) {
        commitFigures.failed += 1
        if outboxFault == nil { log.error("outbox.failed", metadata: ["reason": "\(error)"]) }
        outboxFault = error
        pipeline.putBack(changes)
        for ticket in tickets {
            pipeline.storeFailed(ticket.handle)
            let receipt = Receipt.busy(.node(retryAfter: Dispatcher.retryWhenOutboxFails))
            ticket.door.count(receipt, after: EventLoop.monotonicNanoseconds - ticket.submittedAt)
            ticket.reply(receipt)
        }
        commitAgain.start(after: Dispatcher.retryCommit)
    }

    // MARK: Out

    private func pump() {
        for runner in runners.values { pump(runner) }
    }

    /// Sends what a lane has and its gateway takes.
    private func pump(_ runner: LaneRunner) {
        // While bodies are read, what would come next is among them.
        guard !isStopping, outboxFault == nil, !runner.isLoading else { return }
        let now = Instant.now
        var room = runner.gateway.capacity
        if room == 0 {
            runner.gateway.noteBacklog()
            // With a fault one is sent all the same: it comes back blocked, and so the lane learns of it.
            room = runner.gateway.fault == nil ? 0 : 1
        }
        while room > 0 {
            switch pipeline.nextStep(in: runner.index, at: now) {
            case .send(let handle, let notification):
                send(handle, notification, by: runner)
                room -= 1
            case .load(let sequences): return load(sequences, for: runner)
            case .ended(let ended): end(ended, at: now)
            case .wait(let time):
                runner.timer.start(after: .nanoseconds(max(0, time - EventLoop.monotonicNanoseconds)))
                return
            case .idle: return
            }
        }
    }

    private func send(_ handle: Pipeline.Handle, _ notification: Notification, by runner: LaneRunner) {
        figures(of: runner.index) { $0.attempts += 1 }
        inFlight += 1
        runner.gateway.send(notification) { [self] outcome in
            inFlight -= 1
            let now = Instant.now
            count(outcome, of: runner, at: now)
            let blockedBefore = pipeline.blockedReason(lane: runner.index)
            let endings = pipeline.attemptEnded(handle, outcome, at: now, using: &random)
            tellIfBlocked(runner, before: blockedBefore)
            for ended in endings { end(ended, at: now) }
            scheduleCommit()
            pumpSoon.schedule()
        }
    }

    private func count(_ outcome: Outcome, of runner: LaneRunner, at now: Instant) {
        runner.trouble.note(outcome, at: now.monotonicNanoseconds)?.write(to: log, of: runner.lane)
        switch outcome {
        case .deferred(let deferral): figures(of: runner.index) { $0.deferred.add(deferral.reason) }
        case .blocked(let reason): figures(of: runner.index) { $0.deferred.add(reason) }
        case .accepted, .refused, .tokenDead: break
        }
    }

    private func tellIfBlocked(_ runner: LaneRunner, before: String?) {
        let reason = pipeline.blockedReason(lane: runner.index)
        guard reason != before else { return }
        guard let reason else {
            return log.notice("gateway.unblocked", metadata: ["app": "\(runner.lane.app)"])
        }
        log.error("gateway.blocked", metadata: ["app": "\(runner.lane.app)", "reason": "\(reason)"])
        for (sequence, replies) in awaiting where pipeline.lane(of: sequence) == runner.index {
            for reply in replies { reply(.held(reason: reason)) }
        }
    }

    private func end(_ ended: Pipeline.End, at now: Instant) {
        figures(of: ended.lane) { $0.count(ended, at: now.monotonicNanoseconds) }
        scheduleCommit()
        if awaiting[ended.sequence] != nil { untold.append((ended.sequence, ended.ending)) }
    }

    private func figures(of lane: Int, _ change: (inout LaneFigures) -> Void) {
        while laneFigures.count <= lane { laneFigures.append(LaneFigures()) }
        change(&laneFigures[lane])
    }

    private func load(_ sequences: [Int64], for runner: LaneRunner) {
        runner.isLoading = true
        Task {
            do throws(OutboxError) {
                let found = try await outbox.notifications(sequences)
                for ended in pipeline.loaded(found, of: sequences) { end(ended, at: .now) }
                runner.isLoading = false
                pump(runner)
            } catch {
                log.error("outbox.unreadable", metadata: ["reason": "\(error)"])
                pipeline.loadFailed(sequences)
                runner.isLoading = false
                runner.timer.start(after: Dispatcher.retryCommit)
            }
        }
    }

    private func keepHouse() {
        for ended in pipeline.expire(at: .now) { end(ended, at: .now) }
        let now = Instant.now
        let isTrusted = clock.hasStood(
            for: memory.identities, offset: EventLoop.wallClockOffset, at: now.monotonicNanoseconds)
        // With no clock to trust nothing is too old; what is too many goes all the same, and the log is emptied.
        pipeline.forget(
            acceptedBefore: isTrusted ? now.unixMilliseconds - memory.identities.milliseconds : .min,
            buriedBefore: isTrusted ? now.unixMilliseconds - memory.deadTokens.milliseconds : .min)
        scheduleCommit()
        housekeeping.start(after: Dispatcher.housekeepingInterval)
    }

    /// The credentials of these lanes are new, or something else was mended: what was blocked is tried at once.
    package func resume(_ lanes: [LaneID]) {
        for runner in lanes.compactMap({ runners[$0] }) {
            pipeline.resume(lane: runner.index)
            pump(runner)
        }
    }

    // MARK: Stopping

    /// Returns once the outbox has done what was asked of it before: it hangs as long as this does.
    package func waitForOutbox() async {
        _ = try? await outbox.notifications([])
    }

    /// Takes nothing more, lets requests on their way and the running commit end, and closes the outbox. What is not
    /// delivered then stays in it.
    package func stop(deadline: Duration = .seconds(10)) async {
        isStopping = true
        housekeeping.stop()
        for runner in runners.values { runner.gateway.stop() }
        let end = ContinuousClock.now + deadline
        while inFlight > 0 || isCommitting || pipeline.hasChanges, ContinuousClock.now < end {
            startCommitting()
            try? await Task.sleep(for: .milliseconds(10))
        }
        isClosed = true
        await outbox.close()
    }

    // MARK: What the operator may see

    package var waiting: Int { pipeline.waiting }
    package var waitingBytes: Int { pipeline.waitingBytes }
    package var limits: Admission.Limits { pipeline.limits }
    package var deadTokens: Int { pipeline.deadTokenCount }
    package var lanes: [Lane] { pipeline.lanes }
    /// Like ``lanes``. Looks at everything that waits.
    package var queues: [Pipeline.Queue] { pipeline.queues() }
    package var counters: Counters {
        Counters(doors: doors.map(\.figures), lanes: laneFigures, commits: commitFigures)
    }
}

/// A lane with its gateway.
@EventLoop
private final class LaneRunner {
    let lane: LaneID
    let index: Int
    let gateway: any Gateway
    var timer: Timer!
    var isLoading = false
    var trouble = LaneTrouble()

    init(lane: LaneID, index: Int, gateway: any Gateway) {
        self.lane = lane
        self.index = index
        self.gateway = gateway
    }
}
