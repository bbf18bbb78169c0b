import Crypto
import Encodings
import Gateways
import Glibc
import Node
import Persistence
import Processes
import Reactor
import Tor

extension NodeBackup {
    /// Reads what makes a node this node. Not on the event loop: files, and the store.
    ///
    /// The settings are read once, and the credentials are those that this text names: the node may have started with
    /// others, and taken these over since.
    ///
    /// - Parameters:
    ///   - running: The settings that the node has started with, which say where its keys and its rows are.
    ///   - settingsFile: The file of the settings, as they are now.
    ///   - now: Milliseconds since 1970.
    static func read(
        _ running: Settings, from settingsFile: String, at now: Int64
    ) throws(CallRefusal) -> NodeBackup {
        let directory = running.stateDirectory
        do {
            let keys = try keys(in: directory)
            guard let onionKey = keys[ByteText("onion-key")] else {
                throw CallRefusal(
                    .unavailable, "no_address", "the node has no address yet: it makes one at its first start"
                )
            }
            guard let key = OnionKeyFile.parse(String(decoding: onionKey.bytes, as: UTF8.self)) else {
                throw OnionKeyFileError.malformed(path: StateDirectory.onionKey(in: directory))
            }
            let text = try SettingsText.read(settingsFile)
            let settings = try Settings(
                yaml: text, file: settingsFile, directory: absoluteDirectory(of: settingsFile),
                environment: environment, features: running.built)
            var backup = NodeBackup(
                address: key.address.description, madeAt: now / 1000, version: programVersion, settings: text)
            backup.keys = keys
            if let peers = try Invitations(path: StateDirectory.peers(in: directory)).load() {
                var files: [ByteText: [UInt8]] = [:]
                for (name, key) in peers { files[ByteText("\(name).auth")] = Array("\(key.line)\n".utf8) }
                backup.peers = files
            }
            let ownFiles = settings.apps.flatMap { $0.settings.ownFiles.map(\.path) }
            let folder = SettingsFolder(settingsFile)
            let taken = StateDirectory.gatewayKeys(in: directory) + "/"
            for path in settings.namedFiles
            where !ownFiles.contains(path) && (!path.hasPrefix(directory + "/") || path.hasPrefix(taken)) {
                backup.credentials[ByteText(folder.name(of: path))] = Secret(try CredentialFiles.read(path))
            }
            backup.tables = try RegistrationFile(try running.store(), isReadOnly: true).backupTables()
            return backup
        } catch let error as CallRefusal {
            throw error
        } catch {
            throw CallRefusal(.unavailable, "unreadable", "\(error)")
        }
    }

    private static func keys(in directory: String) throws(SystemError) -> [ByteText: Secret] {
        var keys: [ByteText: Secret] = [:]
        for name in keyNames where access("\(directory)/\(name)", F_OK) == 0 {
            keys[ByteText(name)] = Secret(try PrivateFile.read("\(directory)/\(name)", limit: 16_384))
        }
        return keys
    }

    /// The folder of the settings, and the names that a backup has for files: relative to it, or absolute.
    struct SettingsFolder {
        let directory: String

        init(_ settingsFile: String) { directory = absoluteDirectory(of: settingsFile) }

        /// Returns the name of a file. One that systemd has handed over goes by the name that the settings have for it.
        func name(of path: String) -> String {
            let handedOver = getenv("CREDENTIALS_DIRECTORY").map {
                "\(String(cString: $0))/\(SettingsReader.credentialsDirectory)_"
            }
            if let handedOver, path.hasPrefix(handedOver) {
                return "\(SettingsReader.credentialsDirectory)/\(path.dropFirst(handedOver.count))"
            }
            guard path.hasPrefix(directory + "/") else { return path }
            return String(path.dropFirst(directory.count + 1))
        }

        func path(of name: String) -> String { name.hasPrefix("/") ? name : "\(directory)/\(name)" }

        /// Whether a file lies below the settings' directory and in the open. The maker of a backup may have named any
        /// file of the user's, such as `~/.profile`.
        func isBeside(_ name: String) -> Bool {
            !name.hasPrefix("/")
                && name.utf8.split(separator: UInt8(ascii: "/")).allSatisfy { part in
                    part.first != UInt8(ascii: ".")
                }
        }
    }
}

extension NodeBackup.Fault {
    package var refusal: CallRefusal {
        switch self {
        case .unreadable: CallRefusal(.unfit, "no_backup", "this is no file of onionbell backup")
        case .newer:
            CallRefusal(
                .unfit, "newer_backup", "the file was written by a newer version of onionbell: use that one")
        case .wrongPassphrase:
            CallRefusal(
                .unfit, "wrong_passphrase",
                "the file can't be opened: the passphrase is wrong, or the file was changed or cut")
        case .tooLong:
            CallRefusal(
                .unfit, "too_long", "a backup has \(NodeBackup.longestFile) bytes at most, and this one more")
        case .unfit(let name):
            CallRefusal(
                .unfit, "unfit_backup",
                "a node can't start with the \(name) in the file: it was changed, or made by hand")
        case .crypto(let error): CallRefusal(.unavailable, "no_seal", "\(error)")
        }
    }
}
