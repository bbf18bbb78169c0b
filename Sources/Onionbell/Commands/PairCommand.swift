import ArgumentParser
import Lab
import QR
import Wire

extension MobilePlatform: ExpressibleByArgument {
    public init?(argument: String) {
        guard let platform = MobilePlatform.allCases.first(where: { $0.pairingMagic == argument }) else {
            return nil
        }
        self = platform
    }

    public static var allValueStrings: [String] { allCases.map(\.pairingMagic) }

    public var defaultValueDescription: String { pairingMagic }
}

/// `onionbell pair`: the phone's side of pairing.
struct PairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Make a pairing token, as a phone does; show it as text and as a QR code.",
        discussion: """
            The token holds the key that opens the phone's messages: whoever has it can read them. Bisq takes it \
            under Settings, Notifications. Without --device-token it is a made-up phone, for trying things out.
            """)

    @Option(help: ArgumentHelp("The kind of phone.", valueName: "platform"))
    var platform = MobilePlatform.android

    @Option(help: "The phone's model, as Bisq shows it.")
    var descriptor = "Onionbell"

    @Option(help: "The device token that Apple or Google gave the phone's app.")
    var deviceToken: String?

    @Flag(help: "Print the token only.")
    var textOnly = false

    func run() async throws {
        do {
            let phone =
                if let deviceToken {
                    try Phone.new(platform, descriptor: descriptor, deviceToken: deviceToken)
                } else {
                    try Phone.new(platform, descriptor: descriptor)
                }
            printLine(phone.pairingToken.text)
            if !textOnly { try showQRCode(of: phone.pairingToken.text) }
        } catch {
            throw fail("\(error)", status: 65)
        }
    }
}

/// A QR code for the terminal, with colours where there is one.
func showQRCode(of text: String) throws(QRCodeError) {
    for line in try QRCode(text).lines(coloured: hasColours) { printLine(line) }
}
