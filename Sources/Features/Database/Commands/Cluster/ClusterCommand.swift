import ArgumentParser
import Crypto
import Encodings
import Gateways
import Glibc
import Node
import Processes
import Reactor
import Terminal

/// `onionbell cluster`: hands the keys that all nodes of a cluster share from one node to the next.
package struct ClusterCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Hand the keys that several nodes on one database share to another node.",
        discussion: """
            Nodes on one database need the same digest-key (it seals what is stored, signs for Bitwarden servers, and \
            knows mailboxes and their readers), status-key and vapid-key. Each node keeps an onion-key of its own, which \
            is never in the file. The file is encrypted with a passphrase (scrypt, AES-256-GCM).

            Exit status: 0 done; 65 no such file, another passphrase, or a newer version's; 66 a file cannot be read; \
            69 the node runs, or import would replace a key; 73 a file cannot be written or exists already; 78 \
            configuration.
            """,
        subcommands: [ClusterExportCommand.self, ClusterImportCommand.self])

    package init() {}
}

struct ClusterExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the keys that all nodes share to one encrypted file.",
        discussion: """
            Also while the node runs. Keys that the node does not have yet are made, so that no other node makes others. \
            The file gets mode 0600; an existing file is not replaced.

            Example: onionbell cluster export cluster-keys
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var passphrase: PassphraseFileOption
    @Flag(help: "Also the gateways' credentials: the files of keys and certificates that apps have.")
    var credentials = false
    @Argument(help: "The file to write.", completion: .file()) var file: String

    func run() throws {
        let settings = try config.settings()
        guard access(file, F_OK) != 0 else { throw fail("\(file) exists already", status: 73) }
        let keys = SharedKeys(in: settings.stateDirectory)
        var cluster = try keys.existingOrMade()
        if credentials {
            for app in settings.apps {
                for path in app.settings.secretFiles where !path.isEmpty && !keys.paths.contains(path) {
                    do throws(SystemError) {
                        cluster.add(try CredentialFiles.read(path), of: app.name, path: path)
                    } catch {
                        throw fail("\(app.name): \(error)", status: 66)
                    }
                }
            }
        }
        let secret = try passphrase.secret(isNew: true)
        let bytes: [UInt8]
        do {
            bytes = try cluster.sealed(under: secret)
        } catch {
            throw fail("\(file) \(error)", status: 73)
        }
        do {
            try PrivateFile.write(bytes, to: file, replacing: false)
        } catch {
            throw fail(error, status: 73)
        }
        printLine("\(file): \(SharedKeys.names.joined(separator: ", "))")
        for credential in cluster.credentials { printLine("  \(credential.name)") }
        printLine("Whoever has this file and its passphrase can open all that these nodes store.")
    }
}

struct ClusterImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take over the keys from a file that onionbell cluster export has written.",
        discussion: """
            Stop the node first. Nothing is written if one of the keys is there and is another one; with --force those \
            are kept under another name. All files are written, or none. What a node has stored cannot be opened with \
            another digest-key.

            Example: onionbell cluster import cluster-keys
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var passphrase: PassphraseFileOption
    @Option(
        help: ArgumentHelp("Write the credentials in the file to this directory.", valueName: "dir"),
        completion: .directory)
    var credentials: String?
    @Flag(help: "Replace other keys; the old ones are kept under another name.") var force = false
    @Argument(help: "The file.", completion: .file()) var file: String

    func run() throws {
        let settings = try config.settings()
        let bytes: [UInt8]
        do {
            bytes = try PrivateFile.read(file, limit: ClusterFile.longest + PassphraseSeal.overhead)
        } catch {
            throw fail(error, status: 66)
        }
        let secret = try passphrase.secret(isNew: false)
        let cluster: ClusterFile
        do {
            cluster = try ClusterFile(sealed: bytes, passphrase: secret)
        } catch {
            throw fail("\(file) \(error)", status: 65)
        }
        do {
            // Nobody else has the directory as long as this is held.
            let state = try stoppedNode(settings.stateDirectory)
            var files = FileExchange()
            var lines = try SharedKeys(in: state.path).take(cluster, isForced: force, by: &files)
            if let credentials {
                let place = PlaceOfNode(
                    settingsFile: config.config, stateDirectory: state.path, present: [settings])
                lines += try write(cluster, to: credentials, beside: place, by: &files)
            }
            try files.exchange()
            files.keep()
            for line in lines { printLine(line) }
        } catch let error as NodeError {
            throw fail(error, status: error.exitStatus)
        } catch let error as SystemError {
            throw fail(error, status: 69)
        }
        if credentials == nil, !cluster.credentials.isEmpty {
            printLine(
                "\(cluster.credentials.count) credentials are in the file: --credentials DIR writes them to a directory"
            )
        }
    }

    /// Prepares the files of credentials; returns what becomes of them, a line each.
    private func write(
        _ cluster: ClusterFile, to directory: String, beside place: PlaceOfNode,
        by files: inout FileExchange
    ) throws -> [String] {
        var lines: [String] = []
        do throws(SystemError) {
            try files.makeDirectory(directory)
            for credential in cluster.credentials {
                let path = "\(directory)/\(credential.name)"
                guard !place.isOwn(path) else {
                    throw SystemError("write \(path), a file of the node's own", code: EEXIST)
                }
                if (try? CredentialFiles.read(path)) == credential.content.bytes {
                    lines.append("\(path): the same already")
                } else {
                    guard force || access(path, F_OK) != 0 else {
                        throw SystemError("write \(path)", code: EEXIST)
                    }
                    try files.put(credential.content.bytes, at: path)
                    lines.append("\(path): written")
                }
            }
        } catch {
            throw fail(error, status: 73)
        }
        return lines
    }
}
