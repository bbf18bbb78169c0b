import JSONCoding
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
    var isStaged = false

    /// Reads files.
    init(_ backup: NodeBackup, settingsFile: String, stateDirectory: String, keepsSettings: Bool) {
        self.backup = backup
        let closed = MovingIn.closed(for: backup, settingsFile: settingsFile)
        let present = (try? SettingsText.read(settingsFile)) ?? ""
        let text = SettingsStore.text(backup.settings ?? present, movedTo: stateDirectory)
        let isSame = SettingsStore.text(present, movedTo: stateDirectory) == text
        diff = isSame ? [] : TextDiff.lines(from: present, to: text)
        var reason: String?
        do throws(SettingsError) {
            _ = try Settings(
                yaml: text, file: settingsFile, directory: absoluteDirectory(of: settingsFile),
                environment: environment)
        } catch {
            reason = "\(error)"
        }
        if closed.settings { reason = "this user may not write \(settingsFile)" }
        fate = isSame ? .same : keepsSettings ? .kept : reason == nil ? .taken : .left
        self.reason = fate == .left ? reason : nil
        self.backup.settings = fate == .taken ? text : nil
        // Whoever keeps the settings keeps what they name.
        if fate == .kept { self.backup.credentials = [:] }
        self.closed = fate == .kept ? [] : closed.credentials
    }

    func json(canRestart: Bool) -> JSON {
        [
            "address": .string(backup.address), "made": .integer(backup.madeAt),
            "version": .string(backup.version), "phones": .integer(Int64(backup.rows(of: "phone"))),
            "mailboxes": .integer(Int64(backup.rows(of: "mailbox"))),
            "private": .bool(backup.peers != nil), "settings": .string(fate.rawValue),
            "reason": reason.map { .string($0) } ?? .null, "difference": .array(diff.map(\.json)),
            "left": .array(closed.map { .string($0) }), "staged": .bool(isStaged),
            "restarts": .bool(canRestart),
        ]
    }
}
