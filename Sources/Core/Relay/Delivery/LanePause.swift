import Clocks

/// The pause of a lane while its gateway is suspected to be away: nothing for a while, then a few tries, then nothing for
/// longer.
///
/// Refusals of several devices may be the fault of these devices alone. So devices that have not failed yet try beside the
/// oldest: the newest notifications first, and before them those of senders without a failed device. However long the pause
/// is, a few may go in its middle (``probeAt``). One answer ends the pause. So no set of failing devices, of whatever size,
/// holds up the rest for longer than two of ``nextProbe``.
struct LanePause: Sendable {
    /// Pauses in a row without an answer between them.
    var count = 0
    /// The time since when the lane is not open.
    var beganAt: MonotonicTime = 0
    /// The time from which on a few of those that have not failed may try.
    private(set) var probeAt: MonotonicTime = 0
    /// The time before which the gateway surely wants nothing.
    private(set) var askedUntil: MonotonicTime = 0
    /// The time before which the gateway may want nothing.
    private var wishedUntil: MonotonicTime = 0
    /// The tries of now: when they began, how many have begun, and how many of them found that the gateway fails.
    private var triesAt: MonotonicTime = 0
    private(set) var tries = 0
    private var misses = 0
    /// Tries of the next probe.
    private var probes = LanePause.fewTries

    /// The longest time from the beginning of a pause to its first probe.
    static let firstProbe: Duration = .seconds(6)
    /// The time from a probe to the next.
    static let nextProbe: Duration = .seconds(12)
    /// Tries at the end of the first pause, and in the middle of each. Twice as many each time, up to ``mostTries``.
    static let fewTries = 3
    static let mostTries = 12
    /// Tries in the middle of the first pause. Three could all be of failing devices; then the healthy ones would wait for
    /// the next tries.
    static let firstTries = 6

    /// Tries at the end of this pause.
    private var most: Int { min(LanePause.fewTries << min(max(0, count - 1), 8), LanePause.mostTries) }

    /// Begins a pause.
    ///
    /// - Parameter doubts: See ``Suspicion/doubts``: all pauses for nothing together are not longer than two.
    mutating func began(at time: MonotonicTime, isFirst: Bool, doubts: Int) {
        count += 1
        if isFirst { beganAt = time }
        probeAt = time + LanePause.firstProbe / (1 << doubts)
        tries = 0
        probes = isFirst ? LanePause.firstTries : LanePause.fewTries
    }

    mutating func restored(count: Int, beganAt: MonotonicTime, at time: MonotonicTime) {
        self.count = count
        self.beganAt = beganAt
        probeAt = time + LanePause.firstProbe
        beginTries(at: time)
    }

    /// Notes the time until which the gateway wants nothing.
    mutating func wished(until time: MonotonicTime, isSure: Bool) {
        wishedUntil = max(wishedUntil, time)
        if isSure { askedUntil = max(askedUntil, time) }
    }

    mutating func forgetWishes() { (askedUntil, wishedUntil) = (0, 0) }

    mutating func beginTries(at time: MonotonicTime) {
        triesAt = time
        tries = 0
        misses = 0
    }

    var mayTry: Bool { tries < most }

    /// Whether the time of a probe has come.
    func isProbeDue(at time: MonotonicTime) -> Bool { time >= probeAt }

    /// Begins a probe of the gateway in the middle of the pause, if its time has come and no try of it is counted yet.
    ///
    /// - Returns: Whether a try of the probe may be sent now.
    mutating func beginProbe(at time: MonotonicTime) -> Bool {
        guard isProbeDue(at: time) else { return false }
        if tries == 0 { triesAt = time }
        return tries < probes
    }

    /// Counts a try that is on its way. With a long wish of the gateway's there are fewer.
    mutating func tried(at time: MonotonicTime, isProbe: Bool) {
        tries += 1
        guard isProbe, tries == probes else { return }
        probes = LanePause.fewTries
        let own = LanePause.nextProbe
        probeAt = time + (wishedUntil > time + own ? max(own, time - beganAt) : own)
        tries = 0
    }

    /// Gives back a try that began at that time: it says nothing of the gateway, and another one may begin.
    mutating func giveBack(begunAt: MonotonicTime) {
        if begunAt >= triesAt, tries > 0 { tries -= 1 }
    }

    /// Counts a try that began at that time and found that the gateway fails.
    ///
    /// - Returns: Whether all tries have found so.
    mutating func missed(begunAt: MonotonicTime) -> Bool {
        if begunAt >= triesAt { misses += 1 }
        return misses >= most
    }
}

extension Lane {
    /// Whether the lane is paused, and no probe of the gateway is due either.
    func isHeld(at time: MonotonicTime) -> Bool {
        guard case .paused = condition else { return false }
        return time < pause.askedUntil || !pause.isProbeDue(at: time)
    }
}
