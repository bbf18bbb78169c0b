import ArgumentParser
import JSONCoding
import Node
import Persistence
import Programs
import Relay

/// `onionbell phones`: the operator's phone book.
struct PhonesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "phones",
        abstract: "Manage the phone book: names for phones, tests, and one address for several phones.",
        discussion: """
            All subcommands also work while the node runs, which notices a change within two seconds. The book holds \
            device tokens, never the keys of phones. Run it as the node's user: sudo -u onionbell onionbell phones \
            list.
            """,
        subcommands: [
            PhonesAddCommand.self, PhonesListCommand.self, PhonesShowCommand.self, PhonesTestCommand.self,
            PhonesRenameCommand.self, PhonesRemoveCommand.self, PhonesAliasCommand.self,
            PhonesLinkCommand.self,
        ])
}

/// A name of the phone book on the command line.
struct PhoneBookName: ParsableArguments {
    @Argument(help: "The name: 1 to 64 letters, digits, \".\", \"-\" and \"_\".")
    var name: String

    func validate() throws { try checkPhoneBookName(name) }
}

func checkPhoneBookName(_ name: String) throws {
    guard PhoneBook.isName(name) else {
        throw ValidationError(
            "\(SettingsFault.shown(name)) is no name: 1 to 64 letters, digits, \".\", \"-\" and \"_\"")
    }
}

/// `onionbell phones list`.
struct PhonesListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the names, with the number of their phones.",
        discussion: """
            Columns are separated by tabs. The first line has their names. With --json an array of objects: name, \
            phones, alias.

            Example: onionbell phones list --json
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption

    func run() throws {
        try config.registrations(isReadOnly: true) { file in
            let book = try file.phoneBook().book
            var names: [String] = []
            for phone in book.phones where !names.contains(phone.name) { names.append(phone.name) }
            guard !format.json else {
                let rows = names.map { name in
                    JSON.object([
                        "name": .string(name), "phones": .integer(Int64(book.phones(of: name).count)),
                        "alias": .bool(book.alias(of: name) != nil),
                    ])
                }
                return printLine(JSON.array(rows).text)
            }
            guard !names.isEmpty else { return printLine("no phones") }
            printLine("name\tphones\talias")
            for name in names {
                printLine(
                    "\(name)\t\(book.phones(of: name).count)\t\(book.alias(of: name) == nil ? "no" : "yes")")
            }
        }
    }
}

/// `onionbell phones show`.
struct PhonesShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the phones of a name, without their device tokens.",
        discussion: """
            With --json an object: alias, and phones with number, platform, app, model, added.

            Exit status: 0 shown, 1 nobody has this name.

            Example: onionbell phones show alice
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption
    @OptionGroup var which: PhoneBookName

    func run() throws {
        try config.registrations(isReadOnly: true) { file in
            let (entries, book) = try file.phoneBook()
            let phones = entries.filter { $0.phone.name == which.name }
            guard !phones.isEmpty else { throw fail(PhoneBook.Refusal.unknownName, status: 1) }
            let columns = ["number", "platform", "app", "model", "added"]
            let rows = phones.map { entry in
                [
                    "\(entry.phone.number)", entry.phone.platform.stored,
                    entry.phone.app.isEmpty ? "default" : entry.phone.app, entry.model,
                    UTCTime.text(entry.addedAt) ?? "",
                ]
            }
            let hasAlias = book.alias(of: which.name) != nil
            guard !format.json else {
                let objects = rows.map { row in
                    JSON.object(JSON.Object(zip(columns, row.map { JSON.string($0) })))
                }
                return printLine(JSON.object(["alias": .bool(hasAlias), "phones": .array(objects)]).text)
            }
            printLine(columns.joined(separator: "\t"))
            for row in rows { printLine(row.map(SettingsFault.shown).joined(separator: "\t")) }
            printLine("alias: \(hasAlias ? "yes" : "no")")
        }
    }
}

/// `onionbell phones rename`.
struct PhonesRenameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Give the phones of a name another name; their alias stays.",
        discussion: """
            Exit status: 0 renamed, 1 nobody has the old name, or somebody has the new one.

            Example: onionbell phones rename alice bob
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: PhoneBookName

    @Argument(help: "The new name.")
    var newName: String

    func validate() throws { try checkPhoneBookName(newName) }

    func run() throws {
        try config.registrations(isReadOnly: false) { file in
            if let refusal = try file.rename(which.name, to: newName) { throw fail(refusal, status: 1) }
            printLine("renamed")
        }
    }
}

/// `onionbell phones remove`.
struct PhonesRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete a name with its phones, or one of the phones.",
        discussion: """
            With the last phone the name's alias goes. What was accepted before is still delivered.

            Exit status: 0 deleted, 1 there was nothing to delete.

            Example: onionbell phones remove alice --phone 2
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: PhoneBookName

    @Option(help: "Only the phone with this number, as show prints it.")
    var phone: Int64?

    func validate() throws {
        if let phone, phone < 1 { throw ValidationError("--phone must be 1 or more") }
    }

    func run() throws {
        try config.registrations(isReadOnly: false) { file in
            let count = try file.removePhones(of: which.name, number: phone)
            guard count > 0 else {
                throw fail(
                    phone == nil ? "\(PhoneBook.Refusal.unknownName)" : "the name has no such phone",
                    status: 1)
            }
            printLine("removed \(count == 1 ? "1 phone" : "\(count) phones")")
        }
    }
}
