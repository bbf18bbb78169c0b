import ArgumentParser
import Client
import Processes
import Terminal
import Wire

/// `onionbell decrypt`: opens a message string as the paired phone does.
struct DecryptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Decrypt a message string as the paired phone does.",
        discussion: """
            Exit status: 0 decrypted, 65 it cannot be decrypted.

            Example: onionbell decrypt --pairing-token - 'BisqMessageAndroid|IV|BASE64'
            """)

    @OptionGroup var phone: PairingTokenOption

    @Argument(
        help: ArgumentHelp("The message string from the push: magic|iv|base64.", valueName: "message-string"))
    var message: String

    func run() async throws {
        let phone = Phone(try phone.token())
        do {
            let message = try phone.open(message)
            printLine("type: \(message.kind.rawValue)")
            printLine("title: \(message.title)")
            printLine("message: \(message.message)")
            if !message.transactionID.isEmpty { printLine("trade: \(message.transactionID)") }
        } catch {
            throw fail(error, status: 65)
        }
    }
}
