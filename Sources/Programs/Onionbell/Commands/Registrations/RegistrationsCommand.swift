import ArgumentParser
import Glibc
import JSONCoding
import Node
import Persistence
import Programs
import Reactor

/// `onionbell registrations`: whom the doors know, for the operator's eyes and hands.
struct RegistrationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "registrations",
        abstract: "List and remove the registrations of phones and servers.",
        discussion: """
            All subcommands also work while the node runs. Device tokens and keys are never shown.
            """,
        subcommands: [
            RegistrationsListCommand.self, RegistrationsShowCommand.self, RegistrationsRemoveCommand.self,
        ])
}

/// `onionbell registrations list`.
struct RegistrationsListCommand: ParsableCommand {
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

    func run() throws { try config.listRegistrations(of: kind, asJSON: format.json) }
}

/// `onionbell registrations show`.
struct RegistrationsShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one registration.",
        discussion: """
            Exit status: 0 shown, 1 it does not exist.

            Example: onionbell registrations show bitwarden ID
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption
    @OptionGroup var which: RegistrationName

    func run() throws {
        try config.registrations(isReadOnly: true) { file in
            let view = try file.views(which.kind)[0]
            guard let row = try file.row(which.id, of: view) else {
                throw fail("no \(view.noun) has this id", status: 1)
            }
            guard !format.json else { return printLine(row.json(of: view).text) }
            for (field, value) in zip(row.fields, row.values) {
                printLine("\(field): \(SettingsFault.shown(value))")
            }
        }
    }
}

/// `onionbell registrations remove`.
struct RegistrationsRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete one registration.",
        discussion: """
            Exit status: 0 deleted, 1 it did not exist.

            Example: onionbell registrations remove bitwarden ID
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: RegistrationName

    func run() throws { try config.removeRegistration(which.id, of: which.kind) }
}

/// Which registration a command is for.
struct RegistrationName: ParsableArguments {
    @Argument(help: "The kind, such as installation.")
    var kind: String

    @Argument(help: "The id, as in the output of list.")
    var id: String
}

extension ConfigOption {
    /// - Parameter kind: `nil`: all.
    func listRegistrations(of kind: String?, asJSON: Bool) throws {
        try registrations(isReadOnly: true) { file in
            // Its table comes with the first one.
            if let kind, ["bitwarden", "installation", "mailbox", "phone", "status"].contains(kind),
                !file.views.contains(where: { $0.kind == kind })
            {
                return printLine(asJSON ? "[]" : "\(kind): none")
            }
            guard !asJSON else {
                var rows: [JSON] = []
                for view in try file.views(kind) {
                    try file.forEach(of: view) { rows.append($0.json(of: view)) }
                }
                return printLine(JSON.array(rows).text)
            }
            for view in try file.views(kind) {
                var isFirst = true
                try file.forEach(of: view) { row in
                    if isFirst { printLine("\(view.kind): " + row.fields.joined(separator: "\t")) }
                    isFirst = false
                    printLine(row.values.map(SettingsFault.shown).joined(separator: "\t"))
                }
                if isFirst { printLine("\(view.kind): none") }
            }
            if file.views.isEmpty { printLine("no endpoint stores registrations here") }
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
        let settings = try settings()
        let path = StateDirectory.outbox(in: settings.stateDirectory)
        do {
            let store = try settings.store()
            if case .file(let path) = store, access(path, isReadOnly ? R_OK : R_OK | W_OK) != 0 {
                throw errno == ENOENT
                    ? fail(
                        "there is no \(path) yet: the node creates it when it starts for the first time",
                        status: 69)
                    : fail(
                        "\(SystemError("open \(path)")). Run this as the node's user: sudo -u onionbell onionbell ...",
                        status: 77)
            }
            try body(try RegistrationFile(store, isReadOnly: isReadOnly))
        } catch let error as NodeError {
            throw fail(error, status: error.exitStatus)
        } catch let error as CallRefusal {
            throw fail(error, status: error.exitStatus)
        } catch let error as SQLiteError {
            throw fail(error.explained(path: path), status: 69)
        }
    }
}

extension RegistrationFile.Row {
    fileprivate func json(of view: RegistrationView) -> JSON {
        var members: JSON.Object = ["kind": .string(view.kind)]
        for (field, value) in zip(fields, values) { members[field] = .string(value) }
        return .object(members)
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
            throw fail("unknown kind of registration; known are: \(known)", status: 1)
        }
        return [view]
    }
}
