/// The patience with a tor that is about to start or to end: it is tried again until that is over.
struct TorPatience {
    private let end: ContinuousClock.Instant

    init(for time: Duration, from now: ContinuousClock.Instant) { end = now + time }

    func isOver(at now: ContinuousClock.Instant) -> Bool { now >= end }
}
