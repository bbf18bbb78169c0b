import ArgumentParser
import Node
import Wire

/// The pairing token of a command. It holds the phone's key, so it can come by standard input instead of the command
/// line, which other users of the machine can read.
package struct PairingTokenOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("The phone's pairing token; - reads it from standard input.", valueName: "token"))
    package var pairingToken: String

    package init() {}

    package func token() throws -> PairingToken {
        try Self.token(pairingToken)
    }

    /// Reads a pairing token; `-` is read from standard input. A text that is none is an error with the exit status 65.
    package static func token(_ option: String) throws -> PairingToken {
        let text = try SecretInput.pairingToken.text(option)
        return try reportingRefusals { () throws(CallRefusal) in try PairingToken(entered: text) }
    }
}
