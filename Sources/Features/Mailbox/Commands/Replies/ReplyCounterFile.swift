import Client
import Crypto
import Encodings
import Glibc
import JSONCoding
import MailboxClients
import Reactor
import Terminal
import Wire

/// The last counter of one side of the way back: mode 0600, for one process at a time.
final class ReplyCounterFile {
    enum Fault: Error, CustomStringConvertible {
        case system(SystemError)
        case inUse(String)
        case unreadable(String)
        case ofAnother(String)

        var description: String {
            switch self {
            case .system(let error): error.description
            case .inUse(let path): "another onionbell uses \(path)"
            case .unreadable(let path): "\(path) has no counter of replies"
            case .ofAnother(let path): "\(path) is of another pairing: name another file"
            }
        }

        var exitStatus: Int32 {
            switch self {
            case .system: 74
            case .inUse: 75
            case .unreadable, .ofAnother: 65
            }
        }
    }

    private let path: String
    private let lock: FileLock
    /// A mark that tells channels apart, and leads to none.
    private let mark: String

    private static let longest = 4096

    /// Opens the file, and returns it with what is kept there; `nil`: nothing yet.
    static func open(
        _ path: String, for channel: ReplyChannel
    ) throws(Fault) -> (file: ReplyCounterFile, window: ReplyWindow?) {
        let file = try ReplyCounterFile(path, channel)
        return (file, try file.read())
    }

    private init(_ path: String, _ channel: ReplyChannel) throws(Fault) {
        self.path = path
        mark = String(Hex.encode(Hash.sha256(Array(channel.id.utf8))).prefix(16))
        lock = try FileLock(of: path, inUse: Fault.inUse(path), unmade: Fault.system)
    }

    private func read() throws(Fault) -> ReplyWindow? {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try PrivateFile.read(path, limit: ReplyCounterFile.longest)
        } catch {
            guard error.code == ENOENT else { throw .system(error) }
            return nil
        }
        guard let json = try? JSON(bytes), let counter = json["counter"]?.integer, counter >= 0,
            let since = json["since"]?.integer, let known = json["channel"]?.string
        else { throw .unreadable(path) }
        guard known.hasSameBytes(as: mark) else { throw .ofAnother(path) }
        return ReplyWindow(counter: counter, since: since)
    }

    /// Writes the window. It is on the disk when this returns.
    func write(_ window: ReplyWindow) throws(Fault) {
        let json: JSON = [
            "channel": .string(mark), "counter": .integer(window.counter), "since": .integer(window.since),
        ]
        do throws(SystemError) {
            try PrivateFile.write(json.text + "\n", to: path, replacing: true)
        } catch {
            throw .system(error)
        }
    }
}
