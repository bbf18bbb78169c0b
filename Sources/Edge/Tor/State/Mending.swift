import Clocks

/// The steps for a service that can't be reached, and their times: it is given to tor anew, then a tor of our own is
/// started anew, and that again ever rarer. Tor finds its own way back from most outages, and each new start of it costs
/// the clients that still get through their connections.
struct Mending: Equatable, Sendable {
    enum Step: Equatable, Sendable {
        case publishAgain
        case restartTor
    }

    private let ownsTor: Bool
    /// The pauses after the second step and the later ones.
    private let pauses: Backoff
    private var taken = 0
    private var notBefore = MonotonicTime.longAgo

    /// Makes the steps, the first of which is due at once.
    ///
    /// - Parameters:
    ///   - ownsTor: whether tor is ours alone: a tor that others use too is never started anew.
    ///   - firstPause: the pause after the second step; each pause is twice the one before, up to an hour.
    init(ownsTor: Bool, firstPause: Duration) {
        self.ownsTor = ownsTor
        pauses = Backoff(first: firstPause, longest: .seconds(3600))
    }

    /// Returns the step that is due; `nil`: what was done last needs more time.
    ///
    /// - Parameter isTorAmiss: whether tor itself is amiss, so that the first step is of no use.
    mutating func next(at now: MonotonicTime, isTorAmiss: Bool) -> Step? {
        guard now >= notBefore else { return nil }
        if isTorAmiss, ownsTor { taken = max(taken, 1) }
        defer { taken += 1 }
        guard taken > 0 else { return .publishAgain }
        notBefore = now + pauses.bound(doubled: taken - 1)
        return ownsTor ? .restartTor : .publishAgain
    }

    /// Begins anew with the first step: the service is there again, and the next trouble is a new one.
    mutating func succeeded() {
        taken = 0
        notBefore = .longAgo
    }
}
