import Logging
import Reactor

/// Finds out what is amiss with a service that tor has: asks tor how it is, calls the own address, and gives tor a time
/// for each step of its way.
@EventLoop
final class OnionWatch {
    /// The control connection to tor; `nil`: there is no tor to be asked.
    var connection: @EventLoop () -> ControlConnection? = { nil }
    /// The way on which ``SelfDial`` calls the own address.
    var route: SelfDial.Route = { nil }
    var onPulse: @EventLoop (TorPulse) -> Void = { _ in }
    /// Called when something must be done about the service, and again for as long as that lasts.
    var onAmiss: @EventLoop (OnionLoss) -> Void = { _ in }
    /// Called when clients can reach the service, as far as can be known.
    var onWell: @EventLoop () -> Void = {}
    private(set) var selfDial: SelfDial!

    private let settings: OnionPresenceSettings
    private let presenceLog: PresenceLog
    private let heartbeat: Heartbeat
    private let progressDeadline = Timer()
    private var state = OnionState.connecting

    init(_ settings: OnionPresenceSettings, presenceLog: PresenceLog, log: Logger) {
        self.settings = settings
        self.presenceLog = presenceLog
        heartbeat = Heartbeat(settings, log: log)
        progressDeadline.action = { [unowned self] in noProgress() }
        heartbeat.connection = { [unowned self] in connection() }
        heartbeat.onPulse = { [unowned self] pulse in take(pulse) }
        heartbeat.onSuspension = { [unowned self] time in onAmiss(.suspended(for: time)) }
        selfDial = makeSelfDial()
    }

    private func makeSelfDial() -> SelfDial {
        var selfDialSettings = settings.selfDial
        selfDialSettings.needsSocks = settings.source.isOurs
        let selfDial = SelfDial(selfDialSettings) { [weak self] () async throws(ControlError) in
            try await self?.route()
        }
        selfDial.onSuccess = { [unowned self] failures in
            onWell()
            if failures > 0 { presenceLog.answersAgain(after: failures) }
        }
        selfDial.onFailure = { [presenceLog] in presenceLog.callFailed($0) }
        selfDial.onUnreachable = { [unowned self] calls, reason in
            onAmiss(.unreached(calls: calls, reason))
        }
        selfDial.onStranger = { [presenceLog] in presenceLog.keyIsInUseElsewhere() }
        selfDial.onFrontFailure = { [presenceLog] in presenceLog.frontFails($0) }
        selfDial.onFrontSuccess = { [presenceLog] in presenceLog.frontAnswersAgain(after: $0) }
        return selfDial
    }

    func start() { heartbeat.start() }

    func stop() {
        progressDeadline.stop()
        heartbeat.stop()
        selfDial.pause()
    }

    /// Stops the deadline and the calls: there is no tor that could do anything.
    func disconnected() {
        progressDeadline.stop()
        selfDial.pause()
    }

    /// Takes the state that the service has come into.
    func take(_ state: OnionState) {
        self.state = state
        switch state {
        case .publishing, .bootstrapping:
            progressDeadline.start(after: settings.uploadTime)
        case .published:
            progressDeadline.stop()
            heartbeat.beatNow()
            if !selfDial.isAble { onWell() }
            selfDial.begin()
        case .connecting:
            progressDeadline.stop()
        case .lost:
            progressDeadline.stop()
            selfDial.pause()
        case .stopped: break
        }
    }

    func take(_ event: ControlEvent) {
        switch event {
        case .circuitNotEstablished, .networkLiveness: selfDial.callSoon()
        case .bootstrap, .circuitEstablished, .descriptor, .clockSkew, .reloaded, .log, .unused:
            break
        }
    }

    private func take(_ pulse: TorPulse) {
        onPulse(pulse)
        // Where the network went away and tor noticed, this is all that it lets show.
        if !pulse.hasCircuit, selfDial.figures.failuresInARow == 0 { selfDial.callSoon() }
    }

    private func noProgress() {
        progressDeadline.start(after: settings.uploadTime)
        switch state {
        case .publishing:
            onAmiss(.notUploaded(after: settings.uploadTime))
        case .bootstrapping(let progress, _):
            // The system's tor is left to find its way.
            if settings.source.isOurs {
                onAmiss(.notInNetwork(progress: progress, after: settings.uploadTime))
            }
        case .connecting, .published, .lost, .stopped:
            break
        }
    }
}
