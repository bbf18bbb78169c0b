import Clocks
import Encodings
import Figures
import Logging
import Outbound
import Reactor
import Relay

/// Carries out what the ``Relay/Pipeline`` decides: commits to the outbox, sends by the gateways, answers the doors.
///
/// Each event goes to the pipeline; its effects are carried out at once, in their order.
@EventLoop
package final class Dispatcher {
    /// The function that gives a sender its receipt. It is called once. If the sender awaits an outcome that is not known
    /// then, it is called again with the outcome, and before that with ``Relay/Receipt/held(reason:)`` each time the
    /// operator's help is needed first.
    package typealias Reply = @EventLoop (Receipt) -> Void

    /// The node around a dispatcher. By default it makes no gateway, hears nothing and knows no time.
    package struct Surroundings {
        /// Makes a gateway for a lane to an origin; `nil`: there can't be one.
        package var makeGateway: @EventLoop (LaneID) -> (any Gateway)? = { _ in nil }
        /// Called when a gateway has refused what somebody brought, or called its device dead.
        package var onRefusal: @EventLoop (SenderID) -> Void = { _ in }
        /// Called with the reason why nothing can be stored any more before a start anew; perhaps more than once.
        package var onStoreTaken: @EventLoop (String) -> Void = { _ in }
        /// Returns the time as tor knows it.
        package var torTime: @EventLoop () -> ToldTime? = { nil }

        package init() {}
    }

    let surroundings: Surroundings
    /// Called whenever something may have come, gone out or changed.
    @exclusivity(unchecked) package var onActivity: (@EventLoop () -> Void)?

    // The core calls nothing that could come back here, so exclusivity needs no check at run time.
    @exclusivity(unchecked) var pipeline: Pipeline
    @exclusivity(unchecked) var tally = Tally()
    /// The last rings.
    @exclusivity(unchecked) package internal(set) var rings = Rings()
    /// The numbers of the phones in the book by the digests of their device tokens.
    package internal(set) var phones: [Digest: Int64] = [:]
    /// The names of mailboxes by the digests of the device tokens that led to them.
    var mailboxes: [Digest: String] = [:]
    @exclusivity(unchecked) private var replies = Replies()
    /// The gateways by the indices of their lanes.
    @exclusivity(unchecked) var gateways: [(any Gateway)?] = []
    @exclusivity(unchecked) private var effects: [Effect] = []
    let outbox: any Outbox
    let digester: SubmissionDigester
    let log: Logger
    private var random = SystemRandomNumberGenerator()
    var clockError: Duration = .zero
    /// Milliseconds of this machine's clock less those of one that nobody sets, when clocks were compared last.
    var machineOffset: Int64 = 0
    /// The lock for which a read of the outbox has waited in vain, until one succeeds.
    var lockFault: OutboxError?

    private var isExecuting = false
    private(set) var isStopping = false
    private var whenStopped: [CheckedContinuation<Void, Never>] = []

    private let commitSoon = WhenIdle(patience: Dispatcher.longestGathering)
    private let pumpSoon = EndOfTurn()
    /// Gateways of lanes that are gone or have given way.
    private var closing: [any Gateway] = []
    private let closeSoon = EndOfTurn()
    private let alarm = Timer()
    /// `.max`: the alarm is not set.
    private var alarmAt = MonotonicTime.max
    /// The time from which on those who know the time are asked again.
    var hearAt = MonotonicTime.longAgo
    private var stirred: [Int] = []

    /// The longest time for which a busy loop gathers for one commit what it has to do anyway.
    private static let longestGathering: Duration = .milliseconds(2)

    package init(
        pipeline: consuming Pipeline, outbox: any Outbox, digester: SubmissionDigester, log: Logger,
        in surroundings: Surroundings = Surroundings()
    ) {
        self.surroundings = surroundings
        self.pipeline = pipeline
        self.outbox = outbox
        self.digester = digester
        self.log = log
        commitSoon.action = { [unowned self] in commit() }
        pumpSoon.action = { [unowned self] in pump() }
        closeSoon.action = { [unowned self] in
            for gateway in closing { gateway.stop() }
            closing.removeAll()
        }
        alarm.action = { [unowned self] in wake() }
    }

    /// Takes over what waited when the last process ended, and begins to deliver.
    ///
    /// - Returns: How many notifications wait.
    @discardableResult
    package func start() async throws(OutboxError) -> Int {
        let content = try await outbox.content()
        if let nodes = content.nodes { takeClock(toBe: nodes.clockError) }
        pipeline.start(content, at: .now, clockOffset: EventLoop.wallClockOffset)
        let waiting = pipeline.waiting
        note(content.takenOver)
        execute()
        pump()
        return waiting
    }

    // MARK: Events

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
        let now = Instant.now
        let submitted = pipeline.submit(
            submission, from: door.index, awaitsOutcome: awaitsOutcome, at: now,
            digests: { digester(submission, to: $0) })
        switch submitted {
        case .answered(let receipt):
            let isProbe = receipt.isRefusal && pipeline.isOfNobody(submission.deviceToken)
            door.count(receipt, isProbe: isProbe, after: (EventLoop.now - now.monotonic).nanoseconds)
            if !isProbe { noteRefusal(receipt, at: door.index) }
            reply(receipt)
            execute()
            return nil
        case .storing(let sender, let id):
            replies.add(reply, of: sender)
            execute()
            return id
        }
    }

    /// Takes the ends of notifications that a gateway kept; they are written down already.
    package func keptEnded(_ ends: [KeptEnd], in lane: LaneID) {
        let lane = pipeline.lane(of: lane)
        let now = EventLoop.now
        for end in ends {
            // Not its latency: that is the phone's.
            if let lane { tally.lanes[lane].count(end.ending, at: now) }
            rings.end(end.sequence, end.ending, at: EventLoop.unixTime)
            pipeline.keptEnded(end.sequence, end.ending)
        }
        execute()
    }

    /// Called when another node says that it has put something into the outbox for this one.
    package func arrivalsNotified() {
        pipeline.arrivalsNotified(at: .now)
        execute()
    }

    private func wake() {
        alarmAt = .max
        if pipeline.isClockToBeConfirmed, EventLoop.now >= hearAt { hearTheTime() }
        pipeline.wake(at: .now, clockOffset: EventLoop.wallClockOffset)
        execute()
    }

    private func commit() {
        guard let changes = pipeline.beginCommit(at: .now) else { return }
        let isAwaited = pipeline.isCommitAwaited
        Task {
            do throws(OutboxError) {
                let results = try await outbox.commit(changes, isAwaited: isAwaited)
                pipeline.committed(results, at: .now)
            } catch {
                tally.commits.failed += 1
                pipeline.commitFailed(error, at: .now)
            }
            execute()
        }
    }

    private func pump() {
        pipeline.takeStirred(&stirred)
        for lane in stirred {
            if let gateway = gateways[lane] { pump(lane, gateway) }
        }
        stirred.removeAll(keepingCapacity: true)
    }

    func pump(_ lane: Int, _ gateway: any Gateway) {
        let room = gateway.capacity
        if room == 0, pipeline.lanes[lane].hasSome { gateway.noteBacklog() }
        pipeline.pump(lane, room: room, hasFault: gateway.fault != nil, at: .now)
        execute()
    }

    // MARK: Effects

    /// Carries out the effects of an event. One that goes to a sender or a gateway may bring the next event: its effects
    /// come after these.
    func execute() {
        guard !isExecuting else { return }
        isExecuting = true
        var effects: [Effect] = []
        swap(&effects, &self.effects)
        var rest = pipeline.takeEffects(into: &effects)
        while !effects.isEmpty {
            for index in effects.indices {
                // Moved out: an element of an array that is read is copied.
                var effect = Effect.commitSoon
                swap(&effect, &effects[index])
                run(effect)
            }
            effects.removeAll(keepingCapacity: true)
            rest = pipeline.takeEffects(into: &effects)
        }
        self.effects = effects
        isExecuting = false
        if rest.hasStirred { pumpSoon.schedule() }
        if rest.wakeAt != alarmAt { setAlarm(to: rest.wakeAt) }
        onActivity?()
    }

    private func setAlarm(to time: MonotonicTime) {
        alarmAt = time
        guard time < .max else { return alarm.stop() }
        alarm.start(after: max(.zero, time - EventLoop.now))
    }

    private func run(_ effect: Effect) {
        switch effect {
        case .tell(let sender, let receipt, let isLast):
            let reply = isLast ? replies.take(sender) : replies.reply(of: sender)
            reply?(receipt)
        case .drop(let sender): _ = replies.take(sender)
        case .send(let handle, let notification, let lane): send(handle, notification, lane)
        case .load(let sequences, let lane): load(sequences, lane)
        case .claim(let claim): self.claim(claim)
        case .divide(let request): divide(request)
        case .commitSoon: commitSoon.schedule()
        case .stopped:
            for waiting in whenStopped { waiting.resume() }
            whenStopped = []
        case .refused(let sender): surroundings.onRefusal(sender)
        case .laneOpened(let lane):
            tally.open(lane)
            openOrigin(lane)
        case .laneClosed(let lane, let shown): close(lane, shown: shown)
        case .ended(let end):
            tally.count(effect)
            if !end.isProbe { note(end.leaving, Rings.Ring.Outcome(end.ending), end.ending.reason?.code) }
        case .kept(let leaving):
            tally.count(effect)
            note(leaving, .kept)
        case .received(let receipt, let isRepetition, let door, _):
            tally.count(effect)
            if !isRepetition { noteRefusal(receipt, at: door) }
        case .neverStored, .deferred, .committed: tally.count(effect)
        case .outboxFailed(.taken(let reason)):
            effect.write(to: log, of: pipeline.lanes)
            surroundings.onStoreTaken(reason)
        case .blocked, .unblocked, .trouble, .outboxFailed, .outboxRecovered, .shared, .clockSet:
            effect.write(to: log, of: pipeline.lanes)
        }
    }

    /// Stops a gateway, not at once: it may be telling an answer of its own.
    func stopSoon(_ gateway: any Gateway) {
        closing.append(gateway)
        closeSoon.schedule()
    }

    private func send(_ handle: Pipeline.Handle, _ notification: Notification, _ lane: Int) {
        tally.lanes[lane].attempts += 1
        let answered: @EventLoop (Outcome) -> Void = { [self] outcome in
            pipeline.attemptEnded(handle, outcome, at: .now, using: &random)
            execute()
        }
        guard let gateway = gateways[lane] else {
            // It went away in this turn: the lane has it back.
            return answered(.deferred(Deferral(.removed, scope: .device, isUnharmed: true)))
        }
        gateway.send(notification, completion: answered)
    }

    // MARK: Stopping

    /// Takes nothing more, lets requests on their way and the running commit end, and closes the outbox. What is not
    /// delivered then stays in it.
    package func stop(deadline: Duration = .seconds(10)) async {
        isStopping = true
        for gateway in gateways { gateway?.stop() }
        await withCheckedContinuation { stopped in
            whenStopped.append(stopped)
            pipeline.stop(at: .now, deadline: EventLoop.now + deadline)
            execute()
        }
        await outbox.close()
    }
}
