import Clocks
import Dispatching
import Figures
import Logging
import Overview
import Reactor

/// Reads the counters once a minute and the checks more often, for what happened when; and carries both over a restart.
@EventLoop
package final class NodeHistory {
    private var history: History
    package private(set) var timeline: Timeline
    private let path: String
    private let dispatcher: Dispatcher
    private var checks: @EventLoop () async -> [Check] = { [] }
    private let log: Logger
    private var isStopped = false
    private let timer = Timer()
    private let checkTimer = Timer()
    private let saveTimer = Timer()

    /// The time between two looks at the checks. An outage of this length is seen.
    private static let checkInterval: Duration = .seconds(10)
    /// The time between two saves, and the most that is lost when the process is killed.
    private static let saveInterval: Duration = .seconds(300)

    /// Goes on with the history that an earlier node has kept.
    ///
    /// - Parameters:
    ///   - path: The path of the file that carries the history over a restart.
    ///   - kept: The bytes of that file: see ``kept(at:)``.
    init(of dispatcher: Dispatcher, at path: String, kept: [UInt8], log: Logger) {
        (self.dispatcher, self.path, self.log) = (dispatcher, path, log)
        (history, timeline) = PastText.read(
            kept, at: EventLoop.unixMilliseconds, minute: NodeHistory.minute)
        timer.action = { [unowned self] in
            _ = upToNow()
            startMinute()
        }
        checkTimer.action = { [unowned self] in
            Task { [weak self] in await self?.look() }
        }
        saveTimer.action = { [unowned self] in
            Task { [weak self] in await self?.save() }
        }
    }

    /// Reads the file of the history. A file that can't be read is as good as none.
    @FileThread
    static func kept(at path: String) -> [UInt8] {
        (try? PrivateFile.read(path, limit: PastText.limit)) ?? []
    }

    /// Returns the history with what has happened in this minute so far.
    func upToNow() -> History {
        let totals = History.Totals(doors: dispatcher.doors.map(\.figures), lanes: dispatcher.laneTotals)
        history.read(totals, waiting: dispatcher.waiting, at: NodeHistory.minute)
        return history
    }

    func start(_ checks: @escaping @EventLoop () async -> [Check]) {
        self.checks = checks
        startMinute()
        checkTimer.start(after: .zero)
        saveTimer.start(after: NodeHistory.saveInterval)
    }

    private func look() async {
        let checks = await checks()
        guard !isStopped else { return }
        timeline.note(checks, at: EventLoop.unixMilliseconds)
        checkTimer.start(after: NodeHistory.checkInterval)
    }

    /// Starts the timer for a reading a little before the minute's end. A reading after the end would count
    /// what came before it as the next minute's.
    private func startMinute() {
        let rest = 60_000_000_000 - EventLoop.now.nanoseconds % 60_000_000_000
        timer.start(after: .nanoseconds(rest > 100_000_000 ? rest - 50_000_000 : rest + 59_950_000_000))
    }

    /// Returns when it is written.
    func stop() async {
        isStopped = true
        timer.stop()
        checkTimer.stop()
        saveTimer.stop()
        await write()
    }

    private func save() async {
        await write()
        guard !isStopped else { return }
        saveTimer.start(after: NodeHistory.saveInterval)
    }

    private func write() async {
        let text = PastText.text(upToNow(), timeline, at: EventLoop.unixMilliseconds)
        guard text.count <= PastText.limit, let reason = await PrivateFile.replace(path, with: text)
        else { return }
        log.debug("node.history_not_saved", metadata: ["reason": "\(reason)"])
    }

    private static var minute: Int64 { EventLoop.now.nanoseconds / 60_000_000_000 }
}
