import Client
import Crypto
import Glibc
import JSONCoding
import MailboxClients
import Reactor
import Terminal

/// The file in which `onionbell receive` keeps its book: mode 0600, under a passphrase if one was given, for one process at
/// a time.
final class BookFile {
    enum Fault: Error, CustomStringConvertible {
        case system(SystemError)
        case inUse(String)
        /// The file is none of `onionbell receive`.
        case unreadable(String)
        case needsPassphrase(String)
        case crypto(CryptoError)

        var description: String {
            switch self {
            case .system(let error): error.description
            case .inUse(let path): "another onionbell receive uses \(path)"
            case .unreadable(let path): "\(path) is no file of onionbell receive"
            case .needsPassphrase(let path):
                "\(path) is encrypted: give --passphrase or --passphrase-file"
            case .crypto(let error): error.description
            }
        }

        var exitStatus: Int32 {
            switch self {
            case .system: 74
            case .inUse: 75
            case .unreadable, .needsPassphrase, .crypto: 65
            }
        }
    }

    let path: String
    private var seal: PassphraseSeal?
    private let lock: FileLock?

    /// Returns `$XDG_STATE_HOME/onionbell/phone`, or another name in place of `phone`.
    static func standardPath(in environment: [String: String], named name: String = "phone") -> String {
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (state ?? "\(environment["HOME"] ?? ".")/.local/state") + "/onionbell/\(name)"
    }

    /// Opens the file, and reads the book in it; `nil` in place of the book where there is no file yet.
    ///
    /// - Parameter passphrase: With it, a file that is not sealed yet is sealed when it is written next.
    static func open(
        _ path: String, passphrase: Secret?
    ) throws(Fault) -> (file: BookFile, book: MailboxBook?) {
        let lock = try FileLock(of: path, inUse: Fault.inUse(path), unmade: Fault.system)
        let file = BookFile(path, lock: lock)
        return (file, try file.read(passphrase))
    }

    /// Returns the book that is kept there, also while another process keeps it.
    static func look(at path: String, passphrase: Secret?) throws(Fault) -> MailboxBook? {
        try BookFile(path, lock: nil).read(passphrase)
    }

    private init(_ path: String, lock: FileLock?) {
        self.path = path
        self.lock = lock
    }

    private func read(_ passphrase: Secret?) throws(Fault) -> MailboxBook? {
        var bytes: [UInt8]
        do throws(SystemError) {
            bytes = try PrivateFile.read(path, limit: MailboxBook.longest + PassphraseSeal.overhead)
        } catch {
            guard error.code == ENOENT else { throw .system(error) }
            do throws(CryptoError) {
                seal = try passphrase.map { secret throws(CryptoError) in
                    try PassphraseSeal(passphrase: secret)
                }
            } catch {
                throw .crypto(error)
            }
            return nil
        }
        guard passphrase != nil || !PassphraseSeal.isSealed(bytes) else { throw .needsPassphrase(path) }
        do throws(CryptoError) {
            if let passphrase, PassphraseSeal.isSealed(bytes) {
                let (text, seal) = try PassphraseSeal.open(bytes, passphrase: passphrase)
                self.seal = seal
                bytes = text
            } else if let passphrase {
                seal = try PassphraseSeal(passphrase: passphrase)
            }
        } catch {
            throw .crypto(error)
        }
        guard let json = try? JSON(bytes), let book = MailboxBook(json) else { throw .unreadable(path) }
        return book
    }

    /// Writes the book. It is on the disk when this returns.
    func write(_ book: MailboxBook) throws(Fault) {
        var bytes: [UInt8] = []
        bytes.append(json: book.json)
        do throws(CryptoError) {
            if let seal { bytes = try seal.seal(bytes) }
        } catch {
            throw .crypto(error)
        }
        do throws(SystemError) {
            try PrivateFile.write(bytes, to: path, replacing: true)
        } catch {
            throw .system(error)
        }
    }
}
