import Crypto
import Encodings
import Gateways
import Glibc
import Node
import Reactor
import Terminal

/// The keys in a state directory that all nodes on one database share.
struct SharedKeys {
    static let names = ["digest-key", "status-key", "vapid-key"]

    private let directory: String

    init(in directory: String) { self.directory = directory }

    var paths: [String] { SharedKeys.names.map { "\(directory)/\($0)" } }

    /// Returns the keys. Those that are not there are made: two nodes that make one each could not become one
    /// cluster any more.
    func existingOrMade() throws -> ClusterFile {
        var status = stat()
        guard stat(directory, &status) == 0 else {
            throw fail("there is no \(directory) yet: the node creates it at its first start", status: 69)
        }
        // What another user makes the node could not read.
        if let missing = paths.first(where: { access($0, F_OK) != 0 }), status.st_uid != geteuid() {
            throw fail(
                "there is no \(missing) yet: run this as the node's user, for example sudo -u onionbell onionbell ...",
                status: 69)
        }
        do {
            let vapidKey = StateDirectory.vapidKey(in: directory)
            if access(vapidKey, F_OK) != 0 {
                try PrivateFile.write(
                    try VAPIDKey.generate().pem().bytes, to: vapidKey, replacing: false)
            }
            return ClusterFile(
                digestKey: try StateDirectory.digestKey(in: directory),
                statusKey: try StateDirectory.statusKey(in: directory), vapidKey: try keptVAPIDKey())
        } catch let error as NodeError {
            throw fail(error, status: error.exitStatus)
        } catch let error as SystemError {
            throw fail(error, status: 69)
        }
    }

    private func keptVAPIDKey() throws -> VAPIDKey {
        try reportingRefusals { () throws(CallRefusal) in try StateDirectory.keptVAPIDKey(in: directory) }
    }

    /// A key as it is to be, and how its file stands.
    private struct Key {
        var path: String
        var content: [UInt8]
        /// Whether the key that is there is the same; `nil`: there is none.
        var isSame: Bool?
        /// The path at which the key that is there is kept.
        var aside = ""
        var words = ""
    }

    /// Prepares the keys' files.
    ///
    /// - Parameters:
    ///   - isForced: others that are there are kept under another name.
    ///   - files: Nothing is written before their exchange.
    /// - Returns: What becomes of files, a line each.
    func take(_ cluster: ClusterFile, isForced: Bool, by files: inout FileExchange) throws -> [String] {
        let keys = try [digestKey(cluster), statusKey(cluster), vapidKey(cluster)]
        let others = keys.filter { $0.isSame == false }
        guard isForced || others.isEmpty else {
            throw fail(
                others.map { "\($0.path) is another key: \($0.words)" }.joined(separator: "; ")
                    + ". --force replaces it and keeps the old one. Nothing was written", status: 69)
        }
        var lines: [String] = []
        for key in keys where key.isSame != true {
            if key.isSame == false { lines.append("\(key.aside): the old key") }
            do {
                try files.put(key.content, at: key.path, keeping: key.isSame == false ? key.aside : nil)
            } catch {
                throw fail(error, status: 69)
            }
            lines.append("\(key.path): written")
        }
        return lines + keys.filter { $0.isSame == true }.map { "\($0.path): the same already" }
    }

    private func digestKey(_ cluster: ClusterFile) throws -> Key {
        try key("digest-key", cluster.digestKey, "what this node has stored cannot be opened with a new one")
        {
            () throws(NodeError) in try StateDirectory.digestKey(in: directory)
        }
    }

    private func statusKey(_ cluster: ClusterFile) throws -> Key {
        try key("status-key", cluster.statusKey, "clients of Status have to register again with a new one") {
            () throws(NodeError) in try StateDirectory.statusKey(in: directory)
        }
    }

    private func key(
        _ name: String, _ new: Secret, _ words: String, present: () throws(NodeError) -> Secret
    ) throws -> Key {
        var key = Key(path: "\(directory)/\(name)", content: Array("\(Hex.encode(new.bytes))\n".utf8))
        key.words = words
        guard access(key.path, F_OK) == 0 else { return key }
        do throws(NodeError) {
            let former = try present()
            key.isSame = former == new
            key.aside = "\(key.path)-\(Hex.encode(Array(Hash.sha256(former.bytes).prefix(4))))"
        } catch {
            throw fail(error, status: error.exitStatus)
        }
        return key
    }

    private func vapidKey(_ cluster: ClusterFile) throws -> Key {
        let file = StateDirectory.vapidKey(in: directory)
        var key = Key(path: file, content: try cluster.vapidKey.pem().bytes)
        key.words = "every paired browser has to pair again with a new one"
        guard access(file, F_OK) == 0 else { return key }
        let former = try keptVAPIDKey()
        key.isSame = former.publicText == cluster.vapidKey.publicText
        key.aside = "\(file)-\(former.publicText.prefix(16))"
        return key
    }
}
