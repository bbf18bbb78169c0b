import Encodings
import Glibc
import JSONCoding
import Node
import Persistence
import Reactor

/// All that a move changes, as it was before: the file `moving-back` of the state directory.
///
///     {"had_peers": true, "files": {"<path>": {"mode": 384, "content": "<base64>"} or null, …},
///      "rows": {"phone": "<a JSON array for each row, a line each>", …}}
///
/// Written before the first file changes, and removed when the moved node has started. A start that fails before goes back
/// by it. A start that was killed is tried once more.
struct MovedOut {
    private static func file(in stateDirectory: String) -> String { stateDirectory + "/moving-back" }
    private static let longest = 4 * NodeBackup.longest

    private struct File {
        let content: [UInt8]
        let mode: mode_t
    }

    /// Whether the node was private.
    private let hadPeers: Bool
    /// The files by their paths; `nil`: there was none.
    private var files: [ByteText: File?] = [:]
    /// The rows that the move adds.
    private var rows: [BackupTable] = []

    init(hadPeers: Bool) { self.hadPeers = hadPeers }

    /// Notes a file that is going to be changed.
    mutating func note(_ path: String) throws(SystemError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else { throw SystemError("read \(path)") }
            files[ByteText(path)] = .some(nil)
            return
        }
        files[ByteText(path)] = File(
            content: try PrivateFile.read(path, limit: NodeBackup.longest), mode: status.st_mode & 0o777)
    }

    mutating func note(_ rows: [BackupTable]) { self.rows = rows }

    /// Writes the file, but where a start that was killed has left one, which knows what was before.
    func write(in stateDirectory: String) throws(SystemError) {
        do throws(SystemError) {
            try PrivateFile.write(text, to: MovedOut.file(in: stateDirectory), replacing: false)
        } catch {
            guard error.code == EEXIST else { throw error }
        }
    }

    /// Removes the file: the moved node has started.
    static func forget(in stateDirectory: String) {
        guard access(file(in: stateDirectory), F_OK) == 0 else { return }
        try? PrivateFile.remove(file(in: stateDirectory))
    }

    /// Goes back to what was before the move.
    ///
    /// - Parameter reason: why the start with the move failed, for the owner.
    /// - Returns: Whether there was a move that no start has come after.
    static func goBack(
        in stateDirectory: String, of kinds: DoorKinds, because reason: String
    ) throws(NodeError) -> Bool {
        let file = file(in: stateDirectory)
        guard access(file, F_OK) == 0, let state = try StateDirectory(ofStoppedNode: stateDirectory) else {
            return false
        }
        do {
            guard let before = MovedOut(text: try PrivateFile.read(file, limit: longest), of: kinds) else {
                throw SystemError("read \(file)", code: EINVAL)
            }
            try before.restore(in: state.path, kinds)
            try PrivateFile.remove(file)
            UndoneMove.note(reason, in: state.path)
            return true
        } catch {
            throw .unavailable("the node can't go back to what was before the move: \(error)")
        }
    }

    private func restore(in stateDirectory: String, _ kinds: DoorKinds) throws {
        let peers = StateDirectory.peers(in: stateDirectory)
        var exchange = FileExchange()
        for (path, file) in files {
            if let file {
                if path.wrappedValue.hasPrefix(peers + "/") { try exchange.makeDirectory(peers) }
                try exchange.put(file.content, at: path.wrappedValue, mode: file.mode)
            } else {
                try exchange.remove(path.wrappedValue)
            }
        }
        if hadPeers { try exchange.makeDirectory(peers) }
        try exchange.exchange()
        if !rows.isEmpty {
            try RegistrationFile(
                path: StateDirectory.outbox(in: stateDirectory), of: kinds, isReadOnly: false
            ).remove(rows)
        }
        exchange.keep()
        if !hadPeers { rmdir(peers) }
    }
}

extension MovedOut {
    private var text: [UInt8] {
        let files = JSON.Object(
            files.map { path, file in
                let value: JSON? = file.map { file in
                    ["mode": .integer(Int64(file.mode)), "content": .string(Base64.encode(file.content))]
                }
                return (path.wrappedValue, value ?? .null)
            })
        var text: [UInt8] = []
        text.append(
            json: [
                "had_peers": .bool(hadPeers), "files": .object(files),
                "rows": .object(JSON.Object(rows.map { ($0.name, .string($0.lines)) })),
            ])
        return text
    }

    private init?(text: [UInt8], of kinds: DoorKinds) {
        guard let json = try? JSON(text, maximumDepth: 4), let hadPeers = json["had_peers"]?.bool,
            let files = json["files"]?.object, let tables = json["rows"]?.object
        else { return nil }
        self.init(hadPeers: hadPeers)
        for (path, value) in files {
            guard value != .null else {
                self.files[ByteText(path)] = .some(nil)
                continue
            }
            guard let mode = value["mode"]?.integer, let content = value["content"]?.string,
                let bytes = Base64.decode(content)
            else { return nil }
            self.files[ByteText(path)] = File(content: bytes, mode: mode_t(truncatingIfNeeded: mode))
        }
        for name in BackupTable.names(of: kinds) {
            guard let lines = tables[name]?.string else { continue }
            guard let table = BackupTable(name, lines: lines, of: kinds) else { return nil }
            rows.append(table)
        }
    }
}
