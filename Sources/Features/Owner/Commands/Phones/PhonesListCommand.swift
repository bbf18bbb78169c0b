import ArgumentParser
import CallsCommands
import JSONCoding
import Node
import Processes
import Relay
import Terminal

/// A name of the phone book on the command line.
struct PhoneBookName: ParsableArguments {
    @Argument(
        help:
            "The name: up to 40 letters and signs of any script, or 64 letters, digits, \".\", \"-\" and \"_\"."
    )
    var name: String

    func validate() throws { try checkPhoneBookName(name) }
}

func checkPhoneBookName(_ name: String) throws {
    guard PhoneBook.isName(name) else {
        throw ValidationError(
            "\(SettingsFault.shown(name)) is no name: up to \(PhoneBook.longestName) letters and signs of any script"
        )
    }
}

/// `onionbell phones list`.
package struct PhonesListCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the names, with the number of their phones.",
        discussion: """
            Columns are separated by tabs. The first line has their names. With --json an array of objects: name, \
            phones, alias.

            Example: onionbell phones list --json
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption

    package func run() async throws {
        let book = try await BookOfCall(config)
        guard !format.json else {
            let rows = book.names.map { name in
                JSON.object([
                    "name": .string(name), "phones": .integer(Int64(book.phones(of: name).count)),
                    "alias": .bool(book.hasAlias(name)),
                ])
            }
            return printLine(JSON.array(rows).text)
        }
        guard !book.names.isEmpty else { return printLine("no phones") }
        printLine("name\tphones\talias")
        for name in book.names {
            printLine("\(name)\t\(book.phones(of: name).count)\t\(book.hasAlias(name) ? "yes" : "no")")
        }
    }

    package init() {}
}

/// `onionbell phones show`.
package struct PhonesShowCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the phones of a name, without their device tokens.",
        discussion: """
            With --json an object: alias, and phones with number, platform, app, model, added.

            Exit status: 0 shown, 1 nobody has this name.

            Example: onionbell phones show alice
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption
    @OptionGroup var which: PhoneBookName

    package func run() async throws {
        let book = try await BookOfCall(config)
        let phones = book.phones(of: which.name)
        guard !phones.isEmpty else { throw fail(PhoneBook.Refusal.unknownName, status: 1) }
        let columns = ["number", "platform", "app", "model", "added"]
        let rows = phones.map { phone -> [String] in
            let app = phone["app"]?.string ?? ""
            return [
                "\(phone["number"]?.integer ?? 0)", phone["platform"]?.string ?? "",
                app.isEmpty ? "default" : app, phone["model"]?.string ?? "",
                UTCTime.text((phone["added"]?.integer ?? 0) * 1000) ?? "",
            ]
        }
        guard !format.json else {
            let objects = rows.map { row in
                JSON.object(JSON.Object(zip(columns, row.map { JSON.string($0) })))
            }
            return printLine(
                JSON.object(["alias": .bool(book.hasAlias(which.name)), "phones": .array(objects)]).text)
        }
        printLine(columns.joined(separator: "\t"))
        for row in rows { printLine(row.map(SettingsFault.shown).joined(separator: "\t")) }
        printLine("alias: \(book.hasAlias(which.name) ? "yes" : "no")")
    }

    package init() {}
}

/// The phone book, as the node tells it.
struct BookOfCall {
    let phones: [JSON]
    private let aliases: [String]

    init(_ config: ConfigOption) async throws {
        let book = try await config.call("GET", "phones")
        phones = book?["phones"]?.array ?? []
        aliases = book?["aliases"]?.array?.compactMap(\.string) ?? []
    }

    /// The names in the order of their first phones.
    var names: [String] {
        var names: [String] = []
        for name in phones.compactMap({ $0["name"]?.string }) where !names.contains(name) {
            names.append(name)
        }
        return names
    }

    func phones(of name: String) -> [JSON] { phones.filter { $0["name"]?.string == name } }
    func hasAlias(_ name: String) -> Bool { aliases.contains(name) }
}

/// `onionbell phones rename`.
package struct PhonesRenameCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Give the phones of a name another name; their alias stays.",
        discussion: """
            Exit status: 0 renamed, 1 nobody has the old name, or somebody has the new one.

            Example: onionbell phones rename alice bob
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: PhoneBookName

    @Argument(help: "The new name.")
    var newName: String

    package func validate() throws { try checkPhoneBookName(newName) }

    package func run() async throws {
        try await config.call("PUT", "names/\(which.name)", ["name": .string(newName)])
        printLine("renamed")
    }

    package init() {}
}

/// `onionbell phones remove`.
package struct PhonesRemoveCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
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

    package func validate() throws {
        if let phone, phone < 1 { throw ValidationError("--phone must be 1 or more") }
    }

    package func run() async throws {
        if let phone {
            let own = try await BookOfCall(config).phones(of: which.name)
            guard own.contains(where: { $0["number"]?.integer == phone }) else {
                throw fail("the name has no such phone", status: 1)
            }
            try await config.call("DELETE", "phones/\(phone)")
            return printLine("removed 1 phone")
        }
        let count = try await config.call("DELETE", "names/\(which.name)")?["count"]?.integer ?? 0
        printLine("removed \(count == 1 ? "1 phone" : "\(count) phones")")
    }

    package init() {}
}
