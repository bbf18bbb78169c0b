import Glibc
import Reactor
import Tor

/// A tor of the private network: a relay, or a client that plays a peer or the system's tor.
@EventLoop
package final class LabTor {
    package let name: String
    package let dataDirectory: String
    /// Authenticated, and up as long as the process.
    package private(set) var connection: ControlConnection!
    /// The place at which it takes SOCKS connections; `nil` for a relay.
    package private(set) var socks: Endpoint?

    package var control: Endpoint { .unix(path: dataDirectory + "/control") }
    package var cookieFile: String { dataDirectory + "/control.authcookie" }
    package var credentials: ControlCredentials { ControlCredentials(cookieFile: cookieFile) }
    package var processID: Int32 { child.processID }

    private let binary: String
    private var child: ChildProcess!
    private var exit: ChildExit?
    /// The last 40 lines of its output.
    package private(set) var lastLines: [String] = []
    private var exitWaiters: [UnsafeContinuation<Void, Never>] = []

    /// Starts the process; ``connect()`` waits for it.
    ///
    /// - Parameter lines: the torrc, but for what every tor of the Lab has.
    init(_ binary: String, name: String, dataDirectory: String, lines: [String]) throws(LabError) {
        self.binary = binary
        self.name = name
        self.dataDirectory = dataDirectory
        let common = [
            "DataDirectory \(dataDirectory)", "ControlPort unix:\(dataDirectory)/control",
            "CookieAuthentication 1", "CookieAuthFile \(dataDirectory)/control.authcookie",
            "__OwningControllerProcess \(getpid())", "Log notice stdout",
        ]
        let text = (common + lines).joined(separator: "\n") + "\n"
        try LabDirectory.write(Array(text.utf8), to: dataDirectory + "/torrc")
        try run()
    }

    private func run() throws(LabError) {
        exit = nil
        do {
            child = try ChildProcess(
                [
                    binary, "-f", dataDirectory + "/torrc", "--defaults-torrc", dataDirectory + "/none",
                    "--ignore-missing-torrc",
                ],
                onLine: { [weak self] line in self?.remember(line) },
                onExit: { [weak self] exit in self?.ended(exit) })
        } catch {
            throw .tool(.notStarted(error))
        }
    }

    /// Returns when its control port takes commands.
    func connect() async throws(LabError) {
        let end = ContinuousClock.now + .seconds(30)
        while true {
            do {
                connection = try await ControlConnection.open(control, credentials: credentials)
                return
            } catch {
                if let exit {
                    throw .tool(
                        .ended("tor (\(name))", exit, output: lastLines.suffix(4).joined(separator: " / ")))
                }
                guard error.mayPassSoon else { throw .control(error) }
                guard ContinuousClock.now < end else { throw .timedOut("the start of tor (\(name))") }
            }
            try? await Task.sleep(for: .milliseconds(30))
        }
    }

    /// Returns when it is in the network and, if it has one, its SOCKS port is open.
    func waitUntilBootstrapped() async throws(LabError) {
        let end = ContinuousClock.now + .seconds(90)
        while true {
            let phase = try await value(of: "status/bootstrap-phase")
            if let bootstrap = Bootstrap(phase: phase), bootstrap.progress == 100 { break }
            guard ContinuousClock.now < end else {
                throw .timedOut("the way of tor (\(name)) into the network: \(phase)")
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
        let listeners = try await value(of: "net/listeners/socks")
        socks = (try? ReplyFields(listeners))?.words.first.flatMap { Endpoint($0.value) }
    }

    /// Returns the value of one key of GETINFO.
    package func value(of key: String) async throws(LabError) -> String {
        do {
            let reply = try await connection.send(.getInfo([key]))
            guard let value = reply[key] else { throw LabError.unreadable("GETINFO \(key)") }
            return value
        } catch let error as ControlError {
            throw .control(error)
        } catch {
            throw .unreadable("GETINFO \(key)")
        }
    }

    /// Kills the process; returns when it is gone.
    package func kill() async {
        connection?.close()
        guard exit == nil else { return }
        child.signal(SIGKILL)
        await withUnsafeContinuation { exitWaiters.append($0) }
    }

    /// Starts tor again after ``kill()``, with the same data directory; returns when it is in the network.
    package func restart() async throws(LabError) {
        precondition(exit != nil, "\(name) still runs")
        try run()
        try await connect()
        try await waitUntilBootstrapped()
    }

    private func remember(_ line: String) {
        lastLines.append(line)
        if lastLines.count > 40 { lastLines.removeFirst() }
    }

    private func ended(_ exit: ChildExit) {
        self.exit = exit
        for waiter in exitWaiters { waiter.resume() }
        exitWaiters = []
    }

    /// Gives tor the key of a private service's client, as a person does at the control port.
    ///
    /// - Parameters:
    ///   - clientKey: `x25519:` and base64.
    ///   - serviceID: without `.onion`.
    package func give(clientKey: String, for serviceID: String) async throws(ControlError) {
        try await connection.send(ControlCommand("ONION_CLIENT_AUTH_ADD", [serviceID, clientKey]))
    }

    /// Makes tor forget descriptors and circuits, as "New identity" does in a browser. Later streams begin anew.
    package func takeNewIdentity() async throws(ControlError) {
        try await connection.send(ControlCommand("SIGNAL", ["NEWNYM"]))
    }

    /// Publishes an onion service as long as this tor runs.
    ///
    /// - Returns: Its address.
    package func publish(_ ports: [(port: UInt16, to: Endpoint)]) async throws -> String {
        let reply = try await connection.send(
            ControlCommand(
                "ADD_ONION",
                ["NEW:ED25519-V3", "Flags=DiscardPK"] + ports.map { "Port=\($0.port),\($0.to)" }))
        guard let serviceID = reply["ServiceID"] else { throw LabError.unreadable("the answer to ADD_ONION") }
        return "\(serviceID).onion"
    }
}
