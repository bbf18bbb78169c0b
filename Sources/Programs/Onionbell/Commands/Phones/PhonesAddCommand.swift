import ArgumentParser
import Client
import Encodings
import Gateways
import Node
import Persistence
import Programs
import Relay
import Wire

/// `onionbell phones add`.
struct PhonesAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
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

    func validate() throws {
        guard (pairingToken == nil) != (deviceToken == nil) else {
            throw ValidationError("give --pairing-token, or --device-token and --platform")
        }
        guard (deviceToken == nil) == (platform == nil) else {
            throw ValidationError("--device-token and --platform go together")
        }
    }

    func run() throws {
        let (kind, token, model) = try target()
        let settings = try config.settings()
        let entry = try told { () throws(CallRefusal) in
            try PhoneEntry(kind, token, app: app, named: which.name, model: model, in: settings)
        }
        let phone = entry.phone
        try config.registrations(isReadOnly: false) { file in
            switch try file.add(entry) {
            case .failure(let refusal): throw fail(refusal, status: 1)
            case .success(let number):
                printLine(
                    "added \(which.name), phone \(number): \(phone.platform.stored)"
                        + (model.isEmpty ? "" : ", \(model)")
                        + (phone.app.isEmpty ? "" : ", app \(phone.app)"))
                if pairingToken != nil { printLine("The key in the pairing token was not stored.") }
                if phone.deviceToken.text.utf8.count > TrustedNodeDevice.tokenLengths.upperBound {
                    try giveAlias(for: phone, in: file)
                }
                printLine("Ring it: \(config.command("phones test \(which.name) --pairing-token -"))")
            }
        }
    }

    /// What Bisq 2 can be told in place of an address that is too long for it.
    private func giveAlias(for phone: PhoneBook.Phone, in file: borrowing RegistrationFile) throws {
        let alias = PhoneBook.newAlias()
        // The phone is in the book, and another sender may take its own address.
        guard case .success(let given) = try file.giveAlias(alias, to: which.name, replacing: false) else {
            return
        }
        let length = phone.deviceToken.text.utf8.count
        printLine(
            """
            Its address has \(length) characters, more than Bisq 2 takes. This one stands for it: \(given.text)
            As a text for Bisq: \(config.command("phones alias \(which.name) --pairing-token -"))
            """)
    }

    private func target() throws -> (Platform, token: String, model: String) {
        if let pairingToken {
            let token = try PairingTokenOption.token(pairingToken)
            return (token.platform, token.deviceToken, token.model)
        }
        let token = try SecretInput.deviceToken.text(deviceToken ?? "")
        do throws(NtfyService.AddressFault) {
            _ = try NtfyService.paired(token)
        } catch {
            throw fail(error, status: 65)
        }
        return ((platform ?? .android).value, token, "")
    }
}
