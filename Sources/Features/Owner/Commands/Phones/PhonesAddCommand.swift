import ArgumentParser
import CallsCommands
import Client
import JSONCoding
import Node
import Processes
import Relay
import Terminal
import Wire

/// `onionbell phones add`.
package struct PhonesAddCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Put a phone into the book under a name.",
        discussion: """
            Takes the pairing token that the phone's app shows, or only the device token. The key in a pairing token \
            is not stored. A name can have \(PhoneBook.mostPhonesOfName) phones.

            Bisq 2 takes no address over \(TrustedNodeDevice.tokenLengths.upperBound) characters. If the phone's is \
            longer, as browsers' are, the name gets an address that stands for it (onionbell phones alias).

            Exit status: 0 added, 1 the book does not take it, 64 usage, 65 the token cannot be used, 69 the node has \
            never run, 78 configuration.

            Example: onionbell phones add alice --pairing-token -
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: PhoneBookName

    @Option(
        help: ArgumentHelp("The phone's pairing token; - reads it from standard input.", valueName: "token"))
    var pairingToken: String?

    @Option(
        help: ArgumentHelp(
            "Without a pairing token: the device token; - reads it from standard input.", valueName: "token"))
    var deviceToken: String?

    @Option(help: ArgumentHelp("With --device-token: the kind of phone.", valueName: "platform"))
    var platform: PhoneKind?

    @Option(
        help: """
            The name of the app at the node. By default the node takes the app for the Bisq program that sends.
            """)
    var app = ""

    package func validate() throws {
        guard (pairingToken == nil) != (deviceToken == nil) else {
            throw ValidationError("give --pairing-token, or --device-token and --platform")
        }
        guard (deviceToken == nil) == (platform == nil) else {
            throw ValidationError("--device-token and --platform go together")
        }
    }

    package func run() async throws {
        var body: JSON.Object = ["name": .string(which.name), "app": .string(app)]
        if let pairingToken {
            body["pairing_token"] = .string(try PairingTokenOption.token(pairingToken).text)
        } else {
            body["device_token"] = .string(try SecretInput.deviceToken.text(deviceToken ?? ""))
            body["platform"] = platform.map { .string($0.rawValue) }
        }
        guard let phone = try await config.call("POST", "phones", .object(body)) else { return }
        func text(_ member: String, _ words: String = ", ") -> String {
            guard let text = phone[member]?.string, !text.isEmpty else { return "" }
            return words + plainText(text)
        }
        printLine(
            "added \(which.name), phone \(phone["number"]?.integer ?? 0): \(text("platform", ""))"
                + text("model") + text("app", ", app "))
        if pairingToken != nil { printLine("The key in the pairing token was not stored.") }
        if let address = phone["address"]?.string {
            printLine(
                """
                Its address has \(phone["length"]?.integer ?? 0) characters, more than Bisq 2 takes. This one stands for it: \(address)
                As a text for Bisq: \(config.command("phones alias \(which.name) --pairing-token -"))
                """)
        }
        printLine("Ring it: \(config.command("phones test \(which.name) --pairing-token -"))")
    }

    package init() {}
}
