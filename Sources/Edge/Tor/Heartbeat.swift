import Logging
import Reactor

/// Asks tor at intervals how it is, and looks whether the machine has slept.
///
/// A tor that hangs keeps its connections open. The question ends the connection when it is not answered in time, and
/// that tells its owner.
@EventLoop
final class Heartbeat {
    /// The control connection; nothing is asked while there is none.
    var connection: @EventLoop () -> ControlConnection? = { nil }
    var onPulse: @EventLoop (TorPulse) -> Void = { _ in }
    var onSuspension: @EventLoop (Duration) -> Void = { _ in }

    private let settings: OnionPresenceSettings
    private let log: Logger
    private let timer = Timer()
    private var isStopped = false
    private var slept: Int64

    /// Tor's circuits outlive a shorter sleep.
    private static let shortestSuspension = Duration.seconds(10)

    init(_ settings: OnionPresenceSettings, log: Logger) {
        self.settings = settings
        self.log = log
        slept = settings.sleptNanoseconds()
        timer.action = { [unowned self] in Task { [weak self] in await self?.beat() } }
    }

    func start() {
        if !isStopped { timer.start(after: settings.heartbeat) }
    }

    /// Asks at once.
    func beatNow() {
        if !isStopped { timer.start(after: .zero) }
    }

    func stop() {
        isStopped = true
        timer.stop()
    }

    private func beat() async {
        lookForSuspension()
        do {
            guard let connection = connection() else { return start() }
            var pulse = try await connection.ask(
                TorPulse.question, within: settings.heartbeatDeadline, TorPulse.init)
            do throws(ControlError) {
                pulse.circuits = try await connection.circuits(within: settings.heartbeatDeadline)
            } catch {
                guard case .refused = error else { throw error }
            }
            var clock = ClockView()
            try await clock.ask(connection, within: settings.heartbeatDeadline)
            pulse.consensusFrom = clock.validFrom
            onPulse(pulse)
        } catch {
            // An end of the connection tells itself; what tor refuses or says in another form is an answer.
            log.debug("tor.query_failed", metadata: ["reason": "\(error)"])
        }
        start()
    }

    private func lookForSuspension() {
        let before = slept
        slept = settings.sleptNanoseconds()
        let time = Duration.nanoseconds(slept - before)
        if time >= Self.shortestSuspension { onSuspension(time) }
    }
}
