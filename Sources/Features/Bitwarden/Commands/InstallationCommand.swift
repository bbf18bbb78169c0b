import ArgumentParser
import Bitwarden
import CallsCommands
import Doors
import JSONCoding
import Node
import Processes
import Terminal

/// `onionbell installation`: who may use the door for Bitwarden servers.
package struct InstallationCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "installation",
        abstract: "Manage the self-hosted Bitwarden servers that may use this relay.",
        discussion: """
            A running node carries them out at once; where none runs, its store is changed. onionbell registrations list \
            bitwarden lists the servers' devices.
            """,
        subcommands: [
            InstallationAddCommand.self, InstallationListCommand.self, InstallationEnableCommand.self,
            InstallationDisableCommand.self, InstallationRemoveCommand.self,
        ])

    package init() {}
}

/// `onionbell installation add`.
struct InstallationAddCommand: AsyncParsableCommand {
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

    func run() async throws {
        let made = try await config.call("POST", "installations", id.map { ["id": .string($0)] } ?? [:])
        let (id, key) = (made?["id"]?.string ?? "", made?["key"]?.string ?? "")
        printLine(
            json
                ? #"{"id":"\#(id)","key":"\#(key)"}"#
                : "installation id:  \(id)\ninstallation key: \(key)")
    }
}

/// `onionbell installation enable`.
struct InstallationEnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Enable an installation again, with its old key.",
        discussion: "Example: onionbell installation enable 8b1d3ff0-2f52-4cb0-a3b3-2f3d9d4a4f11")

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: InstallationName

    func run() async throws { try await which.change(isEnabled: true, config) }
}

/// `onionbell installation disable`.
struct InstallationDisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Disable an installation; its devices stay registered.",
        discussion: "Example: onionbell installation disable 8b1d3ff0-2f52-4cb0-a3b3-2f3d9d4a4f11")

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: InstallationName

    func run() async throws { try await which.change(isEnabled: false, config) }
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

    fileprivate func change(isEnabled: Bool, _ config: ConfigOption) async throws {
        try await config.call(
            "PUT", "installations/\(id.lowercased().percentEncoded)", ["enabled": .bool(isEnabled)])
        printLine(isEnabled ? "enabled" : "disabled")
    }
}
