import Clocks
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
    package private(set) var address: OnionAddress?
    /// The place at which tor takes SOCKS connections, while there is a tor that does.
    package var socks: Endpoint? { attachment?.socks }
    /// The figures of tor and the service, as the report shows them.
    package var figures: TorFigures {
        var figures = counted
        figures.isConnected = attachment != nil
        figures.take(circuits, of: address?.serviceID)
        figures.selfDial = watch.selfDial.figures
        return figures
    }
    /// Whether calls to the own address say that nobody can reach it, however published it is. While other clients
    /// come in, it is the call that fails.
    package var isCutOff: Bool { watch.selfDial.isFailing && figures.isLonely }

    let settings: OnionPresenceSettings
    var form: OnionForm
    /// The form in which a tor got the service last; `nil`: none has it yet. A tor that others run keeps its clients'
    /// connections when the control connection ends, so whoever is put out meanwhile may still be there.
    private(set) var lastForm: OnionForm?
    let log: Logger
    let presenceLog: PresenceLog
    /// The tor that has the service, or is about to get it; `nil`: there is none.
    var attachment: TorAttachment?
    var link: TorLink? { attachment?.link }
    var service: OnionService? { attachment?.service }
    var keeper: Task<Void, Never>?
    var isStopping = false
    private var backoff: Backoff
    private var random = SystemRandomNumberGenerator()

    let watch: OnionWatch
    private var mending: Mending
    var counted = TorFigures()
    var repeated = RepeatedLines()
    var circuits = CircuitBook()
    /// Circuits that are to be closed, once tor says that they are clients'; `nil`: it is not being asked.
    var unwanted: Set<UInt32>?
    /// The time at which tor was last made to forget the own descriptor; `nil`: it never was.
    var forgotAt: ContinuousClock.Instant?
    /// The part of the attachment that the service manager's store keeps; `nil`: none.
    var stored: Stored?
    private var lossWaiter: UnsafeContinuation<Loss, Never>?

    /// The reason why the watch over a published service ends.
    enum Loss {
        /// Nothing is amiss: tor is to have the service in another form, or has read its configuration anew.
        case form
        case connection(ControlError)
        /// Tor answers, but something is amiss, and this step is to be done about it.
        case amiss(OnionLoss, Mending.Step)
    }

    /// The parts of the service that stay the same, however often it is given to tor.
    struct Plan {
        let key: OnionKey
        let ports: [VirtualPort]
    }

    package init(_ settings: OnionPresenceSettings, log: Logger) {
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
        watch.route = { [weak self] () async throws(ControlError) in
            try await self?.selfDialRoute(at: .now)
        }
        watch.onPulse = { [unowned self] pulse in take(pulse) }
        watch.onAmiss = { [unowned self] loss in mend(loss) }
        watch.onWell = { [unowned self] in
            mending.succeeded()
            counted.lastSign = EventLoop.awake
        }
    }

    /// Gives the service to tor, and keeps it there from then on. Returns before clients can find it: watch ``state``.
    ///
    /// - Throws: ``OnionPresenceError``: what has to be put right by a person before a start can succeed, or a tor that
    ///   did not come up in ``OnionPresenceSettings/startTime``.
    package func start(
        _ ports: [VirtualPort], beside neighbours: [NeighbourService] = []
    ) async throws(OnionPresenceError) {
        form.neighbours = neighbours
        let plan: Plan
        do { plan = Plan(key: try settings.key.loadOrCreate(), ports: ports) } catch { throw .key(error) }
        address = plan.key.address
        let patience = TorPatience(for: settings.startTime, from: .now)
        var isToldToWait = false
        while await !takeOver(plan) {
            do {
                try await establish(plan)
                break
            } catch {
                guard !isStopping else { return }
                guard error.mayPassSoon(with: settings.source), !patience.isOver(at: .now) else {
                    throw .tor(error)
                }
                if !isToldToWait { log.notice("tor.waiting", metadata: ["reason": "\(error)"]) }
                isToldToWait = true
            }
            await pause(.milliseconds(500))
        }
        guard !isStopping else { return }
        watch.start()
        keeper = Task { [weak self] in await self?.keep(plan) }
    }

    /// Takes the service back, so that no new client comes, then lets go of tor; ends a tor of our own.
    package func stop() async {
        guard !isStopping else { return }
        isStopping = true
        watch.stop()
        keeper?.cancel()
        try? await service?.withdraw()
        if let link { _ = await letGo(of: link, because: .closed) }
        lose(.connection(.closed))
        await keeper?.value
        if let directory = form.directory { ServiceDirectory(path: directory).forgetKey() }
        for neighbour in form.neighbours { neighbour.directory?.forgetKey() }
        enter(.stopped)
    }

    // MARK: One service on one connection

    /// Connects to tor and publishes the service: from nothing to ADD_ONION's answer.
    private func establish(_ plan: Plan) async throws(OnionLoss) {
        let link: TorLink
        switch settings.source {
        case .running(let endpoint, let credentials, _):
            link = try await .running(at: endpoint, credentials)
        case .own(let settings):
            link = try await .own(settings) { [weak self] line in self?.tell(line) }
            counted.torStarts += 1
        }
        guard !isStopping else { throw await link.close(because: .closed) }
        attach(link)
        do {
            let socks = try await socks(of: link)
            attachment?.socks = socks
            let form = form
            if link.process == nil { try await meetFormerClients(on: link, of: form) }
            try await publish(plan, as: form, on: link)
        } catch {
            throw await drop(link, because: error)
        }
    }

    /// Gives the service to tor. The form is that by which the caller has told whom to put out: ``form`` may change
    /// meanwhile, and then ``keep(_:)`` comes back for it.
    func publish(_ plan: Plan, as form: OnionForm, on link: TorLink) async throws(ControlError) {
        let service = try await OnionService.publish(
            key: plan.key, ports: plan.ports, as: form, on: link.connection)
        counted.publications += 1
        serve(service)
        await store(service, of: link)
    }

    func serve(_ service: OnionService) {
        lastForm = service.form
        attachment?.serve(service, at: .now)
        counted.lastAnswer = EventLoop.awake
        counted.bootstrap = service.publication.bootstrap
        service.onChange = { [weak self] state in
            self?.enter(state)
            self?.renewNote()
        }
        service.onEvent = { [weak self] event in self?.take(event) }
        service.onNeighbour = { [weak self] address in
            self?.onNeighbour?(address)
            self?.renewNote()
        }
        enter(service.state)
    }

    func drop(_ link: TorLink, because error: ControlError) async -> OnionLoss {
        if attachment?.isSteady(at: .now) ?? false { backoff.reset() }
        attachment = nil
        circuits = CircuitBook()
        watch.disconnected()
        return await letGo(of: link, because: error)
    }

    // MARK: Keeping it

    private func keep(_ plan: Plan) async {
        while !isStopping {
            let loss = await nextLoss()
            guard !isStopping, let link else { return }
            withholdNote()
            switch loss {
            case .form:
                await reform(plan, on: link)
            case .amiss(let loss, .publishAgain):
                enter(.lost(loss))
                log.notice("onion.republishing", metadata: ["reason": "\(loss)"])
                await publishAgain(plan, on: link)
            case .amiss(let loss, .restartTor):
                enter(.lost(loss))
                log.notice("tor.restarting", metadata: ["reason": "\(loss)"])
                await link.endTor()
                _ = await drop(link, because: .closed)
                await establishAgain(plan)
            case .connection(let error):
                await beginAnew(plan, without: link, because: error)
            }
        }
    }

    private func beginAnew(_ plan: Plan, without link: TorLink, because error: ControlError) async {
        guard !isStopping else { return }
        let loss = await drop(link, because: error)
        guard !isStopping else { return }
        enter(.lost(loss))
        await establishAgain(plan)
    }

    private func reform(_ plan: Plan, on link: TorLink) async {
        let form = form
        let rotates = service?.form.letsIn(moreThan: form) ?? false
        do {
            if rotates { try await shutOut(on: link) }
            await pause(attachment?.pauseBeforeUpload(at: .now) ?? .zero)
            if !rotates { try await service?.makeWay() }
            try await publish(plan, as: form, on: link)
        } catch {
            // With its end the connection takes the service along.
            await beginAnew(plan, without: link, because: error)
        }
    }

    private func publishAgain(_ plan: Plan, on link: TorLink) async {
        // Whom another form puts out, a reform puts out.
        let form = service?.form ?? form
        do {
            do throws(ControlError) {
                try await service?.withdraw()
            } catch .refused {
                // Tor has lost it already.
            }
            try await publish(plan, as: form, on: link)
        } catch {
            await beginAnew(plan, without: link, because: error)
        }
    }

    private func establishAgain(_ plan: Plan) async {
        while !isStopping {
            await pause(backoff.next(using: &random))
            guard !isStopping else { return }
            do {
                return try await establish(plan)
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
        let now = EventLoop.now
        guard lossWaiter != nil, let step = mending.next(at: now, isTorAmiss: isTorAmiss) else { return }
        lose(.amiss(loss, step))
    }

    private func pause(_ time: Duration) async {
        try? await Task.sleep(for: time)  // ends early when cancelled by stop()
    }

    // MARK: Events

    private func enter(_ state: OnionState) {
        guard state != self.state else { return }
        let before = self.state
        self.state = state
        if state.isPublished, !before.isPublished { counted.lastSign = EventLoop.awake }
        watch.take(state)
        if case .lost(let loss) = state, before.word != state.word {
            counted.losses[loss.word, default: 0] += 1
        }
        // Why it can't be mended may be another reason than why it was lost.
        if state == .stopped, !before.isPublished {
            // Nothing was withdrawn.
        } else if before.word != state.word || state.word == "lost" {
            presenceLog.write(state)
        }
        onChange?(state)
    }

    private func take(_ event: ControlEvent) {
        let now = EventLoop.unixTime
        counted.take(event, of: address?.serviceID, at: now, clockOffset: EventLoop.wallClockOffset)
        presenceLog.write(event, isOurs: settings.source.isOurs)
        watch.take(event)
        switch event {
        case .descriptor(let event) where event.action == .upload: attachment?.uploadBegins(at: .now)
        case .reloaded:
            if let service, !service.has(form) { lose(.form) }
        case .bootstrap, .circuitEstablished, .circuitNotEstablished, .descriptor, .networkLiveness,
            .clockSkew, .log, .unused:
            break
        }
    }
}
