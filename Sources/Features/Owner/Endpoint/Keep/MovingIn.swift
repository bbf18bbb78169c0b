import Encodings
import Glibc
import Node
import Persistence
import Processes
import Reactor

/// A backup that was taken in and waits for the node's next start: the file `moving-in` of the state directory. Keys can't be
/// exchanged under a node that runs.
///
/// A start that finds no room leaves all as it was. Each step may be done twice: a start that was killed in between is made up
/// for by the next one. The file goes when all is done. All that was before is kept until the node has started
/// (``MovedOut``).
enum MovingIn {
    private static func file(in stateDirectory: String) -> String { stateDirectory + "/moving-in" }

    /// The end of a move.
    enum End {
        case nothingToDo
        case moved(address: String, conflicts: Int)
        /// The file is none that a node could become. It lies aside, and the node stays what it was.
        case refused(String)
    }

    /// Writes a backup to the file `moving-in`, for the next start.
    ///
    /// - Parameter backup: with the settings as they are to be; `nil`: they stay.
    static func stage(_ backup: NodeBackup, in stateDirectory: String) throws(SystemError) {
        try PrivateFile.write(backup.text, to: file(in: stateDirectory), replacing: true)
        UndoneMove.forget(in: stateDirectory)
    }

    /// Moves the staged backup in at the start, before anything of the node is read but its settings.
    static func finish(_ settings: Settings, settingsFile: String) throws(NodeError) -> End {
        let directory = settings.stateDirectory
        let file = file(in: directory)
        guard access(file, F_OK) == 0,
            // Another node runs: its start says so.
            let state = try StateDirectory(ofStoppedNode: directory)
        else { return .nothingToDo }
        do {
            let backup = try NodeBackup(
                text: PrivateFile.read(file, limit: NodeBackup.longest), of: settings.built.tables)
            let place = BroughtFiles.Place(
                settingsFile: settingsFile, stateDirectory: state.path, present: [settings])
            let conflicts = try write(
                backup, BroughtFiles(of: backup, namedBy: nil, to: place), to: place, settings.built)
            try PrivateFile.remove(file)
            return .moved(address: backup.address, conflicts: conflicts.count)
        } catch let error as NodeBackup.Fault {
            return try refuse(file, "\(error.refusal)")
        } catch let error as CallRefusal {
            return try refuse(file, "\(error)")
        } catch let error as SettingsError {
            return try refuse(file, "\(error)")
        } catch let error as NodeError {
            throw error
        } catch {
            throw .unavailable(
                "the backup can't be moved in: \(error). Or move \(file) into another folder to start without"
            )
        }
    }

    /// Puts a backup aside that will not do at the next start either.
    private static func refuse(_ file: String, _ reason: String) throws(NodeError) -> End {
        guard rename(file, file + ".refused") == 0 else {
            throw .unavailable("\(file): \(reason). Move it into another folder to start without")
        }
        if let slash = file.lastIndex(of: "/") { UndoneMove.note(reason, in: String(file[..<slash])) }
        return .refused(reason)
    }

    private static func write(
        _ backup: NodeBackup, _ brought: BroughtFiles, to place: BroughtFiles.Place, _ features: Features
    ) throws -> [BackupConflict] {
        let (directory, peers) = (place.stateDirectory, StateDirectory.peers(in: place.stateDirectory))
        var before = MovedOut(hadPeers: access(peers, F_OK) == 0)
        var files = FileExchange()
        for (name, key) in backup.keys {
            try before.note("\(directory)/\(name.wrappedValue)")
            try files.put(key.bytes, at: "\(directory)/\(name.wrappedValue)")
        }
        let known = (try? PrivateFile.names(in: peers)) ?? []
        if let invited = backup.peers {
            try files.makeDirectory(peers)
            for (name, bytes) in invited {
                try before.note("\(peers)/\(name.wrappedValue)")
                try files.put(bytes, at: "\(peers)/\(name.wrappedValue)")
            }
        }
        for name in known where backup.peers?[ByteText(name)] == nil {
            try before.note("\(peers)/\(name)")
            try files.remove("\(peers)/\(name)")
        }
        for file in brought.files where file.fate.isWritten {
            try before.note(file.path)
            try files.makeDirectory(BroughtFiles.parent(of: file.path))
            try files.put(file.content.bytes, at: file.path)
        }
        if let text = backup.settings {
            try before.note(SettingsStore.real(place.settingsFile))
            try SettingsStore.put(text, at: place.settingsFile, by: &files)
        }
        let next = try Settings(
            yaml: backup.settings ?? SettingsText.read(place.settingsFile), file: place.settingsFile,
            directory: absoluteDirectory(of: place.settingsFile), environment: environment,
            features: features)
        let conflicts = try exchange(
            &files, before, next.isStoreFile ? backup.tables : [], directory, features.tables)
        if backup.peers == nil, rmdir(peers) != 0, errno != ENOENT { throw SystemError("remove \(peers)") }
        return conflicts
    }

    /// Gives the files their places, and the rows theirs in the file of the store. A database has its rows already.
    private static func exchange(
        _ files: inout FileExchange, _ before: MovedOut, _ tables: [BackupTable], _ directory: String,
        _ kinds: DoorKinds
    ) throws -> [BackupConflict] {
        var before = before
        let store = try RegistrationFile(
            path: StateDirectory.outbox(in: directory), of: kinds, isReadOnly: false)
        before.note(try store.rows(addedBy: tables))
        try before.write(in: directory)
        try files.exchange()
        let conflicts = try store.add(tables)
        files.keep()
        return conflicts
    }
}
