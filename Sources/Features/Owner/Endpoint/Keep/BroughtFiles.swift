import Crypto
import Encodings
import Glibc
import Node
import Reactor

/// The files that a backup brings beside the node's own: the credentials and certificates that its settings name, and no
/// others. Anybody may have written the backup.
package struct BroughtFiles: Sendable {
    /// The fate of one file.
    enum Fate: String {
        case new, replaced
        /// A file with these bytes is there already.
        case same
        /// Somebody else has to put it there: this user may not, or it would lie elsewhere.
        case left

        var isWritten: Bool { self == .new || self == .replaced }
    }

    struct File: Sendable {
        /// The name that the settings have for it.
        let name: String
        let path: String
        let content: Secret
        let fate: Fate
    }

    let files: [File]

    /// The node that the files come to.
    package typealias Place = PlaceOfNode

    /// Decides what becomes of each file. Nothing is written.
    ///
    /// - Parameter settings: The backup's own, which name what may come; `nil`: that was looked at before.
    init(of backup: NodeBackup, namedBy settings: Settings?, to place: Place) throws(CallRefusal) {
        let folder = NodeBackup.SettingsFolder(place.settingsFile)
        let named = settings.map { Set($0.namedFiles.map { ByteText(folder.name(of: $0)) }) }
        let replaced = Set(place.present.flatMap(\.namedFiles).map { ByteText($0) })
        var files: [File] = []
        for (key, content) in backup.credentials {
            let (name, path) = (key.wrappedValue, folder.path(of: key.wrappedValue))
            guard named?.contains(key) ?? true else {
                throw BroughtFiles.unfit(name, "which its own settings do not name")
            }
            guard !place.isOwn(path) else { throw BroughtFiles.unfit(name, "which is the node's own file") }
            let mayCome = folder.isBeside(name) || place.isGatewayKey(path)
            let fate =
                mayCome
                ? BroughtFiles.fate(of: path, content)
                : BroughtFiles.isThere(path, content) ? .same : .left
            guard fate != .replaced || replaced.contains(ByteText(path)) else {
                throw BroughtFiles.unfit(
                    name,
                    "and another file lies there, which the settings here do not name: put that one into another folder"
                )
            }
            files.append(File(name: name, path: path, content: content, fate: fate))
        }
        self.files = files.sorted { $0.name < $1.name }
    }

    /// No file comes.
    init() { files = [] }

    var left: [String] { files.filter { $0.fate == .left }.map(\.name) }

    private static func unfit(_ name: String, _ reason: String) -> CallRefusal {
        CallRefusal(.unfit, "unfit_backup", "the file brings \(SettingsFault.shown(name)), \(reason)")
    }

    private static func isThere(_ path: String, _ content: Secret) -> Bool {
        (try? CredentialFiles.read(path)) == content.bytes
    }

    private static func fate(of path: String, _ content: Secret) -> Fate {
        if isThere(path, content) { return .same }
        // Its folder, or the one that it would be made in.
        var parent = Self.parent(of: path)
        if access(parent, F_OK) != 0 { parent = Self.parent(of: parent) }
        guard access(parent, W_OK) == 0 else { return .left }
        var status = stat()
        return lstat(path, &status) == 0 ? .replaced : .new
    }

    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
