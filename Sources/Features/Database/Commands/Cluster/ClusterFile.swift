import Crypto
import Encodings
import Gateways
import JSONCoding
import Node

/// The file that `onionbell cluster export` hands over: a JSON document, sealed under a passphrase
/// (``Crypto/PassphraseSeal``).
///
///     {"onionbell_cluster": 1,
///      "keys": {"digest-key": "<64 hex digits>", "status-key": "<64 hex digits>", "vapid-key": "<PEM>"},
///      "credentials": {"<app>_<file>": "<base64>"}}
struct ClusterFile {
    enum Fault: SealedFileFault, CustomStringConvertible {
        /// The file is none of `onionbell cluster export`.
        case unreadable
        case newer
        case wrongPassphrase
        case tooLong
        case crypto(CryptoError)

        var description: String {
            switch self {
            case .unreadable: "is no file of onionbell cluster export"
            case .newer: "was written by a newer version of onionbell: use that one"
            case .wrongPassphrase: "cannot be opened: the passphrase is wrong, or the file was changed or cut"
            case .tooLong: "would be longer than \(ClusterFile.longest) bytes: leave the credentials out"
            case .crypto(let error): "\(error)"
            }
        }
    }

    /// Bytes of the longest text, with keys and credentials.
    static let longest = 4 << 20
    private static let version: Int64 = 1
    private static let head = "onionbell_cluster"

    var digestKey: Secret
    var statusKey: Secret
    var vapidKey: VAPIDKey
    /// The files of credentials, each with a name that is good for a file.
    var credentials: [(name: String, content: Secret)] = []

    init(digestKey: Secret, statusKey: Secret, vapidKey: VAPIDKey) {
        (self.digestKey, self.statusKey, self.vapidKey) = (digestKey, statusKey, vapidKey)
    }

    func sealed(under passphrase: Secret) throws(Fault) -> [UInt8] {
        let text: [UInt8]
        do throws(CryptoError) { text = try self.text() } catch { throw .crypto(error) }
        guard text.count <= ClusterFile.longest else { throw .tooLong }
        do throws(CryptoError) {
            return try PassphraseSeal(passphrase: passphrase).seal(text)
        } catch {
            throw .crypto(error)
        }
    }

    /// Returns the file's text before it is sealed.
    private func text() throws(CryptoError) -> [UInt8] {
        let keys: JSON.Object = [
            "digest-key": .string(Hex.encode(digestKey.bytes)),
            "status-key": .string(Hex.encode(statusKey.bytes)),
            "vapid-key": .string(String(decoding: try vapidKey.pem().bytes, as: UTF8.self)),
        ]
        let files = credentials.map { ($0.name, JSON.string(Base64.encode($0.content.bytes))) }
        var text: [UInt8] = []
        text.append(
            json: .object([
                ClusterFile.head: .integer(ClusterFile.version), "keys": .object(keys),
                "credentials": .object(JSON.Object(files)),
            ]))
        return text
    }

    init(sealed file: [UInt8], passphrase: Secret) throws(Fault) {
        let text = try PassphraseSeal.text(of: file, passphrase: passphrase, orThrow: Fault.self)
        guard let json = try? JSON(text), let version = json[ClusterFile.head]?.integer else {
            throw .unreadable
        }
        guard version == ClusterFile.version else {
            throw version > ClusterFile.version ? .newer : .unreadable
        }
        func secret(_ name: String) -> Secret? {
            let bytes = json["keys"]?[name]?.string.flatMap { Hex.decode($0) }
            return bytes.flatMap { $0.count == 32 ? Secret($0) : nil }
        }
        guard let digestKey = secret("digest-key"), let statusKey = secret("status-key"),
            let pem = json["keys"]?["vapid-key"]?.string, let vapidKey = try? VAPIDKey(pem: Array(pem.utf8)),
            let files = json["credentials"]?.object
        else { throw .unreadable }
        self.init(digestKey: digestKey, statusKey: statusKey, vapidKey: vapidKey)
        for (name, content) in files {
            guard ClusterFile.isName(name), let bytes = content.string.flatMap({ Base64.decode($0) }) else {
                throw .unreadable
            }
            credentials.append((name, Secret(bytes)))
        }
        credentials.sort { $0.name < $1.name }
    }

    /// Adds a file of an app.
    mutating func add(_ content: [UInt8], of app: String, path: String) {
        let file = path.split(separator: "/").last.map(String.init) ?? ""
        let letters = "\(app)_\(file)".utf8.map { ClusterFile.isPartOfName($0) ? $0 : UInt8(ascii: "-") }
        let name = String(decoding: letters.prefix(180), as: UTF8.self)
        var number = 2
        var unused = name
        while credentials.contains(where: { $0.name == unused }) {
            unused = "\(name)-\(number)"
            number += 1
        }
        credentials.append((unused, Secret(content)))
    }

    /// Whether a name is good for a file: it becomes a file's name, so it leads nowhere else.
    private static func isName(_ name: String) -> Bool {
        (1...200).contains(name.utf8.count) && !name.hasPrefix(".") && name.utf8.allSatisfy(isPartOfName)
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        ASCII.letter(byte) | ASCII.digit(byte) == 1 || ".-_".utf8.contains(byte)
    }
}
