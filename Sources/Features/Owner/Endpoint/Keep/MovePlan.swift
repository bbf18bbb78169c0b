import Calls
import Encodings
import JSONCoding
import Node
import Persistence
import Processes
import Tor

/// The effects of moving in from a backup here, as the owner reads them before and after.
struct MovePlan: Sendable {
    /// The fate of the settings.
    enum Fate: String {
        /// The backup's settings are taken.
        case taken
        /// The settings are the same already.
        case same
        /// The owner wants to keep the settings that are here.
        case kept
        /// This user may not write the file, or the backup's don't fit here.
        case left
    }

    /// The backup with the settings as they are to be written.
    private(set) var backup: NodeBackup
    private let fate: Fate
    /// The reason why the settings are left as they are.
    private let reason: String?
    private let diff: [TextDiff.Line]
    /// The files that come beside the node's own.
    private let brought: BroughtFiles
    /// The rows that the store here does not take.
    private let conflicts: [BackupConflict]
    /// Whether the node will have its rows in a database, which has its own.
    private let hasDatabase: Bool
    /// The faults for which a start would end. Nothing is staged with one.
    var faults: [SettingsFault] = []
    var isStaged = false

    /// The settings that the node will have, and the files as they will be; `nil`: those here can't be read.
    let next: (settings: Settings, contents: CredentialFiles.Contents)?

    /// Reads files, and the store.
    ///
    /// - Parameter running: The settings that the node runs with.
    init(
        _ backup: NodeBackup, settingsFile: String, running: Settings, keepsSettings: Bool
    ) throws(CallRefusal) {
        self.backup = backup
        let stateDirectory = running.stateDirectory
        func settings(_ text: String) throws(SettingsError) -> Settings {
            try Settings(
                yaml: text, file: settingsFile, directory: absoluteDirectory(of: settingsFile),
                environment: environment, features: running.built)
        }
        let present = (try? SettingsText.read(settingsFile)) ?? ""
        let known = [running] + [try? settings(present)].compactMap(\.self)
        var text = SettingsStore.text(backup.settings ?? present, movedTo: stateDirectory)
        var own: Settings?
        var reason: String?
        do {
            own = try settings(text)
            text = try SettingsStore.text(text, withProgramsOf: known[known.count - 1], for: settings(text))
            let moved = try settings(text)
            let faults = moved.programFaults(beside: known) + moved.moveFaults(from: running)
            reason = faults.first.map { "\($0)" }
        } catch {
            reason = "\(error)"
        }
        let isSame = SettingsStore.text(present, movedTo: stateDirectory) == text
        diff = isSame ? [] : TextDiff.lines(from: present, to: text)
        // Whoever keeps the settings keeps what they name.
        if keepsSettings, !isSame { self.backup.credentials = [:] }
        let place = BroughtFiles.Place(
            settingsFile: settingsFile, stateDirectory: stateDirectory, present: known)
        if reason != nil { self.backup.credentials = [:] }
        brought = try BroughtFiles(of: self.backup, namedBy: own, to: place)
        if !SettingsStore.isOpen(settingsFile) { reason = "this user may not write \(settingsFile)" }
        fate = isSame ? .same : keepsSettings ? .kept : reason == nil ? .taken : .left
        self.reason = fate == .left ? reason : nil
        self.backup.settings = fate == .taken ? text : nil
        let next = try? settings(fate == .taken ? text : present)
        hasDatabase = next.map { !$0.isStoreFile } ?? false
        self.next = next.map { [backup = self.backup, brought] settings in
            (settings, MovePlan.contents(for: settings, backup, brought))
        }
        do throws(StoreError) {
            conflicts =
                try hasDatabase
                ? []
                : RegistrationFile(
                    path: StateDirectory.outbox(in: stateDirectory), of: running.built.tables,
                    isReadOnly: false
                )
                .conflicts(adding: backup.tables)
        } catch {
            let path = StateDirectory.outbox(in: stateDirectory)
            throw CallRefusal(.unavailable, "store_failed", "\(error.explained(path: path))")
        }
        faults = self.next.map { MovePlan.placeFaults(of: $0.settings, backup, beside: running) } ?? []
    }

    /// Returns the contents that files will have for a start with these settings.
    private static func contents(
        for settings: Settings, _ backup: NodeBackup, _ brought: BroughtFiles
    ) -> CredentialFiles.Contents {
        var contents = CredentialFiles.Contents(reading: settings.filesOfStart)
        for file in brought.files where file.fate.isWritten {
            contents.put(file.content.bytes, at: file.path)
        }
        for (name, key) in backup.keys {
            contents.put(key.bytes, at: "\(settings.stateDirectory)/\(name.wrappedValue)")
        }
        return contents
    }

    /// Returns the faults of a start with these settings that no file's contents bring.
    private static func placeFaults(
        of settings: Settings, _ backup: NodeBackup, beside running: Settings
    ) -> [SettingsFault] {
        let known = running.missingPlaces
        var faults = settings.missingPlaces.filter { !known.contains($0) }
        if let fault = settings.loopFault(at: backup.address) { faults.append(fault) }
        if backup.peers != nil, let front = OnionAddress(settings.onion.publicAddress),
            !front.description.hasSameBytes(as: backup.address)
        {
            faults.append(SettingsFault(key: "onion.public_address", problem: Settings.refusal(of: front)))
        }
        return faults
    }

    static let shape: CallShape = [
        "address": .text, "made": .number, "version": .text, "phones": .number, "mailboxes": .number,
        "private": .flag,
        "settings": .choice(["taken", "same", "kept", "left"]).said(
            "taken: the copy's; kept: as asked; left: this user may not write the file, or they do not fit here."
        ),
        "reason": .nullable(.text), "difference": .difference,
        "left": .list(.text).said("Credentials that somebody else has to put there."),
        "files": .list([
            "name": .text,
            "fate": .choice(["new", "replaced", "same", "left"]).said(
                "new: it is not there yet; replaced: another one of the settings is; left: somebody else has to put it there."
            ),
        ]).said("Credentials and certificates that the copy's settings name."),
        "faults": .faults.said("Why the node would not start with it. With one, nothing is staged."),
        "conflicts": .list(BackupConflict.shape).said("What is not taken; those of this node stay."),
        "database": .flag.said("The node will have its phones and mailboxes in a database, and takes none."),
        "staged": .flag.said("It waits for the restart."),
    ]

    var json: JSON {
        [
            "address": .string(backup.address), "made": .integer(backup.madeAt),
            "version": .string(backup.version), "phones": .integer(Int64(backup.rows(of: "phone"))),
            "mailboxes": .integer(Int64(backup.rows(of: "mailbox"))),
            "private": .bool(backup.peers != nil), "settings": .string(fate.rawValue),
            "reason": reason.map { .string($0) } ?? .null, "difference": .array(diff.map(\.json)),
            "left": .array(brought.left.map { .string($0) }),
            "files": .array(
                brought.files.map { ["name": .string($0.name), "fate": .string($0.fate.rawValue)] }),
            "faults": .array(faults.map(\.json)),
            "conflicts": .array(conflicts.map(\.json)), "database": .bool(hasDatabase),
            "staged": .bool(isStaged),
        ]
    }
}

extension TextDiff.Line {
    var json: JSON { ["kind": .string(kind.rawValue), "text": .string(text)] }
}

extension BackupConflict {
    fileprivate static let shape: CallShape = [
        "kind": .text.said("Such as phone, address, mailbox, reader, publisher and installation."),
        "name": .text,
        "mailbox": .nullable(.text).said("That of a reader or a publisher."),
        "reason": .choice(["taken", "full", "unfit"]).said(
            "taken: there is another one of this name; full: there is no room for more; unfit: it does not fit to what is here."
        ),
    ]

    fileprivate var json: JSON {
        [
            "kind": .string(kind.word), "name": .string(name),
            "mailbox": mailbox.map { .string($0) } ?? .null, "reason": .string(reason.rawValue),
        ]
    }
}
