import Clocks
import Dispatching
import Logging
import Reactor

/// The list of rings on disk, where the owner wants it there: the file `rings` of the state directory, without tokens and
/// texts. What is older than the owner keeps goes.
@EventLoop
final class RingsFile {
    private let path: String
    private let age: Duration
    private let dispatcher: Dispatcher
    private let log: Logger
    private let timer = Timer()
    /// The changes that are on disk.
    private var changesSaved = -1

    /// The time between two saves, and the most that is lost when the process is killed.
    private static let interval: Duration = .seconds(60)

    /// Goes on with the list that an earlier node has kept.
    ///
    /// - Parameter isOfThisStore: Whether the store that the list speaks of is still there.
    /// - Returns: `nil`: nothing is to be kept, and what lay there is removed.
    static func open(
        at path: String, for age: Duration, of dispatcher: Dispatcher, isOfThisStore: Bool, log: Logger
    ) async -> RingsFile? {
        if age == .zero || !isOfThisStore { await remove(path) }
        guard age > .zero else { return nil }
        dispatcher.goOn(with: await read(path) ?? Rings(room: Rings.mostOnDisk))
        return RingsFile(path, age, dispatcher, log)
    }

    private init(_ path: String, _ age: Duration, _ dispatcher: Dispatcher, _ log: Logger) {
        (self.path, self.age, self.dispatcher, self.log) = (path, age, dispatcher, log)
        timer.action = { [unowned self] in
            Task { [weak self] in
                await self?.write()
                self?.start()
            }
        }
    }

    /// Forgets and saves by the clock, once the dispatcher knows the time.
    func start() {
        forget()
        timer.start(after: RingsFile.interval)
    }

    private func forget() {
        dispatcher.forgetRings(before: UnixTime(milliseconds: dispatcher.keptTime) - age)
    }

    /// Returns whether all is on disk.
    func stop() async -> Bool {
        timer.action = {}
        timer.stop()
        return await write()
    }

    @discardableResult
    private func write() async -> Bool {
        forget()
        let rings = dispatcher.rings
        guard rings.changes != changesSaved else { return true }
        guard let reason = await RingsFile.write(rings, to: path) else {
            changesSaved = rings.changes
            return true
        }
        log.warning("node.rings_not_saved", metadata: ["reason": "\(reason)"])
        return false
    }

    /// Reads the list; `nil`: the file can't be read, which is as good as none.
    @FileThread
    private static func read(_ path: String) -> Rings? {
        guard let lines = try? PrivateFile.read(path, limit: Rings.longest) else { return nil }
        return Rings(lines: lines, room: Rings.mostOnDisk)
    }

    @FileThread
    private static func write(_ rings: Rings, to path: String) -> SystemError? {
        PrivateFile.replace(path, with: rings.lines())
    }

    @FileThread
    private static func remove(_ path: String) { try? PrivateFile.remove(path) }
}
