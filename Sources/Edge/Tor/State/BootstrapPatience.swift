/// The patience with a tor on its way into the network, by what it says of its bootstrap.
struct BootstrapPatience {
    /// The last word of tor; `nil`: it has said nothing yet.
    private(set) var last: Bootstrap?

    private let begun: ContinuousClock.Instant
    private let limit: Duration
    private var changedAt: ContinuousClock.Instant

    /// The time for which a tor may do nothing before it has reached any relay.
    private static let firstAnswer = Duration.seconds(20)

    /// Begins to wait, for this time at most.
    init(within limit: Duration, at now: ContinuousClock.Instant) {
        self.limit = limit
        begun = now
        changedAt = now
    }

    /// Takes what tor says of its bootstrap.
    ///
    /// - Returns: Whether that is news.
    mutating func take(_ bootstrap: Bootstrap, at now: ContinuousClock.Instant) -> Bool {
        guard bootstrap != last else { return false }
        last = bootstrap
        changedAt = now
        return true
    }

    /// Whether tor has taken too long. Before the first relay has answered there is nothing that takes long.
    func isOver(at now: ContinuousClock.Instant) -> Bool {
        let patience = (last?.progress ?? 0) < 10 ? Self.firstAnswer : limit
        return now >= min(begun + limit, changedAt + patience)
    }
}
