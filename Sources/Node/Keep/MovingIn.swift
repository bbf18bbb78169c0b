import Crypto
import Encodings
import Glibc
import Persistence
import Processes
import Reactor
import Tor

/// A backup that was taken in and waits for the node's next start: the file `moving-in` of the state directory. Keys can't be
/// exchanged under a node that runs.
///
/// A start that finds no room leaves all as it was. Each step may be done twice: a start that was killed in between is made up
/// for by the next one. The file goes when all is done.
enum MovingIn {
    private static func file(in stateDirectory: String) -> String { stateDirectory + "/moving-in" }

    /// The parts of a backup that are not written, because this user may not or because they would lie elsewhere, by the
    /// names that the settings have for them.
    struct Closed: Equatable {
        var settings: Bool
        var credentials: [String]
    }

    /// The end of a move.
    struct Moved {
        /// The address that the node has from now on.
        let address: String
        /// The number of rows that the store did not take.
        let conflicts: Int
    }

    /// Returns the parts that can't be written. Nothing is written.
    static func closed(for backup: NodeBackup, settingsFile: String) -> Closed {
        let settingsFolder = NodeBackup.SettingsFolder(settingsFile)
        return Closed(
            settings: !SettingsStore.isOpen(settingsFile),
            credentials: backup.credentials.compactMap { name, content in
                let (name, path) = (name.wrappedValue, settingsFolder.path(of: name.wrappedValue))
                if (try? CredentialFiles.read(path)) == content.bytes { return nil }
                guard settingsFolder.isBeside(name) else { return name }
                // Its folder, or the one that it would be made in.
                var folder = parent(of: path)
                if access(folder, F_OK) != 0 { folder = parent(of: folder) }
                return access(folder, W_OK) != 0 ? name : nil
            }.sorted())
    }

    /// Writes a backup to the file `moving-in`, for the next start.
    ///
    /// - Parameter backup: with the settings as they are to be; `nil`: they stay.
    static func stage(_ backup: NodeBackup, in stateDirectory: String) throws(SystemError) {
        try PrivateFile.write(backup.text, to: file(in: stateDirectory), replacing: true)
    }

    /// Moves the staged backup in at the start, before anything of the node is read but its settings.
    ///
    /// - Returns: `nil`: there is nothing to do.
    static func finish(_ settings: Settings, settingsFile: String) throws(NodeError) -> Moved? {
        let directory = settings.stateDirectory
        let file = file(in: directory)
        guard access(file, F_OK) == 0,
            // Another node runs: its start says so.
            let state = try StateDirectory(ofStoppedNode: directory)
        else { return nil }
        do {
            let backup = try NodeBackup(text: PrivateFile.read(file, limit: NodeBackup.longest))
            let conflicts = try write(backup, state.path, settingsFile)
            try PrivateFile.remove(file)
            return Moved(address: backup.address, conflicts: conflicts.count)
        } catch let error as NodeBackup.Fault {
            throw .unavailable("\(file): \(error.refusal). Move it into another folder to start without")
        } catch let error as NodeError {
            throw error
        } catch {
            throw .unavailable(
                "the backup can't be moved in: \(error). Or move \(file) into another folder to start without"
            )
        }
    }

    private static func write(
        _ backup: NodeBackup, _ directory: String, _ settingsFile: String
    ) throws -> [BackupConflict] {
        var files = FileExchange()
        for (name, key) in backup.keys { try files.put(key.bytes, at: "\(directory)/\(name.wrappedValue)") }
        let peers = StateDirectory.peers(in: directory)
        let known = (try? PrivateFile.names(in: peers)) ?? []
        if let invited = backup.peers {
            try files.makeDirectory(peers)
            for (name, bytes) in invited { try files.put(bytes, at: "\(peers)/\(name.wrappedValue)") }
        }
        for name in known where backup.peers?[ByteText(name)] == nil { try files.remove("\(peers)/\(name)") }
        let settingsFolder = NodeBackup.SettingsFolder(settingsFile)
        let closed = closed(for: backup, settingsFile: settingsFile)
        for (name, content) in backup.credentials {
            let path = settingsFolder.path(of: name.wrappedValue)
            guard !closed.credentials.contains(name.wrappedValue),
                (try? CredentialFiles.read(path)) != content.bytes
            else { continue }
            try files.makeDirectory(parent(of: path))
            try files.put(content.bytes, at: path)
        }
        if let text = backup.settings { try SettingsStore.put(text, at: settingsFile, by: &files) }
        try files.exchange()
        let now = try Settings(file: settingsFile, environment: environment)
        // A database has its rows already.
        let conflicts =
            try now.storage.url.isEmpty
            ? RegistrationFile(path: StateDirectory.outbox(in: directory), isReadOnly: false).add(
                backup.tables) : []
        files.keep()
        if backup.peers == nil, rmdir(peers) != 0, errno != ENOENT { throw SystemError("remove \(peers)") }
        return conflicts
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
