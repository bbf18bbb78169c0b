import ArgumentParser
import Gateways
import Wire

/// The pairing token of a command. It holds the phone's key, so it can come by standard input instead of the command
/// line, which other users of the machine can read.
struct PairingTokenOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("The phone's pairing token; - reads it from standard input.", valueName: "token"))
    var pairingToken: String

    func token() throws -> PairingToken {
        try Self.token(pairingToken)
    }

    /// A person may write a short topic of ntfy where the token of a phone stands.
    private static func filledUp(_ text: String) throws(NtfyService.AddressFault) -> String {
        guard let bar = text.utf8.lastIndex(of: UInt8(ascii: "|")) else { return text }
        return try String(text[...bar]) + NtfyService.paired(String(text[text.utf8.index(after: bar)...]))
    }

    /// A text that is none is told, with the exit status 65; `-` is read.
    static func token(_ option: String) throws -> PairingToken {
        let text = try SecretInput.pairingToken.text(option)
        do {
            return try PairingToken(filledUp(text))
        } catch {
            throw fail("\(error)", status: 65)
        }
    }
}
