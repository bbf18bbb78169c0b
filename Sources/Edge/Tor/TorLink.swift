import Glibc
import Reactor

/// The link to the tor that serves us now: the authenticated control connection, and the process if that tor is ours.
@EventLoop
struct TorLink {
    let connection: ControlConnection
    /// The process of a tor of our own; `nil`: somebody else has started tor.
    let process: TorProcess?

    /// The time that a tor of our own may take to open its control port. It takes 0.1 s; on a busy machine 2
    /// s.
    private static let startTime = Duration.seconds(20)
    /// The time that a tor of the same directory may take to end while its node lives: that may be about to end.
    private static let leaveTime = Duration.seconds(1)
    /// The time that a tor which its node has left may take to end. It ends at once; on a busy machine it takes seconds.
    private static let orphanTime = Duration.seconds(10)
    /// The pause between two tries of a starting or ending tor.
    private static let tryInterval = Duration.milliseconds(50)

    /// Connects to a tor that others run.
    static func running(
        at endpoint: Endpoint, _ credentials: ControlCredentials
    ) async throws(OnionLoss) -> TorLink {
        do {
            return TorLink(connection: try await .open(endpoint, credentials: credentials), process: nil)
        } catch {
            throw .control(error)
        }
    }

    /// Starts a tor of our own and connects to it; the tor ends when that connection does.
    static func own(
        _ settings: TorProcessSettings, onLine: @escaping @EventLoop (TorLogLine) -> Void
    ) async throws(OnionLoss) -> TorLink {
        try await makeSureOfVacancy(settings)
        let process: TorProcess
        do { process = try TorProcess(settings, onLine: onLine) } catch { throw .process(error) }
        do throws(OnionLoss) {
            let connection = try await connect(to: process)
            do { try await connection.send(.takeOwnership) } catch { throw .control(error) }
            return TorLink(connection: connection, process: process)
        } catch {
            await process.stop()
            throw error
        }
    }

    /// Makes sure that no tor has the control socket: a second tor would take it away from the first one
    /// before it finds the directory locked. One whose node was killed before it had taken ownership is ended.
    private static func makeSureOfVacancy(_ settings: TorProcessSettings) async throws(OnionLoss) {
        let begun = ContinuousClock.now
        while let stream = try? await Stream.connect(
            to: .unix(path: settings.controlSocket), deadline: .seconds(1))
        {
            stream.close()
            let patience = await endOrphan(settings) ? orphanTime : leaveTime
            guard .now - begun < patience, !Task.isCancelled else {
                throw .process(.anotherTor(dataDirectory: settings.dataDirectory))
            }
            try? await Task.sleep(for: tryInterval)
        }
    }

    /// Ends a tor whose node is no more. By itself it looks for that every 15 s.
    ///
    /// - Returns: Whether nothing is known of another node that has it: it may not have answered.
    private static func endOrphan(_ settings: TorProcessSettings) async -> Bool {
        let endpoint = Endpoint.unix(path: settings.controlSocket)
        guard
            let connection = try? await ControlConnection.open(
                endpoint, credentials: ControlCredentials(cookieFile: settings.cookieFile))
        else { return true }
        defer { connection.close() }
        let option = "__OwningControllerProcess"
        let owner = try? await connection.send(ControlCommand("GETCONF", [option]), within: .seconds(1))[
            option]
        guard let owner = owner.flatMap({ Int32($0) }) else { return true }
        // One that this process has let go of ends by itself.
        guard owner != getpid() else { return true }
        guard kill(owner, 0) != 0, errno == ESRCH else { return false }
        _ = try? await connection.send(.halt, within: .seconds(1))
        return true
    }

    private static func connect(to process: TorProcess) async throws(OnionLoss) -> ControlConnection {
        let patience = TorPatience(for: startTime, from: .now)
        while true {
            do {
                return try await .open(process.controlEndpoint, credentials: process.credentials)
            } catch {
                if let failure = process.failure { throw .process(failure) }
                guard error.mayPassSoon, !Task.isCancelled else { throw .control(error) }
                guard !patience.isOver(at: .now) else { throw .process(.silent(after: startTime)) }
            }
            try? await Task.sleep(for: tryInterval)
        }
    }

    /// Returns the place at which this tor takes SOCKS connections; the first of several.
    func socksEndpoint(
        within limit: Duration = .seconds(10)
    ) async throws(ControlError) -> Endpoint? {
        try await connection.socksEndpoint(within: limit)
    }

    /// Halts at once a tor that its service manager starts again; a child is ended by ``close(because:)``.
    func endTor() async {
        guard process == nil else { return }
        _ = try? await connection.send(.halt, within: .seconds(2))
    }

    /// Closes the connection, and ends the process if it is ours; returns what is to be said of the loss.
    func close(because error: ControlError) async -> OnionLoss {
        connection.close()
        guard let process else { return .control(error) }
        if case .timedOut = error {
            // One that hangs takes no signal but this.
            await process.stop(patience: .zero)
            return .control(error)
        }
        await process.stop()
        // A tor that ends by itself when its connection does is not what went wrong.
        if case .ended(.exited(0), _)? = process.failure { return .control(error) }
        return process.failure.map { .process($0) } ?? .control(error)
    }
}
