import Clocks
import Crypto
import Dispatching
import Logging
import Reactor

/// The list of rings on disk, where the owner wants it there: the file `rings` of the state directory, without tokens and
/// texts, sealed under the key of this directory. What is older than the owner keeps goes.
@EventLoop
final class RingsFile {
    private let path: String
    private let key: Secret
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
        at path: String, sealedUnder key: Secret, for age: Duration, of dispatcher: Dispatcher,
        isOfThisStore: Bool, log: Logger
    ) async -> RingsFile? {
        if age == .zero || !isOfThisStore { await remove(path) }
        guard age > .zero else { return nil }
        dispatcher.goOn(with: await read(path, key) ?? Rings(room: Rings.mostOnDisk))
        return RingsFile(path, key, age, dispatcher, log)
    }

    private init(_ path: String, _ key: Secret, _ age: Duration, _ dispatcher: Dispatcher, _ log: Logger) {
        (self.path, self.key, self.age, self.dispatcher, self.log) = (path, key, age, dispatcher, log)
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
        guard let reason = await RingsFile.write(rings, to: path, key) else {
            changesSaved = rings.changes
            return true
        }
        log.warning("node.rings_not_saved", metadata: ["reason": "\(reason)"])
        return false
    }

    /// Returns the cipher. What is sealed under another key, or was changed, is as good as none.
    @FileThread
    private static func seal(_ key: Secret) -> AES256SIV { AES256SIV(derivedFrom: key, for: "kept rings") }
    private nonisolated static let context = "rings"

    /// Reads the list; `nil`: the file can't be read or opened, which is as good as none.
    @FileThread
    private static func read(_ path: String, _ key: Secret) -> Rings? {
        guard let sealed = try? PrivateFile.read(path, limit: Rings.longest + AES256SIV.overhead),
            let lines = try? seal(key).open(sealed, as: context)
        else { return nil }
        return Rings(lines: lines, room: Rings.mostOnDisk)
    }

    /// Returns why the list could not be written; `nil`: it is on disk.
    @FileThread
    private static func write(_ rings: Rings, to path: String, _ key: Secret) -> String? {
        do throws(CryptoError) {
            return PrivateFile.replace(path, with: try seal(key).seal(rings.lines(), as: context))?
                .description
        } catch {
            return "\(error)"
        }
    }

    @FileThread
    private static func remove(_ path: String) { try? PrivateFile.remove(path) }
}
