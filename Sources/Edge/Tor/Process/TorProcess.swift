import Glibc
import Reactor

/// The configuration with which a tor of our own is started.
package struct TorProcessSettings: Equatable, Sendable {
    /// A path, or a name to be found by PATH.
    package var binary: String
    /// Tor's configuration file. What this type sets itself wins over it.
    package var torrc: String
    /// Tor's own files; made, mode 0700, if it is not there. Nobody else may use it.
    package var dataDirectory: String
    /// Whether tor takes SOCKS connections, at a Unix socket in the data directory.
    package var offersSocks: Bool

    package init(binary: String = "tor", torrc: String, dataDirectory: String, offersSocks: Bool) {
        self.binary = binary
        self.torrc = torrc
        self.dataDirectory = dataDirectory
        self.offersSocks = offersSocks
    }

    var controlSocket: String { dataDirectory + "/control" }
    var socksSocket: String { dataDirectory + "/socks" }
    var cookieFile: String { dataDirectory + "/control.authcookie" }

    var arguments: [String] {
        [
            // Neither the distribution's defaults nor those of another service are ours.
            binary, "-f", torrc, "--defaults-torrc", dataDirectory + "/no-defaults",
            "--ignore-missing-torrc",
            "--DataDirectory", dataDirectory,
            "--ControlPort", "unix:\(ControlCommand.quoted(controlSocket.utf8))",
            "--CookieAuthentication", "1", "--CookieAuthFile", cookieFile,
            "--SocksPort",
            offersSocks ? "unix:\(ControlCommand.quoted(socksSocket.utf8)) ExtendedErrors" : "0",
            // Behind the kernel's signal to the child: tor itself looks every 15 s whether we are still there.
            "--__OwningControllerProcess", "\(getpid())",
        ]
    }
}

/// One run of a tor of our own: a child process that ends when we do, however we end.
@EventLoop
package final class TorProcess {
    package let settings: TorProcessSettings
    /// The way in which the process ended; `nil` while it runs.
    package private(set) var failure: TorProcessError?

    private var child: ChildProcess!
    /// The last complaints of tor, to be logged when it ends.
    private var complaints: [(words: String, at: ContinuousClock.Instant)] = []
    /// The time after which a complaint is not the reason why tor ends.
    private static let complaintLifetime = Duration.seconds(2)
    private var isLockedOut = false
    private var exitWaiters: [UnsafeContinuation<Void, Never>] = []

    /// Starts tor.
    ///
    /// - Parameter onLine: each line of tor's log, without addresses.
    package init(
        _ settings: TorProcessSettings, onLine: @escaping @EventLoop (TorLogLine) -> Void
    ) throws(TorProcessError) {
        self.settings = settings
        // Tor would wait for a pipe.
        let torrc = PrivateFile.openRegular(settings.torrc)
        guard torrc >= 0 else { throw .filesUnusable(SystemError("read \(settings.torrc)")) }
        close(torrc)
        guard settings.controlSocket.utf8.count <= Self.longestSocketPath else {
            throw .pathTooLong(settings.controlSocket)
        }
        do { try PrivateFile.makeDirectory(settings.dataDirectory) } catch { throw .filesUnusable(error) }
        do {
            child = try ChildProcess(
                settings.arguments,
                // Ours names credentials. Tor needs nothing of it, and is where a stranger's bytes go first.
                environment: [],
                // It ends with its owning connection, and goes on with a successor that has that.
                outlives: true,
                onLine: { [weak self] in self?.take($0, onLine) },
                onExit: { [weak self] exit in self?.ended(exit) })
        } catch {
            throw error.code == ENOENT ? .notFound(settings.binary) : .notStarted(error)
        }
    }

    /// Takes over a tor that this process started before it became this program; `nil`: there is none.
    init?(
        _ settings: TorProcessSettings, inheriting processID: Int32, output: consuming Descriptor,
        onLine: @escaping @EventLoop (TorLogLine) -> Void
    ) {
        self.settings = settings
        // The closures need the whole object, which needs the child.
        let inherited = ChildProcess(
            inheriting: processID, output: output,
            onLine: { [weak self] in self?.take($0, onLine) },
            onExit: { [weak self] exit in self?.ended(exit) })
        guard let inherited else { return nil }
        child = inherited
    }

    /// Lets go of a tor that runs on, for this process' successor; returns the pipe of its log.
    func handOn() -> Descriptor? { child.handOn() }

    private func take(_ text: String, _ onLine: @EventLoop (TorLogLine) -> Void) {
        let line = TorLogLine(text)
        remember(line)
        onLine(line)
    }

    package var processID: Int32 { child.processID }
    package var controlEndpoint: Endpoint { .unix(path: settings.controlSocket) }
    package var credentials: ControlCredentials { ControlCredentials(cookieFile: settings.cookieFile) }

    /// Asks tor to end, kills it when it takes too long, and returns when it is gone.
    package func stop(patience limit: Duration = .seconds(5)) async {
        guard failure == nil else { return }
        child.signal(SIGTERM)
        let patience = Timer { [weak self] in self?.child.signal(SIGKILL) }
        patience.start(after: limit)
        await withUnsafeContinuation { exitWaiters.append($0) }
        patience.stop()
    }

    private func remember(_ line: TorLogLine) {
        guard line.level >= .warning else { return }
        if line.words.hasPrefix("It looks like another Tor process is running with the same data directory") {
            isLockedOut = true
        }
        complaints.append((line.words, .now))
        if complaints.count > 8 { complaints.removeFirst() }
    }

    private func ended(_ exit: ChildExit) {
        let words = complaints.filter { complaint in
            complaint.at > .now - Self.complaintLifetime
                // These two come with every failure, or every start, and tell nothing.
                && !complaint.words.hasPrefix("Reading config failed")
                && !complaint.words.hasPrefix("You are running")
        }
        failure =
            isLockedOut
            ? .anotherTor(dataDirectory: settings.dataDirectory)
            : .ended(exit, lastWords: words.suffix(2).map(\.words).joined(separator: " "))
        for waiter in exitWaiters { waiter.resume() }
        exitWaiters = []
    }

    /// The kernel's limit for the path of a Unix socket, in bytes.
    private nonisolated static let longestSocketPath = 107
    /// Bytes of the longest data directory, in which the control socket lies.
    package nonisolated static let longestDataDirectory = longestSocketPath - "/control".utf8.count
}

package enum TorProcessError: Error, Equatable, Sendable, CustomStringConvertible {
    case notFound(String)
    case notStarted(SystemError)
    case filesUnusable(SystemError)
    case pathTooLong(String)
    /// `lastWords`: tor's last complaints; may be empty.
    case ended(ChildExit, lastWords: String)
    /// Tor runs, and did not open its control port in time.
    case silent(after: Duration)
    /// A tor that is not ours runs in this data directory.
    case anotherTor(dataDirectory: String)

    package var description: String {
        switch self {
        case .notFound(let binary):
            "there is no tor at \(binary); install it (apt install tor) or set tor.binary"
        case .notStarted(let error): "tor can't be started: \(error)"
        case .filesUnusable(let error): "tor can't be started: \(error)"
        case .pathTooLong(let path):
            "\(path) is \(path.utf8.count) bytes long, and the limit for a Unix socket is 107: choose a shorter state_directory"
        case .ended(let exit, let words):
            "tor ended (\(exit)): \(words.isEmpty ? "it said nothing of why; onionbell doctor looks at its version and torrc" : words)"
        case .silent(let time): "tor did not open its control port within \(time)"
        case .anotherTor(let directory):
            "another tor runs in \(directory): is a second node started with this state_directory?"
        }
    }
}
