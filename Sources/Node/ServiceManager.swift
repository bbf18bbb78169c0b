import Glibc
import Reactor

/// Tells the service manager that started this process how it stands: systemd's notification protocol, a datagram of
/// lines to the socket that `$NOTIFY_SOCKET` names (sd_notify(3)). Without that variable nothing is sent.
///
/// With a watchdog (`$WATCHDOG_USEC`) it hears at half of its interval that the process lives: this timer runs on the event
/// loop, and the store's thread has to have answered since the last time. If either hangs, nothing is sent, and the service
/// manager starts the node anew.
@EventLoop
final class ServiceManager {
    private let socket: NotifySocket?
    private let watchdogInterval: Duration?
    private var isAlive: (() async -> Void)?
    private var isAsking = false
    private var status = ""
    private let timer = Timer()

    /// Reads the service manager's variables, and takes them out of the environment.
    ///
    /// - Parameter environment: the process's; `WATCHDOG_PID`, if there, has to be ours.
    init(environment: [String: String]) {
        // Not for the children: tor would send messages of its own.
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsetenv(name) }
        socket = environment["NOTIFY_SOCKET"].flatMap(NotifySocket.init)
        watchdogInterval = ServiceManager.watchdogInterval(environment, processID: getpid())
        timer.action = { [unowned self] in beat() }
    }

    /// Returns half of the time for which the service manager waits; `nil` where it has no watchdog for this
    /// process.
    nonisolated static func watchdogInterval(_ environment: [String: String], processID: pid_t) -> Duration? {
        guard let limit = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), limit > 0 else { return nil }
        if let owner = environment["WATCHDOG_PID"], owner != String(processID) { return nil }
        return .microseconds(limit / 2)
    }

    /// Doors and outbox are open.
    ///
    /// - Parameter isAlive: returns once the store's thread has done what was asked of it before.
    func ready(isAlive: @escaping () async -> Void) {
        socket?.send("READY=1")
        guard socket != nil, watchdogInterval != nil else { return }
        self.isAlive = isAlive
        beat()
    }

    /// Sends one line for `systemctl status`.
    func tell(_ status: String) {
        guard status != self.status else { return }
        self.status = status
        socket?.send("STATUS=" + status.filter { $0 != "\n" })
    }

    func stopping() {
        timer.stop()
        isAlive = nil
        socket?.send("STOPPING=1\nSTATUS=stopping")
    }

    /// Tells that the process becomes its successor, which says when it is ready.
    func restarting() {
        timer.stop()
        isAlive = nil
        // A watchdog hears nothing until then.
        socket?.send(
            "RELOADING=1\nMONOTONIC_USEC=\(EventLoop.awake.nanoseconds / 1000)\nWATCHDOG=1\nSTATUS=restarting in place"
        )
    }

    private func beat() {
        guard let watchdogInterval, let isAlive else { return }
        timer.start(after: watchdogInterval)
        // The last question is still unanswered: a thread hangs.
        guard !isAsking else { return }
        isAsking = true
        Task {
            await isAlive()
            isAsking = false
            if self.isAlive != nil { socket?.send("WATCHDOG=1") }
        }
    }
}
