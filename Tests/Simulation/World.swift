import Clocks
import Vectors

@testable import Relay

/// The pipeline between senders, an outbox and gateways that all misbehave, on a clock that jumps. One seed is one
/// history. After each step the books must balance.
final class World {
    struct Commit {
        var changes: [OutboxChange]
        /// What the outbox answers; `nil` until it has taken the changes.
        var results: [StoreResult]?
        /// Senders that wait for it, and those of them who take no place.
        var submissions: Int
        var lookups: Int
        /// Those that went out before.
        var late: Int
    }

    struct Attempt {
        let handle: Pipeline.Handle
        let lane: LaneID
        let notification: Notification
        let token: Digest
        let verdict: ModelGateway.Verdict
        /// The time of the answer, where answers have their time.
        let answeredAt: MonotonicTime
    }

    let canary: Canary?
    let scale: WorldScale
    let isCrowd: Bool
    /// Little waits, and answers come within a window: most goes out before it is stored.
    let isQuiet: Bool
    /// Nobody ever confirms the clock: what is accepted goes with it, however it is set.
    let isNeverTold: Bool
    var random: SeededRandom
    var now = Instant(unix: UnixTime(milliseconds: 20_000 * 86_400_000), monotonic: 1_000_000_000_000)
    var pipeline: Pipeline
    var outbox = ModelOutbox()
    /// A real store that does the same; `nil`: none does.
    let beside: StoreBeside?
    var gateway = ModelGateway()
    var books = Books()
    var senders = ModelSenders()
    var atOnce = AtOnce()
    private(set) var violation: String?
    var steps = 0
    private(set) var crashes = 0
    var stops = 0
    /// Lanes to origins that went.
    var closings = 0
    /// Lanes to origins that gave their gateway to another one.
    var parkings = 0

    /// Submissions that wait for a commit that has not begun.
    var submissions = 0
    var lookups = 0
    var isCommitAsked = false
    var commit: Commit?
    var loads: [LaneID: [Int64]] = [:]
    /// With what the outbox has handed out; `nil` until it has.
    var claims: [(claim: Claim, claimed: Claimed?)] = []
    var attempts: [Attempt] = []
    /// Lanes that have their gateway.
    var present: Set<LaneID> = []
    /// Whose lane came to be at which place.
    var originAt: [Int: LaneID] = [:]
    var isStopping = false
    var hasStopped = false
    var hasFaults = true
    /// No commit succeeds and nothing can be read.
    var isDiskBroken = false
    var submitted: [Submission] = []
    var nextUid = 0
    /// When each submission will have lapsed, as told when it came, by its identity.
    var deadlines: [Digest: MonotonicTime] = [:]
    /// What waited at the last start, in all and of one device: what was accepted is taken over beyond every limit.
    var restored = 0
    var restoredOfOne = 0
    /// Taken in an attempt whose answer the node got: never to be taken again, whoever submits it again, unless a crash
    /// undid the answer, or until the outbox was told to forget it.
    var settled: Set<NotificationID> = []
    /// The id under which each sequence number is sent.
    var ids: [Int64: NotificationID] = [:]
    /// How often in a row each came back unhandled.
    var returns: [Int64: Int] = [:]
    /// Ends that a failed commit held: for the canary that forgets them.
    var swallowed: Set<Int64> = []
    /// What gateways keep, as far as the node has heard of it, and what it has not.
    var kept: [Int64] = []
    var keptUnheard: [Int64] = []
    var shares = Shares()
    /// Who brought what is on its way into the outbox, by its identity.
    var bringers: [Digest: SenderID] = [:]
    /// The most that a lane had after the operator moved another one's there.
    var moved = 0

    // The crowd's.
    /// A lane that one circuit floods, and one whose service has trouble.
    var flooded: Int?
    var trouble: LaneID?
    /// The time at which something happened to a lane last.
    var disturbedAt: [LaneID: MonotonicTime] = [:]
    /// By sequence number.
    var healthySince: [Int64: Healthy] = [:]
    /// Healthy phones whose last request failed.
    var putOff: Set<Digest> = []
    var healthyLeft = 0
    var longestCalmWait = Duration.zero

    static let android = LaneID(app: "android", host: .production)
    static let lanes = [
        android, LaneID(app: "ios", host: .production), LaneID(app: "ios", host: .sandbox),
    ]
    static let deviceTokens = (0..<7).map { String(repeating: "0\($0)", count: 32) }
    /// Three of Android's are one name's.
    static let alias = PhoneBook.alias(String(repeating: "A", count: 96))
    static let phoneBook = PhoneBook(
        deviceTokens.prefix(3).enumerated().map {
            PhoneBook.Phone(
                number: Int64($0) + 1, name: "alice", platform: .android, deviceToken: DeviceToken($1))
        }, aliases: ["alice": alias])
    static let memory: Pipeline.Memory = {
        var memory = Pipeline.Memory()
        memory.identities = .seconds(1800)
        memory.deadTokens = .seconds(3600)
        return memory
    }()

    init(
        seed: UInt64, canary: Canary? = nil, isCrowd: Bool = false, isQuiet: Bool = false,
        isNeverTold: Bool = false, beside: StoreBeside? = nil
    ) {
        self.canary = canary
        self.beside = beside
        self.isCrowd = isCrowd
        self.isQuiet = isQuiet
        self.isNeverTold = isNeverTold
        scale = isCrowd ? .crowd : .few
        pipeline = scale.pipeline()
        random = SeededRandom(state: seed)
        outbox.stopsAtTheFirst = canary == .stopsForgettingAtTheFirst
        start()
    }

    func fail(_ what: String) { if violation == nil { violation = "step \(steps): \(what)" } }
    func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// A whole history: up to a violation, or with a peaceful end in which everything comes to its own.
    func run(steps most: Int = .max) {
        while steps < min(scale.stepsPerHistory, most), violation == nil {
            if isCrowd { crowdStep() } else { step() }
        }
        if violation == nil { drain() }
    }

    /// One event, and the books.
    func step() {
        steps += 1
        switch draw(1000) {
        case 0..<260: if !isQuiet || draw(4) == 0 { submit() }
        case 260..<370: beginCommit()
        case 370..<390: takeCommit()
        case 390..<500: endCommit(succeeds: !hasFaults || draw(8) > 0 && !isDiskBroken)
        case 500..<660: pump()
        case 660..<805: answer()
        case 805..<820: fetch()
        case 820..<845: endLoad(succeeds: !hasFaults || draw(5) > 0 && !isDiskBroken)
        case 845..<855: takeClaim()
        case 855..<910: endClaim(succeeds: !hasFaults || draw(5) > 0 && !isDiskBroken)
        case 910..<950: pass(.milliseconds(draw(isQuiet ? 120 : 3000)))
        case 950..<965: if !isQuiet || draw(4) == 0 { pass(.seconds(draw(600))) }
        case 965..<987: wake()
        case 987..<991: changeMood()
        case 991: resume(lanesNow[draw(lanesNow.count)])
        case 992: operate()
        case 993..<995: if hasFaults { jump() }
        case 995..<998: changeLane()
        case 998: if hasFaults, draw(3) == 0 { stop() }
        default: if hasFaults, draw(3) == 0 { crash() }
        }
        if hasStopped { crash() }
        check()
    }

    /// The operator has mended something.
    private func resume(_ lane: LaneID) {
        books.resumed(lane)
        pipeline.resume(lane, at: now)
    }

    /// A gateway comes or goes.
    private func changeLane() {
        let lane = lanesNow[draw(lanesNow.count)]
        if present.contains(lane) {
            guard hasFaults, draw(3) == 0 else { return }
            present.remove(lane)
            pipeline.remove(lane)
        } else {
            add(lane)
        }
        carryOut()
    }

    func add(_ lane: LaneID) {
        present.insert(lane)
        if pipeline.add(lane) == nil { fail("no room for \(lane)") }
    }

    private func stop() {
        guard !isStopping else { return }
        stops += 1
        isStopping = true
        if canary == .stopsWithoutStoring, atOnce.ones.values.contains(where: { !isLate($0) }) {
            pipeline.unstored = Unstored()
        }
        pipeline.stop(at: now, deadline: now.monotonic + .milliseconds(draw(10_000)))
        checkStop()
        if violation == nil { carryOut() }
    }

    /// What it was when the process began.
    private var startOffset: Int64 = 0
    /// By how many milliseconds the clock is ahead since the start, and when it is put right .
    var clockError: Int64 = 0
    var rightAt = MonotonicTime.max
    /// Milliseconds since 1970.
    var truth: Int64 { now.unix.milliseconds - clockError }
    /// The latest that it was in this process: the clock may be set back while a commit runs.
    var latestTruth: Int64 = 0
    /// Milliseconds since the beginning.
    var lived: Int64 = 0
    /// When each was submitted, by the time that the clock told; and those that were stored.
    var submittedAt: [Digest: [Int64: (truth: Int64, lived: Int64)]] = [:]
    var storedAt: [Digest: (truth: Int64, lived: Int64)] = [:]
    var clockOffset: Int64 { now.unix.milliseconds - now.monotonic.nanoseconds / 1_000_000 }

    /// When the last process ended by its clock, and for how long there was none.
    private var last: (end: MonotonicTime, wasDown: Duration)?

    /// The process' first time less what had been lived by then.
    private var axis: Int64 = 0
    /// What all restarts took for a step of the clock that was time: since the clock was written down last.
    var overMoved = Duration.zero

    /// The process is killed. A commit that ran has happened or has not; requests on their way are answered to nobody.
    func crash() {
        crashes += 1
        if commit != nil, draw(2) == 0 { takeCommit() }
        for attempt in attempts where attempt.verdict.isTaken && !attempt.verdict.isTakenOnArrival {
            if draw(2) == 0 { take(attempt) }
        }
        for sequence in keptUnheard { books.keep(sequence) }
        kept += keptUnheard
        keptUnheard = []
        commit = nil
        isCommitAsked = false
        isStopping = false
        hasStopped = false
        submissions = 0
        lookups = 0
        loads = [:]
        claims = []
        attempts = []
        returns = [:]
        swallowed = []
        shares = Shares()
        bringers = [:]
        for undone in books.undurable.values { settled.remove(undone.entry.notification.id) }
        // Nor is the yes to one that was on its way into the outbox.
        for identity in atOnce.unwritten.union(atOnce.ones.values.map(\.identity)) {
            settled.remove(NotificationID(high: identity.high, low: identity.low))
        }
        atOnce.crash()
        gateway.forgetUnstored()
        senders.crash()
        let end = now
        putClockRight()
        let wasDown = Duration.seconds(draw(100))
        last = (end.monotonic, wasDown)
        now.unix = now.unix + wasDown
        lived += wasDown.milliseconds
        now.monotonic = MonotonicTime(nanoseconds: Int64(draw(1_000_000_000)))
        startWithWrongClock()
        for lane in World.lanes { noteFault(lane) }
        let before = end.monotonic
        for sequence in healthySince.keys { healthySince[sequence]?.since.nanoseconds -= before.nanoseconds }
        books.crash { [now, startOffset, truth] wish in
            // As the clock of its start would have said it. One that was set back since prolongs nothing.
            let rest = min(
                wish.nanoseconds / 1_000_000 + startOffset - truth,
                (wish - end.monotonic).milliseconds - wasDown.milliseconds)
            return now.monotonic + .milliseconds(max(0, rest))
        }
        pipeline = scale.pipeline()
        start()
    }

    private func start() {
        latestTruth = truth
        // What was written before was written by a clock that was right.
        startOffset = clockOffset - max(0, clockError)
        outbox.restart()
        takeLastNumberBeside()
        let redating = canary == .keepsTheDatesOfAWrongClock ? nil : outbox.begin(at: now.unix)
        if let redating { overMoved += redating.by - .milliseconds(now.unix.milliseconds - axis - lived) }
        axis = now.unix.milliseconds - lived
        books.redate(redating)
        restartBeside()
        var content = outbox.content
        content.redating = redating
        if canary == .believesEveryClock { content.clock = nil }
        let waiting = outbox.rows.keys.sorted()
        present = []
        originAt = [:]
        // Gateways come before what waits, or after it.
        for lane in World.lanes where draw(3) == 0 { add(lane) }
        pipeline.start(content, at: now, clockOffset: clockOffset)
        for sequence in waiting where books.waiting[sequence] == nil {
            // Written down, but its sender never heard: it counts from now on.
            accept(sequence)
            books.countFromNow(sequence, isMoved: redating?.moves(sequence) ?? false)
        }
        let right = Instant(unix: UnixTime(milliseconds: truth), monotonic: now.monotonic)
        let longest = Validator.longestLifetime.milliseconds
        books.setDeadlines { [now, last] entry in
            guard entry.isByLife, entry.deadline < .max, let last else {
                // Dates that were moved are by the clock as it is.
                return (entry.isByLife ? now : right).deadline(entry.notification.expiresAt, within: longest)
            }
            return now.monotonic + (entry.deadline - last.end - last.wasDown)
        }
        restored = pipeline.waiting
        restoredOfOne = books.waiting.values.map { books.count(of: $0.token) }.max() ?? 0
        if waiting != books.waiting.keys.sorted() {
            fail("the outbox does not hold what waits")
        }
        for lane in World.lanes where !present.contains(lane) && (!hasFaults || draw(10) > 0) { add(lane) }
        carryOut()
    }
}
