import Crypto
import Gateways
import Glibc
import Node
import Reactor
import Terminal
import Tor

/// The key by which push services know the node, in its state directory: what `onionbell key ... --vapid` does.
struct VapidKeyFile {
    /// Bytes of the longest PEM text: a key on P-256 has some 240.
    private static let limit = 16_384

    let path: String

    init(_ settings: Settings) { self.init(in: settings.stateDirectory) }

    private let stateDirectory: String

    init(in stateDirectory: String) {
        self.stateDirectory = stateDirectory
        path = StateDirectory.vapidKey(in: stateDirectory)
    }

    func existing() throws -> VAPIDKey {
        try reportingRefusals { () throws(CallRefusal) in try StateDirectory.keptVAPIDKey(in: stateDirectory)
        }
    }

    func export(to file: String) throws -> VAPIDKey {
        let key = try existing()
        do {
            try PrivateFile.write(try key.pem().bytes, to: file, replacing: false)
        } catch {
            throw fail("\(error)", status: 73)
        }
        return key
    }

    /// Takes over a private key from a PEM file.
    ///
    /// - Parameter isForced: Whether to replace a key that is there, which is kept under another name.
    /// - Returns: What has become of files, a line each.
    func `import`(_ file: String, isForced: Bool) throws -> [String] {
        let key: VAPIDKey
        do {
            let bytes = try PrivateFile.read(file, limit: VapidKeyFile.limit)
            do { key = try VAPIDKey(pem: bytes) } catch {
                throw fail("\(file) contains no private key on P-256 in PEM form: \(error)", status: 65)
            }
        } catch let error as SystemError {
            throw fail(error, status: 66)
        }
        var lines: [String] = []
        var kept: String?
        if access(path, F_OK) == 0 {
            let former = try existing()
            guard former.publicText != key.publicText else { return ["\(path): \(key)"] }
            guard isForced else {
                throw fail(
                    "\(path) exists: with another key every paired browser has to pair again; --force replaces it",
                    status: 69)
            }
            let aside = "\(path)-\(former.publicText.prefix(16))"
            lines.append("\(aside): \(former)")
            kept = aside
        }
        do {
            var files = FileExchange()
            try files.put(try key.pem().bytes, at: path, keeping: kept)
            try files.exchange()
            files.keep()
        } catch {
            throw fail("\(error)", status: 69)
        }
        return lines + ["\(path): \(key)"]
    }
}
