import ArgumentParser
import CallsCommands
import JSONCoding
import Processes
import Terminal
import Wire

/// `onionbell phones alias`.
package struct PhonesAliasCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "alias", abstract: "Print the address that rings all phones of a name.",
        discussion: """
            The address stands in place of a device token: Bisq 1 knows one phone, and rings all of them. All phones \
            of the name must have the same key, so pair one phone and show its key to the others. With \
            --pairing-token of any of these phones, the command prints the text to enter in Bisq.

            Whoever knows the address can ring these phones. A notification counts as delivered when the first phone \
            has it. A phone whose limit is reached misses it; the others get it.

            Exit status: 0 done, 1 the name can't have one, 64 usage, 65 the pairing token cannot be used.

            Example: onionbell phones alias alice --pairing-token -
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: PhoneBookName

    @Flag(help: "Make a new address. The old one becomes invalid.")
    var new = false

    @Flag(help: "Delete the address.")
    var remove = false

    @Option(
        help: ArgumentHelp(
            "The pairing token of one of the phones; - reads it from standard input.", valueName: "token"))
    var pairingToken: String?

    package func validate() throws {
        guard !remove || !new && pairingToken == nil else {
            throw ValidationError("--remove goes alone")
        }
    }

    package func run() async throws {
        let path = "names/\(which.name)/address"
        guard !remove else {
            try await config.call("DELETE", path)
            return printLine("removed")
        }
        var body: JSON.Object = ["new": .bool(new)]
        if let pairingToken {
            body["pairing_token"] = .string(try PairingTokenOption.token(pairingToken).text)
        }
        let given = try await config.call("PUT", path, .object(body))
        printLine(given?["pairing_token"]?.string ?? given?["address"]?.string ?? "")
    }

    package init() {}
}
