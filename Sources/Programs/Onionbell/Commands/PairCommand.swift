import ArgumentParser
import Client
import Encodings
import Gateways
import Node
import Processes
import QR
import Terminal
import Wire

/// `onionbell pair`: the phone's side of pairing.
struct PairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Create a pairing token as a phone does, and show it as text and QR code.",
        discussion: """
            The token contains the key to the phone's messages: whoever has it can read them. Enter it in Bisq 1 under \
            Account, Notifications. Without --device-token the phone is simulated, for tests.

            Example: onionbell pair --platform iOS
            """)

    @Option(help: ArgumentHelp("The kind of phone.", valueName: "platform"))
    var platform = PhoneKind.android

    @Option(help: "The phone's model, which Bisq shows.")
    var descriptor = "Onionbell"

    @Option(help: "The device token that the phone's app got from Apple or Google, or nt1:TOPIC.")
    var deviceToken: String?

    @Flag(help: "Print only the token.")
    var textOnly = false

    func run() async throws {
        do {
            let phone =
                if let deviceToken {
                    try Phone.new(
                        platform.value, descriptor: descriptor,
                        deviceToken: platform == .android ? NtfyService.paired(deviceToken) : deviceToken)
                } else {
                    try Phone.new(platform.value, descriptor: descriptor)
                }
            printLine(phone.pairingToken.text)
            guard !textOnly else { return }
            for line in try QRCode(phone.pairingToken.text).lines(coloured: hasColours) { printLine(line) }
        } catch {
            throw fail("\(error)", status: 65)
        }
    }
}
