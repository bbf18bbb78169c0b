import ArgumentParser
import Glibc
import Node
import Processes
import Reactor
import Terminal
import Tor

#if Owner
    import OwnerCommands
#endif

/// `onionbell key`: the key of the onion address, which is the address, and the key that browsers are paired with.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Show, export or import the key of the onion address, or the VAPID key.",
        discussion: """
            Whoever has the key has the address, and without it the address is lost. The key itself is never \
            printed; export writes it to a file. With --vapid the same for the key by which push services of \
            browsers know the node: without it every paired browser has to pair again.

            export and import always go by the files, and import by those of a stopped node: no call gives a key out or \
            takes one in, so that a session of the console does not have the address. A copy of the whole node, sealed \
            by a passphrase, is onionbell backup.

            Exit status: 0 done; 65 the file contains no key, or its key does not match the hostname file beside it; \
            66 the file cannot be read; 69 the node runs, or there is no key, or import would replace one; 73 the \
            file cannot be written or exists already; 78 configuration.
            """,
        subcommands: ofOwner + [KeyExportCommand.self, KeyImportCommand.self])

    private static var ofOwner: [any ParsableCommand.Type] {
        #if Owner
            [KeyShowCommand.self]
        #else
            []
        #endif
    }
}

struct KeyExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the key to a file in tor's format (hs_ed25519_secret_key).",
        discussion: """
            The file gets mode 0600. An existing file is not replaced.

            Example: onionbell key export onion-key.backup
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var kind: KeyKind
    @Argument(help: "The file to write.", completion: .file()) var file: String

    func run() async throws {
        if kind.vapid {
            let key = try VapidKeyFile(try config.settings()).export(to: file)
            return printLine("\(file): \(key). Keep it safe: without it every browser has to pair again")
        }
        let (_, key) = try existingKey(config)
        do {
            try PrivateFile.write(key.torsFile, to: file, replacing: false)
        } catch {
            throw fail(error, status: 73)
        }
        printLine("\(file): the key of \(key.address). Keep it safe: whoever has this file has the address")
    }
}

struct KeyImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Use an existing onion address by importing its key.",
        discussion: """
            Accepts tor's hs_ed25519_secret_key, Bisq 1's private_key, Bisq 2's private_key_hex, and a copy of the \
            node's own onion-key. If a hostname file is beside it, the key must match that address. Stop the node \
            first. Afterwards remove the address from the other program: two programs with the same address push \
            each other off the network.

            Example: onionbell key import onion-key.backup
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var kind: KeyKind
    @Argument(help: "The file with the key.", completion: .file()) var file: String
    @Flag(help: "Import it even if the node has a key; the old key is kept under another name.") var force =
        false

    func run() async throws {
        let settings = try config.settings()
        if kind.vapid { return try importVapidKey(settings) }
        let key = try read()
        do {
            let state = try stoppedNode(settings.stateDirectory)
            let target = OnionKeyFile(path: state.onionKey)
            if let former = try target.load() {
                guard former.address != key.address else {
                    return printLine("\(target.path): the key of \(key.address)")
                }
                let aside = "\(target.path)-\(former.address.serviceID)"
                guard force else { throw OnionKeyFileError.exists(path: target.path) }
                try target.replace(with: key, keeping: aside)
                printLine("\(aside): the key of \(former.address)")
            } else {
                try target.create(key)
            }
            printLine("\(target.path): the key of \(key.address)")
        } catch let error as NodeError {
            throw fail(error, status: error.exitStatus)
        } catch {
            throw fail("\(error)", status: 69)
        }
    }

    private func importVapidKey(_ settings: Settings) throws {
        do {
            // Nobody else has the directory as long as this is held.
            let state = try stoppedNode(settings.stateDirectory)
            for line in try VapidKeyFile(in: state.path).import(file, isForced: force) { printLine(line) }
        } catch let error as NodeError {
            throw fail(error, status: error.exitStatus)
        }
    }

    private func read() throws -> OnionKey {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try PrivateFile.read(file, limit: OnionKey.fileSizeLimit)
        } catch {
            guard error.code != EFBIG else {
                throw fail("\(file) is no key of an onion service: it is longer than any", status: 65)
            }
            throw fail(error, status: 66)
        }
        guard let key = OnionKey(file: bytes) else {
            throw fail("\(file) contains no key of a version 3 onion service", status: 65)
        }
        let directory = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        if let hostname = try? PrivateFile.read(directory + "hostname", limit: 128),
            let address = OnionAddress(
                String(String(decoding: hostname, as: UTF8.self).prefix { !$0.isWhitespace })),
            address != key.address
        {
            throw fail(
                "\(file) is the key of \(key.address), but \(directory)hostname says \(address)", status: 65)
        }
        return key
    }
}

private func existingKey(_ config: ConfigOption) throws -> (file: OnionKeyFile, key: OnionKey) {
    let file = OnionKeyFile(path: StateDirectory.onionKey(in: try config.settings().stateDirectory))
    do {
        if let key = try file.load() { return (file, key) }
    } catch {
        throw fail(error, status: 69)
    }
    throw fail("there is no \(file.path) yet: the node creates it at its first start", status: 69)
}
