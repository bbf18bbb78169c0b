import ArgumentParser
import Crypto
import Doors
import Encodings
import Glibc
import Node
import Persistence
import Programs
import Reactor
import Registrations

/// `onionbell installation`: who may use the door for Bitwarden servers.
struct InstallationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "installation",
        abstract: "Manage the self-hosted Bitwarden servers that may use this relay.",
        discussion: """
            All subcommands also work while the node runs, and take effect at once. onionbell registrations list \
            bitwarden lists the servers' devices.
            """,
        subcommands: [
            InstallationAddCommand.self, InstallationListCommand.self, InstallationEnableCommand.self,
            InstallationDisableCommand.self, InstallationRemoveCommand.self,
        ])
}

/// `onionbell installation add`.
struct InstallationAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Create an installation, and print its id and key.",
        discussion: """
            The key is shown only once, because the node stores only its digest. If the id exists, it gets a new key \
            and the old key becomes invalid.

            Example: onionbell installation add --json
            """)

    @OptionGroup var config: ConfigOption

    @Option(help: "The id to use, a GUID, such as the one that a server already has. By default a new one.")
    var id: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard let id, !BitwardenDoor.isInstallationID(id) else { return }
        throw ValidationError("--id: \(SettingsFault.shown(id)) is not a GUID (8-4-4-4-12 hex digits)")
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
                Installation(
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
        commandName: "enable", abstract: "Enable an installation again, with its old key.",
        discussion: "Example: onionbell installation enable 8b1d3ff0-2f52-4cb0-a3b3-2f3d9d4a4f11")

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: InstallationName

    func run() throws { try which.change(isEnabled: true, config) }
}

/// `onionbell installation disable`.
struct InstallationDisableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Disable an installation; its devices stay registered.",
        discussion: "Example: onionbell installation disable 8b1d3ff0-2f52-4cb0-a3b3-2f3d9d4a4f11")

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: InstallationName

    func run() throws { try which.change(isEnabled: false, config) }
}

/// `onionbell installation list`.
struct InstallationListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List installations, without their keys.",
        discussion: "Example: onionbell installation list")

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption

    func run() async throws { try await config.listRegistrations(of: "installation", asJSON: format.json) }
}

/// `onionbell installation remove`.
struct InstallationRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete an installation and all its devices.",
        discussion: """
            Exit status: 0 deleted, 1 it did not exist.

            Example: onionbell installation remove 8b1d3ff0-2f52-4cb0-a3b3-2f3d9d4a4f11
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: InstallationName

    func run() async throws { try await config.removeRegistration(which.id.lowercased(), of: "installation") }
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
                Installation(
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
