import JSONCoding
import Persistence
import Processes

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
    /// The credentials that another user has to put in their places.
    private let closed: [String]
    /// The rows that the store here does not take.
    private let conflicts: [BackupConflict]
    /// Whether the node will have its rows in a database, which has its own.
    private let hasDatabase: Bool
    var isStaged = false

    /// Reads files, and the store.
    init(
        _ backup: NodeBackup, settingsFile: String, stateDirectory: String, keepsSettings: Bool
    ) throws(StoreError) {
        self.backup = backup
        let closed = MovingIn.closed(for: backup, settingsFile: settingsFile)
        let present = (try? SettingsText.read(settingsFile)) ?? ""
        let text = SettingsStore.text(backup.settings ?? present, movedTo: stateDirectory)
        let isSame = SettingsStore.text(present, movedTo: stateDirectory) == text
        diff = isSame ? [] : TextDiff.lines(from: present, to: text)
        func settings(_ text: String) throws(SettingsError) -> Settings {
            try Settings(
                yaml: text, file: settingsFile, directory: absoluteDirectory(of: settingsFile),
                environment: environment)
        }
        var reason: String?
        do throws(SettingsError) { _ = try settings(text) } catch { reason = "\(error)" }
        if closed.settings { reason = "this user may not write \(settingsFile)" }
        fate = isSame ? .same : keepsSettings ? .kept : reason == nil ? .taken : .left
        self.reason = fate == .left ? reason : nil
        self.backup.settings = fate == .taken ? text : nil
        // Whoever keeps the settings keeps what they name.
        if fate == .kept { self.backup.credentials = [:] }
        self.closed = fate == .kept ? [] : closed.credentials
        let next = try? settings(fate == .taken ? text : present)
        hasDatabase = next.map { !$0.storage.url.isEmpty } ?? false
        conflicts =
            try hasDatabase
            ? []
            : RegistrationFile(path: StateDirectory.outbox(in: stateDirectory), isReadOnly: false).conflicts(
                adding: backup.tables)
    }

    func json(canRestart: Bool) -> JSON {
        [
            "address": .string(backup.address), "made": .integer(backup.madeAt),
            "version": .string(backup.version), "phones": .integer(Int64(backup.rows(of: "phone"))),
            "mailboxes": .integer(Int64(backup.rows(of: "mailbox"))),
            "private": .bool(backup.peers != nil), "settings": .string(fate.rawValue),
            "reason": reason.map { .string($0) } ?? .null, "difference": .array(diff.map(\.json)),
            "left": .array(closed.map { .string($0) }),
            "conflicts": .array(conflicts.map(\.json)), "database": .bool(hasDatabase),
            "staged": .bool(isStaged),
            "restarts": .bool(canRestart),
        ]
    }
}

extension BackupConflict {
    fileprivate var json: JSON {
        [
            "kind": .string(kind.rawValue), "name": .string(name),
            "mailbox": mailbox.map { .string($0) } ?? .null, "reason": .string(reason.rawValue),
        ]
    }
}
