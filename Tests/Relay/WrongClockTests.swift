import Clocks
import Testing
import Vectors

@testable import Relay

/// Starts with a clock that is wrong.
@Suite struct WrongClockTests {
    private static let hour = Duration.seconds(3600)
    private let start = Sample.start.unix

    private func row(_ sequence: Int64, lifetime: Duration) -> WaitingRow {
        WaitingRow(
            sequence: sequence, lane: Node.android, token: Sample.digest("\(sequence)"), isUrgent: false,
            size: 100, attempts: 0, acceptedAt: start - .milliseconds(1000), notBefore: 0,
            expiresAt: start + lifetime)
    }

    private func body(_ sequence: Int64, lifetime: Duration) -> Notification {
        Notification(
            id: NotificationID(high: 0, low: UInt64(sequence)), lane: Node.android,
            deviceToken: DeviceToken(Sample.androidToken), message: Sample.message, isUrgent: false,
            hasSound: false, isMutableContent: false, isContentAvailable: false,
            expiresAt: start + lifetime, acceptedAt: start - .milliseconds(1000))
    }

    /// A process that begins with its clock so many hours ahead of the last trusted time: one waits that has two hours to
    /// live, and one that has a year.
    private func node(ahead hours: Int64) -> Node {
        let node = Node()
        node.now.unix = node.now.unix + Self.hour * hours
        var content = OutboxContent(
            waiting: [row(1, lifetime: Self.hour * 2), row(2, lifetime: Self.hour * 9000)])
        content.clock = ClockRecord(trusted: start)
        node.pipeline.start(content, at: node.now, clockOffset: node.now.offset)
        return node
    }

    /// The housekeeping of so many seconds; what ended in it.
    private func pass(_ seconds: Int, _ node: Node) -> [Pipeline.End] {
        var ends: [Pipeline.End] = []
        for _ in 0..<seconds / 15 {
            node.pass(.seconds(15))
            _ = node.takeEffects()
            node.pipeline.wake(at: node.now, clockOffset: node.now.offset)
            ends += node.takeEnds()
        }
        return ends
    }

    /// Of each housekeeping: from which time on identities are forgotten.
    private func forgotten(_ node: Node) -> Set<UnixTime> {
        Set(node.take().compactMap { if case .forget(let before, _, _) = $0 { before } else { nil } })
    }

    private func load(_ node: Node) {
        guard case .load(let sequences) = node.next() else { return #expect(Bool(false)) }
        #expect(sequences == [1, 2])
        node.loaded(
            [1: body(1, lifetime: Self.hour * 2), 2: body(2, lifetime: Self.hour * 9000)], of: sequences)
    }

    /// 25 hours ahead, and put right 25 seconds later: three ended expired, one was delivered twice.
    @Test func aClockThatIsSetRightSoonAfterTheStartEndsNothing() {
        let node = node(ahead: 25)
        load(node)
        // Nothing is handed on as if it had no time left.
        #expect(node.next() == .ended)
        #expect(node.send()?.sequence == 2)
        #expect(pass(30, node).isEmpty)
        node.now.unix = node.now.unix - Self.hour * 25
        #expect(pass(60, node).isEmpty)
        #expect(forgotten(node) == [.min])
        #expect(node.send()?.sequence == 1)
    }

    /// The machine was off for 25 hours.
    @Test func aClockThatWasRightAfterAllIsBelievedWhenItHasStood() {
        let node = node(ahead: 25)
        #expect(pass(585, node).isEmpty)
        #expect(forgotten(node) == [.min])
        #expect(pass(15, node).map(\.sequence) == [1])
        let day = Pipeline.Memory().identities
        #expect(forgotten(node) == [node.now.unix - day])
    }

    /// What a clock that was ahead has set down is forgotten by one that has been right for a day.
    @Test func whatAClockAheadHasSetDownGoesADayAfterItWasSetRight() {
        func latest(_ node: Node) -> UnixTime? {
            node.take().compactMap { if case .forget(_, _, let latest) = $0 { latest } else { nil } }.last
        }
        let node = Node()
        node.pipeline.start(OutboxContent(), at: node.now, clockOffset: node.now.offset)
        node.now.unix = node.now.unix + Self.hour * 9000
        _ = pass(60, node)
        #expect(latest(node) == .max)
        node.now.unix = node.now.unix - Self.hour * 9000
        _ = pass(86_400, node)
        #expect(latest(node) == .max)
        _ = pass(30, node)
        #expect(latest(node) == node.now.unix + .seconds(1200))
    }

    /// A board without a battery: all that came before seems to be of a clock that was ahead.
    @Test func aClockThatIsBehindAtTheStartForgetsNothing() {
        let node = node(ahead: -9000)
        for _ in 0..<100 {
            _ = pass(600, node)
            #expect(
                node.take().allSatisfy {
                    guard case .forget(let before, _, let latest) = $0 else { return true }
                    return before == .min && latest == .max
                })
        }
    }

    @Test func aStartThatTakesMinutesIsNoReasonToDoubt() {
        let node = Node()
        node.now.unix = node.now.unix + .seconds(540)
        var content = OutboxContent(waiting: [row(1, lifetime: .seconds(60))])
        content.clock = ClockRecord(trusted: start)
        node.pipeline.start(content, at: node.now, clockOffset: node.now.offset)
        #expect(node.expire().map(\.sequence) == [1])
    }

    /// Each process leaves to the next what time it is.
    @Test func theLastTrustedTimeGoesOnWhileTheClockIsDoubted() {
        let node = node(ahead: 25)
        _ = pass(30, node)
        let records = node.take().compactMap { if case .clock(let record) = $0 { record } else { nil } }
        func record(after seconds: Int64) -> ClockRecord {
            let time = start + .seconds(seconds)
            // What it accepts is dated by its own clock, which nobody has confirmed.
            let dates = UnconfirmedDates(
                behind: 2, since: start + Self.hour * 25, until: time + Self.hour * 25)
            return ClockRecord(trusted: time, setAt: time, unconfirmed: dates)
        }
        #expect(records.last == record(after: 30))
        node.now.unix = node.now.unix - Self.hour * 25
        _ = pass(15, node)
        let later = node.take().compactMap { if case .clock(let record) = $0 { record } else { nil } }
        #expect(later.last == record(after: 45))
    }

    /// A day's repetitions are known for a day after the clock was set, also over a restart.
    @Test func aClockThatWasSetBeforeTheStartForgetsNothingForADay() {
        let node = Node()
        var content = OutboxContent()
        content.clock = ClockRecord(trusted: start, setAt: start - Self.hour * 23)
        node.pipeline.start(content, at: node.now, clockOffset: node.now.offset)
        _ = pass(3600, node)
        #expect(forgotten(node) == [.min])
        _ = pass(15, node)
        #expect(forgotten(node).first ?? 0 > 0)
    }

    /// The clock is set ahead for a while, and the process is killed soon after the first thing that it took by that clock.
    @Test func thatTheClockWasSetIsWrittenWithTheFirstThingAcceptedSince() {
        func record(_ changes: [OutboxChange]) -> ClockRecord? {
            changes.compactMap { if case .clock(let record) = $0 { record } else { nil } }.last
        }
        func isStoring(_ changes: [OutboxChange]) -> Bool {
            changes.contains { if case .store = $0 { true } else { false } }
        }
        let node = Node()
        node.pipeline.start(OutboxContent(), at: node.now, clockOffset: node.now.offset)
        _ = pass(15, node)
        _ = node.take()
        node.pass(.seconds(1))
        node.now.unix = node.now.unix + Self.hour
        _ = node.submit(Sample.android("1"))
        let failed = node.begin()
        #expect(isStoring(failed))
        #expect(record(failed)?.setAt == start + .seconds(16))
        // Nothing of it was written; what comes next has its time from the same clock.
        node.pipeline.commitFailed(.full, at: node.now)
        _ = node.submit(Sample.android("2"))
        node.pass(.seconds(2))
        let next = node.begin()
        #expect(isStoring(next))
        #expect(record(next)?.setAt == start + .seconds(16))
        node.commit([.stored(sequence: 1)])
        // What is known is not written again with each.
        _ = node.submit(Sample.android("3"))
        #expect(record(node.begin()) == nil)
    }

    // MARK: Agreement

    private func hear(_ node: Node, hoursAhead hours: Int64) {
        node.pipeline.hear(
            ToldTime(
                unix: start + Self.hour * hours,
                monotonic: Sample.start.monotonic), at: node.now)
    }

    /// The machine was off for 25 hours, and a push service says so.
    @Test func aClockThatSomebodyAgreesWithIsBelievedAtOnce() {
        let node = node(ahead: 25)
        #expect(pass(30, node).isEmpty)
        hear(node, hoursAhead: 25)
        #expect(!node.isClockDoubted)
        _ = node.take()
        #expect(pass(15, node).map(\.sequence) == [1])
        let day = Pipeline.Memory().identities
        #expect(forgotten(node) == [node.now.unix - day])
    }

    /// The clock is wrong: what it is told ends no doubt.
    @Test func aClockThatNobodyAgreesWithIsDoubted() {
        let node = node(ahead: 25)
        hear(node, hoursAhead: 0)
        #expect(pass(30, node).isEmpty)
        #expect(node.isClockDoubted)
        #expect(forgotten(node) == [.min])
    }

    /// Tor's view of the network is up to three hours old: what was over then has ended, and no more is known.
    @Test func whatWasOverAtAToldTimeEnds() {
        let node = node(ahead: 25)
        hear(node, hoursAhead: 1)
        #expect(pass(30, node).isEmpty)
        hear(node, hoursAhead: 22)
        #expect(node.isClockDoubted)
        #expect(pass(15, node).map(\.sequence) == [1])
        #expect(forgotten(node) == [.min])
        // An older word takes nothing back, and one from the future goes no further than the clock.
        hear(node, hoursAhead: 1)
        #expect(node.isClockDoubted)
        hear(node, hoursAhead: 9000)
        #expect(!node.isClockDoubted)
        #expect(pass(15, node).isEmpty)
    }

    @Test(arguments: [Int64.min, .max]) func aToldTimeBeyondAllSenseIsNoTrap(time: Int64) {
        let node = node(ahead: 25)
        node.pipeline.hear(ToldTime(unix: UnixTime(milliseconds: time), monotonic: -1), at: node.now)
        node.pipeline.hear(ToldTime(unix: UnixTime(milliseconds: time), monotonic: 1), at: node.now)
        node.pipeline.hear(
            ToldTime(unix: UnixTime(milliseconds: time), monotonic: MonotonicTime(nanoseconds: 1 << 62)),
            at: node.now)
        #expect(pass(15, node).count <= 1)
    }
}
