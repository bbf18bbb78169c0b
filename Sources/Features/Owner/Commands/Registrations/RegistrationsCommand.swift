import ArgumentParser
import CallsCommands
import HTTP1
import JSONCoding
import Node
import Processes
import Terminal

/// `onionbell registrations`: whom the doors know, for the operator's eyes and hands.
package struct RegistrationsCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "registrations",
        abstract: "List and remove the registrations of phones and servers.",
        discussion: """
            A running node is asked, by the calls of its console; where none runs, its store is. Device tokens and keys \
            are never shown.
            """,
        subcommands: [
            RegistrationsListCommand.self, RegistrationsShowCommand.self, RegistrationsRemoveCommand.self,
        ])

    package init() {}
}

/// `onionbell registrations list`.
struct RegistrationsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List registrations of one kind or of all kinds.",
        discussion: """
            Columns are separated by tabs. Before each kind is a line with its name and the column names.

            Example: onionbell registrations list bitwarden
            """)

    @OptionGroup var config: ConfigOption

    @OptionGroup var format: JSONOption

    @Argument(help: "The kind, such as installation; by default all kinds.")
    var kind: String?

    func run() async throws { try await config.listRegistrations(of: kind, asJSON: format.json) }
}

/// `onionbell registrations show`.
struct RegistrationsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one registration.",
        discussion: """
            Exit status: 0 shown, 1 it does not exist.

            Example: onionbell registrations show bitwarden ID
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption
    @OptionGroup var which: RegistrationName

    func run() async throws {
        let page = try await RegistrationPage(
            config, "registrations/\(which.kind.percentEncoded)/\(which.id.percentEncoded)")
        guard let row = page.rows.first else { return }
        guard !format.json else { return printLine(page.json(row, which.kind).text) }
        for (field, value) in zip(page.fields, row) { printLine("\(field): \(SettingsFault.shown(value))") }
    }
}

/// `onionbell registrations remove`.
struct RegistrationsRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete one registration.",
        discussion: """
            Exit status: 0 deleted, 1 it did not exist.

            Example: onionbell registrations remove bitwarden ID
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: RegistrationName

    func run() async throws { try await config.removeRegistration(which.id, of: which.kind) }
}

/// Which registration a command is for.
struct RegistrationName: ParsableArguments {
    @Argument(help: "The kind, such as installation.")
    var kind: String

    @Argument(help: "The id, as in the output of list.")
    var id: String
}
