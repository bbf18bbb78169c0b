import Logging
import Reactor

/// The node's place in the Tor network: keeps its onion service published, with a tor of its own or the system's.
///
/// Whatever ends the service (tor dies or restarts, the control connection breaks, no directory takes the descriptor),
/// it is published again under the same key, without an end to the attempts.
@EventLoop
package final class OnionPresence {
    package struct Settings: Sendable {
        package enum Source: Sendable {
            /// A child process, from the project's `torrc`.
            case own(TorProcess.Settings)
            /// One that runs already.
            case running(control: Endpoint, ControlCredentials)
        }

        package var source: Source
        package var key: OnionKeyFile
        package var ports: [VirtualPort]
        /// How long ``OnionPresence/start()`` waits for a system's tor that is not there yet.
        package var startTime = Duration.seconds(30)
        /// How long tor, once in the network, may take to upload a descriptor before the service is given to it anew.
        package var uploadTime = Duration.seconds(180)

        package init(source: Source, key: OnionKeyFile, ports: [VirtualPort]) {
            self.source = source
            self.key = key
            self.ports = ports
        }
    }

    package private(set) var state = OnionState.connecting
    /// Called with every new value of ``state``.
    package var onChange: (@EventLoop (OnionState) -> Void)?
    /// Known from the return of ``start()`` on.
    package private(set) var address: OnionAddress?
    /// How far the service has come on the present connection; `nil` while there is none.
    package var publication: Publication? { service?.publication }
    /// Where tor takes SOCKS connections, while there is a tor that does.
    package private(set) var socks: Endpoint?

    private let settings: Settings
    private let log: Logger
    private var key: OnionKey?
    private var link: TorLink?
    private var service: OnionService?
    private var keeper: Task<Void, Never>?
    private var isStopping = false
    private var backoff = Backoff(first: .milliseconds(200), longest: .seconds(30))
    private var random = SystemRandomNumberGenerator()

    private var uploadDeadline: Timer!
    private var uploadTime: Duration
    private var lossWaiter: UnsafeContinuation<Loss, Never>?
    private var stateWaiters: [StateWaiter] = []

    /// What ends the watch over a published service.
    private enum Loss {
        case connection(ControlError)
        case upload
    }

    /// A link that lasted so long gets the shortest wait after it.
    private static let steadyTime = Duration.seconds(60)
    private static let longestUploadTime = Duration.seconds(900)

    package init(_ settings: Settings, log: Logger) {
        self.settings = settings
        self.log = log
        uploadTime = settings.uploadTime
        uploadDeadline = Timer { [unowned self] in lose(.upload) }
    }

    /// Gives the service to tor, and keeps it there from then on. Returns before clients can find it: watch ``state``.
    ///
    /// - Throws: ``OnionPresenceError``: what has to be put right by a person before a start can succeed, or a tor that
    ///   did not come up in ``Settings/startTime``.
    package func start() async throws(OnionPresenceError) {
        do { key = try settings.key.loadOrCreate() } catch { throw .key(error) }
        let end = ContinuousClock.now + settings.startTime
        var isToldToWait = false
        while true {
            do {
                try await establish()
                break
            } catch {
                guard mayPassSoon(error), ContinuousClock.now < end else { throw .tor(error) }
                if !isToldToWait { log.notice("\(error); waiting for it") }
                isToldToWait = true
            }
            await pause(.milliseconds(500))
        }
        guard !isStopping else { return }
        keeper = Task { [weak self] in await self?.keep() }
    }

    /// A system's tor may come up yet; a tor of our own that was killed is started again, but not one that gave up.
    private func mayPassSoon(_ loss: OnionLoss) -> Bool {
        switch (settings.source, loss) {
        case (.running, .control(let failure)): failure.mayPassSoon
        case (.own, .process(.ended(.signalled, _))): true
        case (.running, .process), (.running, .notUploaded), (.own, .control), (.own, .process),
            (.own, .notUploaded):
            false
        }
    }

    /// Whether clients can find the service before the time is over, and before ``stop()``.
    package func waitUntilPublished(within limit: Duration) async -> Bool {
        if state.isPublished { return true }
        stateWaiters.removeAll(where: \.isFinished)
        return await withUnsafeContinuation { stateWaiters.append(StateWaiter($0, limit: limit)) }
    }

    /// Takes the service back, so that no new client comes, then lets go of tor; ends a tor of our own.
    package func stop() async {
        guard !isStopping else { return }
        isStopping = true
        uploadDeadline.stop()
        keeper?.cancel()
        if link != nil { try? await service?.withdraw() }
        if let link { _ = await link.close(because: .closed) }
        lose(.connection(.closed))
        await keeper?.value
        enter(.stopped)
    }

    // MARK: One service on one connection

    /// From nothing to ADD_ONION's answer.
    private func establish() async throws(OnionLoss) {
        let link: TorLink
        switch settings.source {
        case .running(let endpoint, let credentials):
            link = try await .running(at: endpoint, credentials)
        case .own(let settings):
            link = try await .own(settings) { [log] line in
                log.log(level: line.level, "\(line.words)", source: "tor")
            }
        }
        guard !isStopping else { throw await link.close(because: .closed) }
        self.link = link
        link.connection.onEnd = { [weak self] error in self?.lose(.connection(error)) }
        do {
            socks = try await link.socksEndpoint()
            try await publish(on: link)
        } catch {
            throw await drop(link, because: error)
        }
    }

    private func publish(on link: TorLink) async throws(ControlError) {
        guard let key else { preconditionFailure("published before start") }
        let service = try await OnionService.publish(key: key, ports: settings.ports, on: link.connection)
        self.service = service
        address = service.address
        if key.address == nil { remember(service.address) }
        service.onChange = { [weak self] state in self?.enter(state) }
        service.onEvent = { [weak self] event in self?.tell(event) }
        enter(service.state)
    }

    private func remember(_ address: OnionAddress) {
        guard let key else { return }
        do {
            self.key = try settings.key.add(address, to: key)
        } catch {
            self.key = key.known(as: address)
            log.warning("the address could not be added to the key file: \(error)")
        }
    }

    private func drop(_ link: TorLink, because error: ControlError) async -> OnionLoss {
        self.link = nil
        service = nil
        socks = nil
        uploadDeadline.stop()
        return await link.close(because: error)
    }

    // MARK: Keeping it

    private func keep() async {
        var begun = ContinuousClock.now
        while !isStopping {
            let loss = await nextLoss()
            guard !isStopping, let link else { return }
            switch loss {
            case .upload:
                await publishAgain(on: link)
            case .connection(let error):
                if ContinuousClock.now - begun > Self.steadyTime { backoff.reset() }
                enter(.lost(await drop(link, because: error)))
                await establishAgain()
                begun = .now
            }
        }
    }

    private func publishAgain(on link: TorLink) async {
        enter(.lost(.notUploaded(after: uploadTime)))
        uploadTime = min(uploadTime * 2, Self.longestUploadTime)
        do {
            try await service?.withdraw()
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
        return await withUnsafeContinuation { lossWaiter = $0 }
    }

    private func lose(_ loss: Loss) {
        lossWaiter?.resume(returning: loss)
        lossWaiter = nil
    }

    private func pause(_ time: Duration) async {
        try? await Task.sleep(for: time)  // ends early when cancelled by stop()
    }

    // MARK: Telling

    private func enter(_ state: OnionState) {
        guard state != self.state else { return }
        let before = self.state
        self.state = state
        switch state {
        case .publishing:
            if !uploadDeadline.isRunning { uploadDeadline.start(after: uploadTime) }
        case .published:
            uploadDeadline.stop()
            uploadTime = settings.uploadTime
            endWaiting(true)
        case .connecting, .bootstrapping, .lost:
            uploadDeadline.stop()
        case .stopped:
            endWaiting(false)
        }
        if before.word != state.word {
            let level: Logger.Level = if case .lost = state { .warning } else { .info }
            log.log(level: level, "\(state)")
        }
        onChange?(state)
    }

    private func endWaiting(_ isPublished: Bool) {
        let waiters = stateWaiters
        stateWaiters = []
        for waiter in waiters { waiter.finish(isPublished) }
    }

    private func tell(_ event: ControlEvent) {
        switch event {
        case .clockSkew(let seconds):
            log.warning(
                "tor finds this machine's clock \(abs(seconds)) s \(seconds > 0 ? "ahead" : "behind")")
        case .networkLiveness(let isUp):
            log.info("tor finds the network \(isUp ? "alive" : "dead")")
        case .log(_, let words):
            // A tor of our own writes the same lines to its output.
            if case .running = settings.source {
                log.debug("\(TorLogLine.withoutAddresses(words))", source: "tor")
            }
        case .bootstrap, .circuitEstablished, .circuitNotEstablished, .descriptor, .unused:
            break
        }
    }
}
