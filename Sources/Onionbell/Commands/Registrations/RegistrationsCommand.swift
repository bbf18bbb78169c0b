import ArgumentParser
import Glibc
import Node
import Programs
import Reactor
import Storage

/// `onionbell registrations`: whom the doors know, for the operator's eyes and hands.
struct RegistrationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "registrations",
        abstract: "See and remove what phones and servers have registered at the doors.",
        discussion: """
            All of it also works while the node runs. Device tokens and keys are never shown.
            """,
        subcommands: [
            RegistrationsListCommand.self, RegistrationsShowCommand.self, RegistrationsRemoveCommand.self,
        ])
}

/// `onionbell registrations list`.
struct RegistrationsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List registrations, those of one kind or all.",
        discussion:
            "Columns are separated by a tab; a line with the kind and their names goes before each kind.")

    @OptionGroup var config: ConfigOption

    @Argument(help: "Such as installation; left out: all kinds.")
    var kind: String?

    func run() throws { try config.listRegistrations(of: kind) }
}

/// `onionbell registrations show`.
struct RegistrationsShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one registration.",
        discussion: "Exit status: 0 it is there, 1 it is not.")

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: RegistrationName

    func run() throws {
        try config.registrations(isReadOnly: true) { file in
            let view = try file.views(which.kind)[0]
            guard let row = try file.row(which.id, of: view) else {
                throw fail("no \(view.noun) has this id", status: 1)
            }
            for (field, value) in zip(row.fields, row.values) {
                printLine("\(field): \(SettingsFault.shown(value))")
            }
        }
    }
}

/// `onionbell registrations remove`.
struct RegistrationsRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget one registration.",
        discussion: "Exit status: 0 it is forgotten, 1 it was not there.")

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: RegistrationName

    func run() throws { try config.removeRegistration(which.id, of: which.kind) }
}

/// Which registration a command is for.
struct RegistrationName: ParsableArguments {
    @Argument(help: "As list shows it, such as installation.")
    var kind: String

    @Argument(help: "As list shows it.")
    var id: String
}

extension ConfigOption {
    /// - Parameter kind: `nil`: all.
    func listRegistrations(of kind: String?) throws {
        try registrations(isReadOnly: true) { file in
            for view in try file.views(kind) {
                var isFirst = true
                try file.forEach(of: view) { row in
                    if isFirst { printLine("\(view.kind): " + row.fields.joined(separator: "\t")) }
                    isFirst = false
                    printLine(row.values.map(SettingsFault.shown).joined(separator: "\t"))
                }
                if isFirst { printLine("\(view.kind): none") }
            }
            if file.views.isEmpty { printLine("no door keeps registrations here") }
        }
    }

    func removeRegistration(_ id: String, of kind: String) throws {
        try registrations(isReadOnly: false) { file in
            let view = try file.views(kind)[0]
            guard try file.remove(id, of: view) else {
                throw fail("no \(view.noun) has this id", status: 1)
            }
            printLine("removed")
        }
    }

    /// Opens the registrations of a configured node; every failure becomes a sentence and an exit status.
    func registrations(
        isReadOnly: Bool, _ body: (borrowing RegistrationFile) throws -> Void
    ) throws {
        let path = StateDirectory.outbox(in: try settings().stateDirectory)
        guard access(path, F_OK) == 0 else {
            throw fail("\(SystemError("open \(path)")). The node makes it", status: 69)
        }
        do {
            try body(try RegistrationFile(path: path, isReadOnly: isReadOnly))
        } catch let error as SQLiteError {
            throw fail(error.explained(path: path), status: 69)
        }
    }
}

extension RegistrationView {
    fileprivate var noun: String { kind == "installation" ? kind : "\(kind) registration" }
}

extension RegistrationFile {
    /// The kind of that name, or all.
    fileprivate borrowing func views(_ kind: String?) throws -> [RegistrationView] {
        guard let kind else { return views }
        guard let view = views.first(where: { $0.kind == kind }) else {
            let known = views.isEmpty ? "none" : views.map(\.kind).joined(separator: ", ")
            throw fail("no such kind of registration; there are: \(known)", status: 1)
        }
        return [view]
    }
}
