import Clocks
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
    /// - Parameter features: Those that the program was built with.
    /// - Returns: The exit status: 0 stopped, 78 configuration, 69 something it needs is missing or taken.
    package static func run(configuration: String, features: Features) async -> Int32 {
        _ = ProcessFigures.start
        let successor = Successor(configuration: configuration, environment: environment, features: features)
        Handover.shared.receive(successor.environment)
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        ThisProcess.disableCoreDumps()
        let word = Successor.takeWord()
        if let word, let fault = word.fault {
            return await Attempt(
                successor, since: word.since, text: word.text, fault: fault, canGoBack: false
            )
            .run().exitStatus
        }
        let kept = KeptSettings(
            for: configuration, environment: successor.environment, features: features)
        if word == nil, let kept, kept.hasCrashed {
            return await Attempt(successor, since: nil, text: kept.text, fault: crash, canGoBack: false)
                .run().exitStatus
        }
        kept?.begin()
        let before = word?.text ?? kept?.text
        let watchdog = word.map { successor.watchStart(after: $0) }
        let end = await Attempt(
            successor, since: word?.since, text: nil, fault: nil, canGoBack: before != nil,
            watchdog: watchdog
        ).run()
        watchdog?.end()
        kept?.end()
        guard let fault = end.failedStart, let before else { return end.exitStatus }
        return await Attempt(successor, since: word?.since, text: before, fault: fault, canGoBack: false)
            .run().exitStatus
    }

    private static let crash = "the last start with them came to no end"
}

/// How an attempt to run the node ended.
private struct NodeEnd {
    var exitStatus: Int32
    /// The reason why the node did not come to run.
    var failedStart: String?
}

/// One attempt to run the node, with the settings of its file or with others.
private struct Attempt {
    let successor: Successor
    /// The time at which the node before this one took nothing more; `nil`: this is no restart in place.
    let since: MonotonicTime?
    /// The text of the settings in place of that of the file.
    let text: String?
    /// The reason why it is not that of the file.
    let fault: String?
    let canGoBack: Bool
    /// The time limit of the start; `nil`: it has none.
    let watchdog: Watchdog?

    init(
        _ successor: Successor, since: MonotonicTime?, text: String?, fault: String?, canGoBack: Bool,
        watchdog: Watchdog? = nil
    ) {
        (self.successor, self.since, self.text) = (successor, since, text)
        (self.fault, self.canGoBack, self.watchdog) = (fault, canGoBack, watchdog)
    }

    private var configuration: String { successor.configuration }

    private func settings() throws(SettingsError) -> (Settings, text: String) {
        var read = text
        do throws(SettingsFault) {
            if read == nil { read = try SettingsText.read(configuration) }
        } catch {
            throw SettingsError(file: configuration, faults: [error])
        }
        let text = read ?? ""
        let settings = try Settings(
            yaml: text, file: configuration, directory: absoluteDirectory(of: configuration),
            environment: successor.environment, features: successor.features)
        return (settings, text)
    }

    func run() async -> NodeEnd {
        var (settings, text): (Settings, String)
        do {
            (settings, text) = try self.settings()
        } catch {
            LogFormat.standardError(.text, environment: successor.environment).printFailure("\(error)")
            return NodeEnd(exitStatus: NodeError.configuration("").exitStatus, failedStart: "\(error)")
        }
        let room = max(0, ThisProcess.raiseFileLimit() - NodeProcess.filesBesidesConnections)
        let level = LogLevel(settings.log.level)
        let format = LogFormat.standardError(settings.log.format, environment: successor.environment)
        let lines = LineLogHandler.standardError(format)
        defer { lines.flush() }
        let log = Logger(label: "onionbell") { _ in LineLogHandler(level: level, format: format, to: lines) }
        if geteuid() == 0 { log.warning("node.runs_as_root") }
        do {
            for kind in successor.features.nodeKinds
            where try kind.prepareStart(with: settings, of: configuration, log: log) {
                (settings, text) = try self.settings()
            }
        } catch {
            lines.flush()
            format.printFailure("\(error)")
            return NodeEnd(exitStatus: (error as? NodeError ?? .configuration("")).exitStatus)
        }
        if let fault {
            log.error(
                "restart.went_back",
                metadata: [
                    "reason": "\(fault)",
                    "advice":
                        "put the settings right, then run onionbell restart: the node runs with those from before",
                ])
        }
        return await run(settings, text, room, log, level, lines, format)
    }

    @EventLoop
    private func run(
        _ settings: Settings, _ text: String, _ room: Int, _ log: Logger, _ level: LogLevel,
        _ lines: LineSink, _ format: LogFormat
    ) async -> NodeEnd {
        var hasStarted = false
        do throws(NodeError) {
            try await run(settings, text, room, log, level, lines) { hasStarted = true }
            return NodeEnd(exitStatus: 0)
        } catch {
            lines.flush()
            format.printFailure("\(error)")
            return NodeEnd(exitStatus: error.exitStatus, failedStart: hasStarted ? nil : "\(error)")
        }
    }

    /// Runs the node; where it does not start after a move, as what it was before.
    ///
    /// - Parameter room: The most connections that the limit of open files leaves room for.
    @EventLoop
    private func run(
        _ settings: Settings, _ text: String, _ room: Int, _ log: Logger, _ level: LogLevel,
        _ lines: LineSink, onStart: @EventLoop () -> Void
    ) async throws(NodeError) {
        // Nobody may read it, as little as the log.
        let output = LineSink(STDOUT_FILENO, named: "output") { _ in "" }
        defer { output.flush() }
        let service = ServiceManager(environment: successor.environment)
        let host = NodeHost(
            settingsFile: configuration, settingsFault: fault, restartedSince: since, canGoBack: canGoBack,
            level: level
        ) { address, ports in
            output.write("onionbell: \(address) ports \(ports.map(String.init).joined(separator: ", "))\n")
        } onOnionState: {
            service.tell($0.description)
        }
        var (settings, text) = (settings, text)
        while true {
            if settings.connections > room {
                let lowered = settings.lowerConnections(to: room)
                log.warning("limits.lowered", metadata: lowered.mapValues { "\($0)" })
            }
            do throws(NodeError) {
                return try await run(settings, text, host, service, log, lines, output, onStart)
            } catch {
                // No file of a move is left once the node has started.
                guard try successor.features.takeBackStart(in: settings.stateDirectory, because: error)
                else { throw error }
                log.error("restore.undone", metadata: ["reason": "\(error)"])
                do throws(SettingsError) {
                    (settings, text) = try self.settings()
                } catch {
                    throw .configuration("\(error)")
                }
            }
        }
    }

    @EventLoop
    private func run(
        _ settings: Settings, _ text: String, _ host: NodeHost, _ service: ServiceManager, _ log: Logger,
        _ lines: LineSink, _ output: LineSink, _ onStart: @EventLoop () -> Void
    ) async throws(NodeError) {
        let start = try NodeStart(settings, host: host, log: log)
        let life = NodeLife(start, service, log, lines, watchdog) { [successor] in
            output.flush()
            return successor.become(after: Successor.Word(text: text, since: $0))
        }
        let node: RelayNode
        do {
            node = try await start.run()
        } catch {
            guard !life.isStopping else { return try await life.end() }
            throw error
        }
        watchdog?.end()
        for kind in successor.features.nodeKinds { kind.keepStart(in: settings.stateDirectory) }
        onStart()
        let unused = Handover.shared.closeRest()
        if unused > 0 { log.notice("restart.descriptors_unused", metadata: ["count": "\(unused)"]) }
        log.notice("node.started")
        node.tellRestart()
        keep(text, in: settings.stateDirectory, log)
        // Nowhere else: whoever has the link owns the node.
        if isatty(STDOUT_FILENO) == 1 {
            for companion in node.companions { companion.tellOwner { output.write($0) } }
        }
        let memory = SpareMemory()
        memory.start()
        service.ready { await node.store.dispatcher.waitForOutbox() }
        defer { memory.stop() }
        try await life.end()
    }

    @EventLoop
    private func keep(_ text: String, in stateDirectory: String, _ log: Logger) {
        Task { [isOfFile = fault == nil] in
            guard let error = await KeptSettings.keep(text, isOfFile: isOfFile, in: stateDirectory) else {
                return
            }
            log.warning("settings.not_kept", metadata: ["reason": "\(error)"])
        }
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
    private let watchdog: Watchdog?
    /// Becomes the successor at a restart in place, which began at that time; returns only if that is impossible.
    private let become: @EventLoop (MonotonicTime) -> SystemError
    private var isRestarting = false
    private var since: MonotonicTime = 0
    private var signals: [SignalSource] = []
    private var hasEnded = false
    private var whenEnded: CheckedContinuation<Void, Never>?
    private let patience = Timer()

    /// The longest time of a stop. What is in the outbox is safe however the process ends: longer than this nobody waits.
    private static let longestStop: Duration = .milliseconds(9500)

    init(
        _ start: NodeStart, _ service: ServiceManager, _ log: Logger, _ lines: LineSink,
        _ watchdog: Watchdog?, become: @escaping @EventLoop (MonotonicTime) -> SystemError
    ) {
        (self.become, self.watchdog) = (become, watchdog)
        self.start = start
        self.lines = lines
        self.service = service
        self.log = log
        signals = [SIGTERM, SIGINT].map { number in SignalSource(number) { [unowned self] in stop() } }
        signals.append(SignalSource(SIGHUP) { start.resume() })
        start.onEnd = { [unowned self] reason in
            guard !isStopping else { return }
            guard case .restarting = reason else { return stop(because: reason) }
            guard !isRestarting else { return }
            (isRestarting, fault) = (true, reason)
            Task { [self] in
                await self.start.waitForGateways()
                if isRestarting, !isStopping { begin() }
            }
        }
        patience.action = { [unowned self] in
            log.warning("node.shutdown_timeout")
            if isRestarting { succeed() }
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
        stop(because: nil)
    }

    /// Ends the node, also one that is about to restart.
    private func stop(because reason: NodeError?) {
        (isRestarting, fault) = (false, reason)
        begin()
    }

    private func begin() {
        isStopping = true
        // A start that is stopped is begun no more.
        watchdog?.end()
        since = EventLoop.awake
        if isRestarting {
            log.notice("node.restarting")
            service.restarting()
            Handover.shared.begin(for: .thisProcess)
        } else {
            log.notice("node.stopping")
            service.stopping()
            // Perhaps the unit is only restarted: when it is stopped, the store is emptied.
            if Handover.shared.hasStore { Handover.shared.begin(for: .anotherProcess) }
        }
        patience.start(after: NodeLife.longestStop)
        Task {
            await start.stop()
            if isRestarting { succeed() }
            log.notice("node.stopped")
            hasEnded = true
            whenEnded?.resume()
        }
    }

    /// Becomes the successor. Where that is impossible, the node ends, and whoever started it starts it again.
    private func succeed() {
        lines.flush()
        log.error("restart.failed", metadata: ["reason": "\(become(since))"])
    }

    func end() async throws(NodeError) {
        if !hasEnded { await withCheckedContinuation { whenEnded = $0 } }
        if let fault { throw fault }
    }
}
