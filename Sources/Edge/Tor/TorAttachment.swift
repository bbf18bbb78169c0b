import Reactor

/// A tor that the node has got hold of, and the service that this tor has.
struct TorAttachment {
    let link: TorLink
    /// The place at which this tor takes SOCKS connections; `nil`: it takes none.
    var socks: Endpoint?
    /// The service and its times; `nil` until tor has the service.
    private var serving: Serving?

    private struct Serving {
        var service: OnionService
        let since: ContinuousClock.Instant
        /// The time at which the upload of the last descriptor began.
        var uploadBegun: ContinuousClock.Instant
    }

    /// The life of a link after which the next wait is the shortest.
    private static let steadyTime = Duration.seconds(60)
    private static let uploadInterval = Duration.seconds(2)

    init(_ link: TorLink) { self.link = link }

    var service: OnionService? { serving?.service }

    /// Takes the service that tor has from now on; it replaces the one before.
    mutating func serve(_ service: OnionService, at now: ContinuousClock.Instant) {
        serving = Serving(service: service, since: serving?.since ?? now, uploadBegun: now)
    }

    mutating func uploadBegins(at now: ContinuousClock.Instant) { serving?.uploadBegun = now }

    /// Whether tor has served for so long that the next wait for one is the shortest.
    func isSteady(at now: ContinuousClock.Instant) -> Bool {
        serving.map { now - $0.since > Self.steadyTime } ?? false
    }

    /// Returns the time to wait before another descriptor. Directories refuse a descriptor of the same second as the one
    /// that they have, and tor doesn't try again soon.
    func pauseBeforeUpload(at now: ContinuousClock.Instant) -> Duration {
        serving.map { max(.zero, $0.uploadBegun + Self.uploadInterval - now) } ?? .zero
    }
}

/// Taking hold of a tor.
extension OnionPresence {
    func attach(_ link: TorLink) {
        attachment = TorAttachment(link)
        link.connection.onEnd = { [weak self] error in self?.lose(.connection(error)) }
    }

    func socks(of link: TorLink) async throws(ControlError) -> Endpoint? {
        if let socks = settings.socks { return socks }
        return try await link.socksEndpoint(within: settings.heartbeatDeadline)
    }
}
