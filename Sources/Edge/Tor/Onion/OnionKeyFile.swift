import Crypto
import Encodings
import Glibc
import Reactor

/// The file that keeps an onion key, mode 0600, in a directory of mode 0700.
///
///     onionbell-onion-key 1
///     seed <64 hex digits>                (or: expanded <128 hex digits>)
///     address <56 characters>.onion       (a check)
///
/// Written whole under another name, synced, and only then given its name: whenever the machine stops, the file is
/// either not there or right.
package struct OnionKeyFile: Sendable {
    package let path: String

    private static let header = "onionbell-onion-key 1"
    private static let sizeLimit = 1024

    package init(path: String) { self.path = path }

    /// Reads the key in the file; makes and keeps a new key when there is none.
    package func loadOrCreate() throws(OnionKeyFileError) -> OnionKey {
        if let key = try load() { return key }
        let key = OnionKey.generate()
        do {
            try create(key)
            return key
        } catch .exists {
            // Another process was faster: its key is the node's.
            guard let key = try load() else { throw .exists(path: path) }
            return key
        }
    }

    /// Reads the key in the file; `nil` when there is no file.
    package func load() throws(OnionKeyFileError) -> OnionKey? {
        let descriptor = PrivateFile.openRegular(path)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .system(SystemError("open \(path)"))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(SystemError("read \(path)")) }
        guard status.st_mode & 0o077 == 0 else { throw .notPrivate(path: path, mode: status.st_mode & 0o777) }
        var bytes = [UInt8](repeating: 0, count: Self.sizeLimit + 1)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw .system(SystemError("read \(path)")) }
        guard count <= Self.sizeLimit, let key = Self.parse(String(decoding: bytes[..<count], as: UTF8.self))
        else {
            throw .malformed(path: path)
        }
        return key
    }

    /// Writes a key into a new file.
    ///
    /// - Throws: ``OnionKeyFileError/exists(path:)`` rather than lose a key.
    package func create(_ key: OnionKey) throws(OnionKeyFileError) {
        do {
            try PrivateFile.write(Self.text(of: key), to: path, replacing: false)
        } catch {
            throw error.code == EEXIST ? .exists(path: path) : .system(error)
        }
    }

    /// Writes a key in place of the one that is there, which is kept under another name.
    package func replace(with key: OnionKey, keeping former: String) throws(OnionKeyFileError) {
        do {
            var files = FileExchange()
            try files.put(Array(Self.text(of: key).utf8), at: path, keeping: former)
            try files.exchange()
            files.keep()
        } catch {
            throw .system(error)
        }
    }

    private static func text(of key: OnionKey) -> String {
        let secret =
            switch key.secret {
            case .seed(let bytes): "seed \(Hex.encode(bytes))"
            case .expanded(let bytes): "expanded \(Hex.encode(bytes))"
            }
        return "\(header)\n\(secret)\naddress \(key.address)\n"
    }

    package static func parse(_ text: String) -> OnionKey? {
        let lines = text.split(separator: "\n")
        guard lines.count == 3, lines[0] == header else { return nil }
        let secret = lines[1].split(separator: " ", omittingEmptySubsequences: false)
        guard secret.count == 2, let bytes = Hex.decode(String(secret[1])) else { return nil }
        let key: OnionKey? =
            switch secret[0] {
            case "seed": OnionKey(seed: bytes)
            case "expanded": OnionKey(expanded: bytes)
            default: nil
            }
        // A changed digit would give another key that looks as good.
        return key.flatMap { lines[2] == "address \($0.address)" ? $0 : nil }
    }
}

package enum OnionKeyFileError: Error, Equatable, Sendable, CustomStringConvertible {
    case system(SystemError)
    case exists(path: String)
    case notPrivate(path: String, mode: UInt32)
    case malformed(path: String)

    package var description: String {
        switch self {
        case .system(let error): "the onion key: \(error)"
        case .exists(let path):
            "\(path) already contains an onion key: move it into another folder first; --force keeps it under another name"
        case .notPrivate(let path, let mode):
            "\(path) can be read by others (mode 0\(String(mode, radix: 8))); make it private: chmod 600 \(path)"
        case .malformed(let path):
            "\(path) is not an onion key file, or is damaged; restore a copy. To get a new address, move it into another folder"
        }
    }
}
