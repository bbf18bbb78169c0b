import Glibc
import Logging
import Processes
import Reactor

/// The process of the node, from the configuration to its exit status.
package enum NodeProcess {
    /// Open files for gateways, outbox, tor, lookups and listeners.
    package static let filesBesidesConnections = 512

    /// Runs the node until SIGTERM or SIGINT. What keeps it from running is printed.
    ///
    /// - Returns: The exit status: 0 stopped, 78 configuration, 69 something it needs is missing or taken.
    package static func run(configuration: String) async -> Int32 {
        var settings: Settings
        do {
            settings = try Settings(file: configuration, environment: environment)
        } catch {
            LogFormat.standardError(.text, environment: environment).printFailure("\(error)")
            return NodeError.configuration("").exitStatus
        }
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        ThisProcess.disableCoreDumps()
        let room = max(0, ThisProcess.raiseFileLimit() - filesBesidesConnections)
        let level = LogLevel(settings.log.level)
        let format = LogFormat.standardError(settings.log.format, environment: environment)
        let lines = LineLogHandler.standardError(format)
        defer { lines.flush() }
        let log = Logger(label: "onionbell") { _ in LineLogHandler(level: level, format: format, to: lines) }
        if geteuid() == 0 { log.warning("node.runs_as_root") }
        do {
            switch try MovingIn.finish(settings, settingsFile: configuration) {
            case .nothingToDo: break
            case .moved(let address, let conflicts):
                log.notice(
                    "restore.finished", metadata: ["address": "\(address)", "not_taken": "\(conflicts)"])
                settings = try Settings(file: configuration, environment: environment)
            case .refused(let reason): log.error("restore.refused", metadata: ["reason": "\(reason)"])
            }
        } catch {
            lines.flush()
            format.printFailure("\(error)")
            return (error as? NodeError ?? .configuration("")).exitStatus
        }
        do {
            try await run(settings, configuration, room, log, level, lines)
            return 0
        } catch {
            lines.flush()
            format.printFailure("\(error)")
            return error.exitStatus
        }
    }

    /// Runs the node; where it does not start after a move, as what it was before.
    ///
    /// - Parameter room: The most connections that the limit of open files leaves room for.
    @EventLoop
    private static func run(
        _ settings: Settings, _ configuration: String, _ room: Int, _ log: Logger, _ level: LogLevel,
        _ lines: LineSink
    ) async throws(NodeError) {
        // Nobody may read it, as little as the log.
        let output = LineSink(STDOUT_FILENO, named: "output") { _ in "" }
        defer { output.flush() }
        // Before the service manager takes it out of the environment.
        let isSupervised = ServiceManager.isSupervised(
            notifySocket: environment["NOTIFY_SOCKET"], processID: getpid())
        let service = ServiceManager(environment: environment)
        let host = NodeHost(
            settingsFile: configuration, isSupervised: isSupervised, level: level
        ) { address, ports in
            output.write("onionbell: \(address) ports \(ports.map(String.init).joined(separator: ", "))\n")
        } onOnionState: {
            service.tell($0.description)
        }
        var settings = settings
        while true {
            if settings.connections > room {
                let lowered = settings.lowerConnections(to: room)
                log.warning("limits.lowered", metadata: lowered.mapValues { "\($0)" })
            }
            do throws(NodeError) {
                return try await run(settings, host, service, log, lines, output)
            } catch {
                // No file of a move is left once the node has started.
                guard try MovedOut.goBack(in: settings.stateDirectory) else { throw error }
                log.error("restore.undone", metadata: ["reason": "\(error)"])
                do {
                    settings = try Settings(file: configuration, environment: environment)
                } catch {
                    throw .configuration("\(error)")
                }
            }
        }
    }

    @EventLoop
    private static func run(
        _ settings: Settings, _ host: NodeHost, _ service: ServiceManager, _ log: Logger, _ lines: LineSink,
        _ output: LineSink
    ) async throws(NodeError) {
        let start = try NodeStart(settings, host: host, log: log)
        let life = NodeLife(start, service, log, lines)
        let node: RelayNode
        do {
            node = try await start.run()
        } catch {
            guard !life.isStopping else { return try await life.end() }
            throw error
        }
        MovedOut.forget(in: settings.stateDirectory)
        log.notice("node.started")
        // Nowhere else: whoever has the link owns the node.
        if isatty(STDOUT_FILENO) == 1 { node.console?.tellLink { output.write("console: \($0)\n") } }
        let memory = SpareMemory()
        memory.start()
        service.ready { await node.store.dispatcher.waitForOutbox() }
        defer { memory.stop() }
        try await life.end()
    }
}

/// Waits for the signal to stop, and sees to it that stopping ends.
@EventLoop
private final class NodeLife {
    private(set) var isStopping = false
    /// The fault for which the node has to stop, where nobody has asked for it.
    private var fault: NodeError?
    private let start: NodeStart
    private let service: ServiceManager
    private let log: Logger
    private let lines: LineSink
    private var signals: [SignalSource] = []
    private var hasEnded = false
    private var whenEnded: CheckedContinuation<Void, Never>?
    private let patience = Timer()

    /// The longest time of a stop. What is in the outbox is safe however the process ends: longer than this nobody waits.
    private static let longestStop: Duration = .milliseconds(9500)

    init(_ start: NodeStart, _ service: ServiceManager, _ log: Logger, _ lines: LineSink) {
        self.start = start
        self.lines = lines
        self.service = service
        self.log = log
        signals = [SIGTERM, SIGINT].map { number in SignalSource(number) { [unowned self] in stop() } }
        signals.append(SignalSource(SIGHUP) { start.resume() })
        start.onEnd = { [unowned self] reason in
            guard !isStopping else { return }
            fault = reason
            begin()
        }
        patience.action = { [unowned self] in
            log.warning("node.shutdown_timeout")
            lines.flush()
            exit(fault?.exitStatus ?? 0)
        }
    }

    private func stop() {
        guard !isStopping else {
            // Asked twice: at once.
            lines.flush()
            exit(0)
        }
        begin()
    }

    private func begin() {
        isStopping = true
        log.notice("node.stopping")
        service.stopping()
        patience.start(after: NodeLife.longestStop)
        Task {
            await start.stop()
            log.notice("node.stopped")
            hasEnded = true
            whenEnded?.resume()
        }
    }

    func end() async throws(NodeError) {
        if !hasEnded { await withCheckedContinuation { whenEnded = $0 } }
        if let fault { throw fault }
    }
}
