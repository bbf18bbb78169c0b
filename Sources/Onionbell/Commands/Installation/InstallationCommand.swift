import ArgumentParser
import Crypto
import Doors
import Encodings
import Glibc
import Node
import Programs
import Reactor
import Storage

/// `onionbell installation`: who may use the door for Bitwarden servers.
struct InstallationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "installation",
        abstract: "Let self-hosted Bitwarden servers use this relay.",
        discussion: """
            All of it also works while the node runs, and takes effect at once. Their devices are listed by \
            onionbell registrations list bitwarden.
            """,
        subcommands: [
            InstallationAddCommand.self, InstallationListCommand.self, InstallationEnableCommand.self,
            InstallationDisableCommand.self, InstallationRemoveCommand.self,
        ])
}

/// `onionbell installation add`.
struct InstallationAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Make an installation, and print its id and key.",
        discussion: """
            The key is shown this once: only a digest of it is kept. Where the id exists it gets a new key, and the \
            old one is of no use from then on.
            """)

    @OptionGroup var config: ConfigOption

    @Option(help: "A GUID of yours, such as the one a server has already; left out: a new one.")
    var id: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard let id, !BitwardenDoor.isInstallationID(id) else { return }
        throw ValidationError("--id: \(SettingsFault.shown(id)) is no GUID (8-4-4-4-12 hex digits)")
    }

    func run() throws {
        let id = (self.id ?? InstallationID.new()).lowercased()
        let key = InstallationID.newKey()
        let directory = try config.settings().stateDirectory
        try config.registrations(isReadOnly: false) { file in
            let digests: BitwardenDigests
            do {
                digests = BitwardenDigests(key: try StateDirectory.digestKey(in: directory))
            } catch {
                throw fail("\(error)", status: 69)
            }
            try file.put(
                Installations.Installation(
                    id: id, keyDigest: digests.key(key, of: id), addedAt: EventLoop.unixMilliseconds))
        }
        printLine(
            json
                ? #"{"id":"\#(id)","key":"\#(key)"}"#
                : "installation id:  \(id)\ninstallation key: \(key)")
    }
}

/// `onionbell installation enable`.
struct InstallationEnableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Let an installation in again, with the key it has.")

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: InstallationName

    func run() throws { try which.change(isEnabled: true, config) }
}

/// `onionbell installation disable`.
struct InstallationDisableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Let an installation in no more; its devices stay registered.")

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: InstallationName

    func run() throws { try which.change(isEnabled: false, config) }
}

/// `onionbell installation list`.
struct InstallationListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List installations, without their keys.")

    @OptionGroup var config: ConfigOption

    func run() throws { try config.listRegistrations(of: "installation") }
}

/// `onionbell installation remove`.
struct InstallationRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget an installation with all its devices.",
        discussion: "Exit status: 0 it is forgotten, 1 it was not there.")

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: InstallationName

    func run() throws { try config.removeRegistration(which.id.lowercased(), of: "installation") }
}

struct InstallationName: ParsableArguments {
    @Argument(help: "The installation's id.")
    var id: String

    fileprivate func change(isEnabled: Bool, _ config: ConfigOption) throws {
        let id = id.lowercased()
        try config.registrations(isReadOnly: false) { file in
            guard let known = try file.installation(id) else {
                throw fail("no installation has this id", status: 1)
            }
            try file.put(
                Installations.Installation(
                    id: id, keyDigest: known.keyDigest, isEnabled: isEnabled, addedAt: known.addedAt))
            printLine(isEnabled ? "enabled" : "disabled")
        }
    }
}

/// Ids and keys as Bitwarden's own cloud gives them out.
private enum InstallationID {
    static func new() -> String {
        var bytes = randomBytes(16)
        // A random one (RFC 9562, version 4).
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = Array(Hex.encode(bytes))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }

    /// 24 letters and digits: 142 bits.
    static func newKey() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        var generator = SystemRandomNumberGenerator()
        return String((0..<24).map { _ in alphabet.randomElement(using: &generator)! })
    }
}
