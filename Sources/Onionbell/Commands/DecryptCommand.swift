import ArgumentParser
import Client
import Programs
import Wire

/// `onionbell decrypt`: opens a message string as the paired phone does.
struct DecryptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Open a message string as the paired phone does.",
        discussion: "Exit status: 0 opened, 65 it doesn't open.")

    @OptionGroup var phone: PairingTokenOption

    @Argument(
        help: ArgumentHelp("magic|iv|base64, as the push service brings it.", valueName: "message-string"))
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
