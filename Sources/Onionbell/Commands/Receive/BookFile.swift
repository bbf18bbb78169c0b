import Client
import Crypto
import Glibc
import JSONCoding
import Reactor

/// Where `onionbell receive` keeps its book: mode 0600, under a passphrase if one was given, for one process at a time.
final class BookFile {
    enum Fault: Error, CustomStringConvertible {
        case system(SystemError)
        case inUse(String)
        /// It is no such file.
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
    private let lock: CInt

    /// `$XDG_STATE_HOME/onionbell/phone`.
    static func standardPath(in environment: [String: String]) -> String {
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (state ?? "\(environment["HOME"] ?? ".")/.local/state") + "/onionbell/phone"
    }

    /// - Parameter passphrase: A file that is not sealed yet is sealed when it is written next.
    /// - Returns: `nil` in place of the book where there is no file yet.
    static func open(
        _ path: String, passphrase: Secret?
    ) throws(Fault) -> (file: BookFile, book: MailboxBook?) {
        let file = BookFile(path, lock: try lock(path))
        return (file, try file.read(passphrase))
    }

    /// What is kept there, also while another process keeps it.
    static func look(at path: String, passphrase: Secret?) throws(Fault) -> MailboxBook? {
        try BookFile(path, lock: -1).read(passphrase)
    }

    private static func lock(_ path: String) throws(Fault) -> CInt {
        BookFile.makeDirectories(above: path)
        let lock = Glibc.open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw .system(SystemError("open \(path).lock")) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            Glibc.close(lock)
            throw .inUse(path)
        }
        return lock
    }

    private init(_ path: String, lock: CInt) {
        self.path = path
        self.lock = lock
    }

    deinit { if lock >= 0 { Glibc.close(lock) } }

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

    /// It is on the disk when this returns.
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

    /// What can't be made shows when the file is opened.
    private static func makeDirectories(above path: String) {
        var end = path.startIndex
        while let slash = path[end...].dropFirst().firstIndex(of: "/") {
            mkdir(String(path[..<slash]), 0o700)
            end = slash
        }
    }
}
