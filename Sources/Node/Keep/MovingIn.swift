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
/// Each step may be done twice: a start that was killed in between is made up for by the next one. The file goes when all is
/// done.
enum MovingIn {
    private static func file(in stateDirectory: String) -> String { stateDirectory + "/moving-in" }

    /// The parts of a backup that are not written, because this user may not or because they would lie elsewhere, by the
    /// names that the settings have for them.
    struct Closed: Equatable {
        var settings: Bool
        var credentials: [String]
    }

    /// Returns the parts that can't be written. Nothing is written.
    static func closed(for backup: NodeBackup, settingsFile: String) -> Closed {
        let settingsFolder = NodeBackup.SettingsFolder(settingsFile)
        return Closed(
            settings: !SettingsStore.isOpen(settingsFile),
            credentials: backup.credentials.keys.map(\.wrappedValue).filter { name in
                guard settingsFolder.isBeside(name) else { return true }
                // Its folder, or the one that it would be made in.
                var folder = parent(of: settingsFolder.path(of: name))
                if access(folder, F_OK) != 0 { folder = parent(of: folder) }
                return access(folder, W_OK) != 0
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
    /// - Returns: The address that the node has from now on; `nil`: there is nothing to do.
    static func finish(_ settings: Settings, settingsFile: String) throws(NodeError) -> String? {
        let directory = settings.stateDirectory
        let file = file(in: directory)
        guard access(file, F_OK) == 0,
            // Another node runs: its start says so.
            let state = try StateDirectory(ofStoppedNode: directory)
        else { return nil }
        do {
            let backup = try NodeBackup(text: PrivateFile.read(file, limit: NodeBackup.longest))
            try write(backup, state.path, settingsFile)
            unlink(file)
            return backup.address
        } catch let error as NodeBackup.Fault {
            throw .unavailable("\(file): \(error.refusal). Delete it to start without")
        } catch let error as NodeError {
            throw error
        } catch {
            throw .unavailable("the backup can't be moved in: \(error). Or delete \(file) to start without")
        }
    }

    private static func write(_ backup: NodeBackup, _ directory: String, _ settingsFile: String) throws {
        for (name, key) in backup.keys {
            try PrivateFile.write(key.bytes, to: "\(directory)/\(name.wrappedValue)", replacing: true)
        }
        let peers = StateDirectory.peers(in: directory)
        let known = (try? PrivateFile.names(in: peers)) ?? []
        if let files = backup.peers {
            try PrivateFile.makeDirectory(peers)
            for (name, bytes) in files {
                try PrivateFile.write(bytes, to: "\(peers)/\(name.wrappedValue)", replacing: true)
            }
        }
        for name in known where backup.peers?[ByteText(name)] == nil { unlink("\(peers)/\(name)") }
        if backup.peers == nil { rmdir(peers) }
        let settingsFolder = NodeBackup.SettingsFolder(settingsFile)
        let closed = closed(for: backup, settingsFile: settingsFile)
        for (name, content) in backup.credentials {
            guard !closed.credentials.contains(name.wrappedValue) else { continue }
            let path = settingsFolder.path(of: name.wrappedValue)
            let folder = parent(of: path)
            if access(folder, F_OK) != 0 { try PrivateFile.makeDirectory(folder) }
            try PrivateFile.write(content.bytes, to: path, replacing: true)
        }
        if let text = backup.settings { try SettingsStore.write(text, to: settingsFile) }
        let now = try Settings(file: settingsFile, environment: environment)
        // A database has its rows already.
        guard now.storage.url.isEmpty else { return }
        try RegistrationFile(path: StateDirectory.outbox(in: directory), isReadOnly: false).add(
            backup.tables)
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
