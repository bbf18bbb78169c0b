import Logging
import Reactor

/// The node's place in the Tor network: keeps its onion service published, with a tor of its own or the system's.
///
/// Whatever ends the service (tor dies or restarts, the control connection breaks, no directory takes the descriptor),
/// it is published again under the same key, without an end to the attempts.
@EventLoop
package final class OnionPresence {
    package private(set) var state = OnionState.connecting
    /// Called with every new value of ``state``.
    package var onChange: (@EventLoop (OnionState) -> Void)?
    /// Called whenever clients can find a neighbour of ``OnionForm/neighbours``.
    package var onNeighbour: (@EventLoop (OnionAddress) -> Void)?
    /// The node's address, known from the return of ``start(_:beside:)`` on.
    package var address: OnionAddress? { key?.address }
    /// The place at which tor takes SOCKS connections, while there is a tor that does.
    package private(set) var socks: Endpoint?
    /// The figures of tor and the service, for whoever shows them.
    package var figures: TorFigures {
        var figures = counted
        figures.isConnected = link != nil
        figures.take(circuits)
        figures.selfDial = watch.selfDial.figures
        return figures
    }
    /// Whether calls to the own address say that nobody can reach it, however published it is. While other clients
    /// come in, it is the call that fails.
    package var isCutOff: Bool { watch.selfDial.isFailing && figures.isLonely }

    private let settings: Settings
    private var ports: [VirtualPort] = []
    var form: OnionForm
    let log: Logger
    let presenceLog: PresenceLog
    private var key: OnionKey?
    private(set) var link: TorLink?
    private(set) var service: OnionService?
    private var keeper: Task<Void, Never>?
    private var isStopping = false
    private var backoff: Backoff
    private var random = SystemRandomNumberGenerator()

    let watch: OnionWatch
    private var mending: Mending
    private var counted = TorFigures()
    var repeated = RepeatedLines()
    private(set) var circuits = CircuitBook()
    /// The time at which the upload of the last descriptor began.
    private var uploadBegun = ContinuousClock.now
    private var lossWaiter: UnsafeContinuation<Loss, Never>?

    /// The reason why the watch over a published service ends.
    enum Loss {
        /// Nothing is amiss: tor is to have it in another form, or has read its configuration anew.
        case form
        case connection(ControlError)
        /// Tor answers, but something is amiss, and this step is to be done about it.
        case amiss(OnionLoss, Mending.Step)
    }

    /// The life of a link after which the next wait is the shortest.
    private static let steadyTime = Duration.seconds(60)
    private static let uploadInterval = Duration.seconds(2)

    package init(_ settings: Settings, log: Logger) {
        self.settings = settings
        form = settings.form
        self.log = log
        presenceLog = PresenceLog(log: log)
        // To look for a tor that others start costs nothing.
        backoff = Backoff(
            first: .milliseconds(200), longest: .seconds(settings.source.isChild ? 30 : 3))
        mending = Mending(ownsTor: settings.source.isOurs, firstPause: settings.mendingPause)
        watch = OnionWatch(settings, presenceLog: presenceLog, log: log)
        watch.connection = { [unowned self] in link?.connection }
        watch.route = { [weak self] in await self?.selfDialRoute() }
        watch.onPulse = { [unowned self] pulse in counted.take(pulse) }
        watch.onAmiss = { [unowned self] loss in mend(loss) }
        watch.onWell = { [unowned self] in mending.succeeded() }
    }

    /// Gives the service to tor, and keeps it there from then on. Returns before clients can find it: watch ``state``.
    ///
    /// - Throws: ``OnionPresenceError``: what has to be put right by a person before a start can succeed, or a tor that
    ///   did not come up in ``Settings/startTime``.
    package func start(
        _ ports: [VirtualPort], beside neighbours: [NeighbourService] = []
    ) async throws(OnionPresenceError) {
        self.ports = ports
        form.neighbours = neighbours
        do { key = try settings.key.loadOrCreate() } catch { throw .key(error) }
        let end = ContinuousClock.now + settings.startTime
        var isToldToWait = false
        while true {
            do {
                try await establish()
                break
            } catch {
                guard !isStopping else { return }
                guard error.mayPassSoon(with: settings.source), ContinuousClock.now < end else {
                    throw .tor(error)
                }
                if !isToldToWait { log.notice("tor.waiting", metadata: ["reason": "\(error)"]) }
                isToldToWait = true
            }
            await pause(.milliseconds(500))
        }
        guard !isStopping else { return }
        watch.start()
        keeper = Task { [weak self] in await self?.keep() }
    }

    /// Takes the service back, so that no new client comes, then lets go of tor; ends a tor of our own.
    package func stop() async {
        guard !isStopping else { return }
        isStopping = true
        watch.stop()
        keeper?.cancel()
        if link != nil { try? await service?.withdraw() }
        if let link { _ = await link.close(because: .closed) }
        lose(.connection(.closed))
        await keeper?.value
        if let directory = form.directory { ServiceDirectory(path: directory).forgetKey() }
        for neighbour in form.neighbours { neighbour.directory?.forgetKey() }
        enter(.stopped)
    }

    // MARK: One service on one connection

    /// Connects to tor and publishes the service: from nothing to ADD_ONION's answer.
    private func establish() async throws(OnionLoss) {
        let link: TorLink
        switch settings.source {
        case .running(let endpoint, let credentials, _):
            link = try await .running(at: endpoint, credentials)
        case .own(let settings):
            link = try await .own(settings) { [weak self] line in self?.tell(line) }
            counted.torStarts += 1
        }
        guard !isStopping else { throw await link.close(because: .closed) }
        self.link = link
        link.connection.onEnd = { [weak self] error in self?.lose(.connection(error)) }
        link.connection.mayRest = { [weak self] in self?.knowsAllButCircuits ?? false }
        do {
            socks = try await socks(of: link)
            if form.directory != nil, link.process == nil { try await forgetFormerService(on: link) }
            try await publish(on: link)
        } catch {
            throw await drop(link, because: error)
        }
    }

    private func socks(of link: TorLink) async throws(ControlError) -> Endpoint? {
        if let socks = settings.socks { return socks }
        return try await link.socksEndpoint(within: settings.heartbeatDeadline)
    }

    private func publish(on link: TorLink) async throws(ControlError) {
        guard let key else { preconditionFailure("published before start") }
        let service = try await OnionService.publish(
            key: key, ports: ports, as: form, on: link.connection)
        self.service = service
        uploadBegun = .now
        counted.publications += 1
        counted.bootstrap = service.publication.bootstrap
        service.onChange = { [weak self] state in self?.enter(state) }
        service.onEvent = { [weak self] event in self?.tell(event) }
        service.onNeighbour = { [weak self] address in self?.onNeighbour?(address) }
        enter(service.state)
    }

    private func drop(_ link: TorLink, because error: ControlError) async -> OnionLoss {
        self.link = nil
        service = nil
        socks = nil
        circuits = CircuitBook()
        watch.disconnected()
        return await link.close(because: error)
    }

    // MARK: Keeping it

    private func keep() async {
        var begun = ContinuousClock.now
        while !isStopping {
            let loss = await nextLoss()
            guard !isStopping, let link else { return }
            switch loss {
            case .form:
                await reform(on: link)
            case .amiss(let loss, .publishAgain):
                enter(.lost(loss))
                log.notice("onion.republishing", metadata: ["reason": "\(loss)"])
                await publishAgain(on: link)
            case .amiss(let loss, .restartTor):
                enter(.lost(loss))
                log.notice("tor.restarting", metadata: ["reason": "\(loss)"])
                await link.endTor()
                _ = await drop(link, because: .closed)
                await establishAgain()
                begun = .now
            case .connection(let error):
                if ContinuousClock.now - begun > Self.steadyTime { backoff.reset() }
                enter(.lost(await drop(link, because: error)))
                await establishAgain()
                begun = .now
            }
        }
    }

    private func reform(on link: TorLink) async {
        let rotates = service?.letsIn(moreThan: form) ?? false
        do {
            if rotates { try await shutOut(on: link) }
            // Directories refuse a descriptor of the same second as the one that they have, and tor doesn't try again
            // soon.
            await pause(max(.zero, uploadBegun + Self.uploadInterval - .now))
            if !rotates { try await service?.makeWay() }
            try await publish(on: link)
        } catch {
            link.connection.close()
            lose(.connection(error))
        }
    }

    private func publishAgain(on link: TorLink) async {
        do {
            do throws(ControlError) {
                try await service?.withdraw()
            } catch .refused {
                // Tor has lost it already.
            }
            try await publish(on: link)
        } catch {
            // With its end the connection takes the service along, and everything begins anew.
            link.connection.close()
            lose(.connection(error))
        }
    }

    private func establishAgain() async {
        while !isStopping {
            await pause(backoff.next(using: &random))
            guard !isStopping else { return }
            do {
                return try await establish()
            } catch {
                guard !isStopping else { return }
                enter(.lost(error))
            }
        }
    }

    private func nextLoss() async -> Loss {
        if let end = link?.connection.end { return .connection(end) }
        if let service, !service.has(form) { return .form }
        return await withUnsafeContinuation { lossWaiter = $0 }
    }

    func lose(_ loss: Loss) {
        lossWaiter?.resume(returning: loss)
        lossWaiter = nil
    }

    /// Returns how the own address is called now; `nil`: not at all.
    private func selfDialRoute() async -> SelfDialRoute? {
        guard let link, let address else { return nil }
        link.connection.readOn()
        // The system's tor has other users.
        await service?.prepareCall(afresh: settings.source.isOurs, within: settings.heartbeatDeadline)
        // It may have come or gone since the start.
        guard let socks = try? await socks(of: link) else {
            self.socks = nil
            if !settings.source.isOurs { presenceLog.hasNoSocks() }
            return nil
        }
        self.socks = socks
        return SelfDialRoute(socks: socks, address: address)
    }

    /// Does what is due when something is amiss, unless what was done last needs more time.
    private func mend(_ loss: OnionLoss) {
        switch loss {
        case .suspended:
            counted.suspensions += 1
            lose(.amiss(loss, .publishAgain))
        case .unreached:
            // A tor of our own that takes no SOCKS connections had its network switched off, by whomever.
            if isCutOff { mend(loss, isTorAmiss: socks == nil) }
        case .notUploaded, .notInNetwork, .control, .process:
            mend(loss, isTorAmiss: false)
        }
    }

    private func mend(_ loss: OnionLoss, isTorAmiss: Bool) {
        let now = EventLoop.monotonicNanoseconds
        guard lossWaiter != nil, let step = mending.next(at: now, isTorAmiss: isTorAmiss) else { return }
        lose(.amiss(loss, step))
    }

    private func pause(_ time: Duration) async {
        try? await Task.sleep(for: time)  // ends early when cancelled by stop()
    }

    // MARK: Telling

    private func enter(_ state: OnionState) {
        guard state != self.state else { return }
        let before = self.state
        self.state = state
        watch.take(state)
        if case .lost(let loss) = state, before.word != state.word {
            counted.losses[loss.word, default: 0] += 1
        }
        // Why it can't be mended may be another reason than why it was lost.
        if state == .stopped, !before.isPublished {
            // Nothing was withdrawn.
        } else if before.word != state.word || state.word == "lost" {
            presenceLog.tell(state)
        }
        onChange?(state)
    }

    private func tell(_ event: ControlEvent) {
        // There are many of them, and they are for the book alone.
        if case .circuit(let circuit) = event { return tell(circuit) }
        let now = EventLoop.unixMilliseconds
        counted.take(event, of: address?.serviceID, at: now, clockOffset: EventLoop.wallClockOffset)
        presenceLog.tell(event, isOurs: settings.source.isOurs)
        watch.take(event)
        switch event {
        case .descriptor(let event) where event.action == .upload: uploadBegun = .now
        case .reloaded:
            if let service, !service.has(form) { lose(.form) }
        case .bootstrap, .circuit, .circuitEstablished, .circuitNotEstablished, .descriptor,
            .networkLiveness, .clockSkew, .log, .unused:
            break
        }
    }

    private func tell(_ circuit: CircuitEvent) {
        guard circuits.take(circuit, of: address?.serviceID, isNeighbour: form.hasNeighbour),
            !watch.selfDial.isCalling
        else { return }
        counted.lastClient = EventLoop.unixMilliseconds
        counted.lastClientInstant = EventLoop.monotonicNanoseconds
    }
}
