import Clocks

/// The knowledge about the wall clock that outlives the process.
package struct ClockRecord: Equatable, Sendable {
    /// The last time at which the clock was trusted.
    package var trusted: UnixTime
    /// The time when the clock was set last; `nil`: never that is known of.
    package var setAt: UnixTime?
    /// The dates that nobody has confirmed; `nil`: all that is in the outbox was dated by a clock that was right.
    package var unconfirmed: UnconfirmedDates?

    package init(trusted: UnixTime, setAt: UnixTime? = nil, unconfirmed: UnconfirmedDates? = nil) {
        self.trusted = trusted
        self.setAt = setAt
        self.unconfirmed = unconfirmed
    }
}

/// The time according to somebody who knows it.
package struct ToldTime: Equatable, Sendable {
    /// The time that it was at least.
    package var unix: UnixTime
    /// The time when that was said.
    package var monotonic: MonotonicTime
    /// Whether the time was no later either, but for a few seconds.
    package var isExact: Bool

    package init(unix: UnixTime, monotonic: MonotonicTime, isExact: Bool = true) {
        self.unix = unix
        self.monotonic = monotonic
        self.isExact = isExact
    }

    /// The error of a clock that agrees: half of what makes the clock of a node in a shared store a wrong one.
    package static let error: Int64 = 15_000

    /// Whether a clock that has not been set since told about the same time at that moment.
    ///
    /// - Parameter error: milliseconds by which the two may differ.
    package func agrees(with now: Instant, within error: Int64 = ToldTime.error) -> Bool {
        let (age, isFarAway) = now.monotonic.nanoseconds.subtractingReportingOverflow(monotonic.nanoseconds)
        let (distance, isFarOff) = (now.unix.milliseconds - age / 1_000_000).subtractingReportingOverflow(
            unix.milliseconds)
        return isExact && !isFarAway && !isFarOff && distance.magnitude < error.magnitude
    }
}

/// Whether the wall clock can be trusted with what must not end or be forgotten too early.
///
/// A clock that jumps a day ahead for a few seconds would have all repetitions of the day taken for new. Once it has
/// stood for that time, what it calls older is older, whatever it said before. A clock that is far ahead, at the start, of
/// the time at which it was trusted last may be wrong until somebody sets it: a board without a battery, one in local
/// time, a machine that was asleep. It is doubted until it has stood for a while, or somebody says that it is about so late.
/// Where it is ahead by more than a week that while is a day: what waits is over then at once, and a machine that was off
/// for so long has network when it is to send anything, and so somebody who says so.
struct ClockWatch {
    /// A smaller step is none: milliseconds.
    static let step: Int64 = 60_000
    /// The distance from the last trusted time beyond which a clock has to prove itself: milliseconds. A
    /// start takes less.
    static let far: Int64 = 600_000
    /// The time for which a clock that is so far ahead has to stand.
    private static let proof: Duration = .seconds(600)
    /// The distance from the last trusted time beyond which it has to stand for longer: milliseconds.
    private static let veryFar: Int64 = 7 * 86_400_000
    private static let longProof: Duration = .seconds(86_400)

    private var offset: Int64
    /// The time since when the clock has stood.
    private var standsSince: MonotonicTime
    /// The time at which the clock was set; `nil`: never that is known of.
    private var setAt: MonotonicTime?
    /// ``offset`` as it was trusted last.
    private(set) var trustedOffset: Int64

    /// Makes a watch.
    ///
    /// - Parameters:
    ///   - offset: milliseconds of the wall clock less those of one that nobody sets.
    ///   - last: What the last process left; `nil`: there was none, and the clock is trusted.
    init(offset: Int64, at now: MonotonicTime = 0, last: ClockRecord? = nil) {
        self.offset = offset
        standsSince = now
        trustedOffset = offset
        guard let last else { return }
        let before = last.trusted.milliseconds.subtractingReportingOverflow(now.nanoseconds / 1_000_000)
        if !before.overflow { trustedOffset = before.partialValue }
        setAt = last.setAt.map {
            let ago = last.trusted.milliseconds.subtractingReportingOverflow($0.milliseconds)
            return now - .milliseconds(min(max(0, ago.overflow ? 0 : ago.partialValue), 1 << 40))
        }
        trustIfNear()
        // One that is far behind was set since: by it all that came last has yet to come.
        if !isNear, !isDoubted { setAt = now }
    }

    /// Whether the clock is far ahead of the time trusted last: what it says is over may not be.
    var isDoubted: Bool { offset.subtractingReportingOverflow(trustedOffset).partialValue > ClockWatch.far }

    /// Whether the clock says about what it said when it was trusted last.
    var isNear: Bool {
        offset.subtractingReportingOverflow(trustedOffset).partialValue.magnitude <= ClockWatch.far.magnitude
    }

    private mutating func trustIfNear() {
        if isNear { trustedOffset = offset }
    }

    /// Takes a reading of the clock, every few seconds.
    mutating func look(offset: Int64, at now: MonotonicTime) {
        if abs(offset - self.offset) > ClockWatch.step {
            setAt = now
            standsSince = now
        }
        self.offset = offset
        trustIfNear()
        let (ahead, isOverflow) = offset.subtractingReportingOverflow(trustedOffset)
        let proof = isOverflow || ahead > ClockWatch.veryFar ? ClockWatch.longProof : ClockWatch.proof
        if now - standsSince >= proof { trustedOffset = offset }
    }

    /// Trusts the clock as it is: somebody who knows the time has confirmed it.
    mutating func trust() { trustedOffset = offset }

    /// Takes a reading between the regular ones if the clock was set since the last one. The clock may be set back before the
    /// next regular reading, and notifications accepted meanwhile have its time.
    ///
    /// - Returns: Whether it was set.
    mutating func notice(offset: Int64, at now: MonotonicTime) -> Bool {
        let (step, isOverflow) = offset.subtractingReportingOverflow(self.offset)
        guard !isOverflow, step.magnitude > ClockWatch.step.magnitude else { return false }
        look(offset: offset, at: now)
        return true
    }

    /// Takes word from somebody that it is at least so late. A clock that is about so late is trusted.
    mutating func hear(_ told: ToldTime) {
        let least = told.unix.milliseconds.subtractingReportingOverflow(
            told.monotonic.nanoseconds / 1_000_000)
        guard isDoubted, !least.overflow, least.partialValue > trustedOffset else { return }
        trustedOffset = min(least.partialValue, offset)
        trustIfNear()
    }

    /// Whether what the clock calls older than that is older.
    func hasStood(for time: Duration, at now: MonotonicTime) -> Bool {
        !isDoubted && setAt.map { now - $0 > time } ?? true
    }

    func record(at now: MonotonicTime) -> ClockRecord {
        let trusted = UnixTime(milliseconds: now.nanoseconds / 1_000_000 + trustedOffset)
        // One that is neither trusted nor put right may be put right while no process sees it.
        guard isNear else { return ClockRecord(trusted: trusted, setAt: trusted) }
        return ClockRecord(trusted: trusted, setAt: setAt.map { trusted - (now - $0) })
    }
}
