import Encodings
import Gateways
import Wire

extension PairingToken {
    /// Reads a token as a person enters it: with the line breaks and blanks of a mail, and a short topic of ntfy may stand where
    /// the token of a phone stands.
    package init(entered text: String) throws(CallRefusal) {
        let text = try PairingToken.filledUp(
            String(decoding: PastedText.joinedSections(Array(text.utf8)), as: UTF8.self))
        do throws(PairingTokenError) {
            try self.init(text)
        } catch {
            throw CallRefusal(error)
        }
    }

    private static func filledUp(_ text: String) throws(CallRefusal) -> String {
        guard let bar = text.utf8.lastIndex(of: UInt8(ascii: "|")) else { return text }
        do throws(NtfyService.AddressFault) {
            return try String(text[...bar]) + NtfyService.paired(String(text[text.utf8.index(after: bar)...]))
        } catch {
            throw CallRefusal(.unfit, "bad_topic", "\(error)")
        }
    }
}

extension CallRefusal {
    /// Makes the refusal of a pairing token.
    package init(_ error: PairingTokenError) { self.init(.unfit, error.word, "\(error)") }
}

extension PairingTokenError {
    /// The word by which the console's pages know the error.
    fileprivate var word: String {
        switch self {
        case .sections: "token_sections"
        case .unknownMagic: "token_magic"
        case .keyLength, .keyNotASCII: "token_key"
        case .deviceTokenLength, .deviceTokenCharacters: "token_device"
        case .descriptorWithoutModel, .descriptorCharacters: "token_descriptor"
        }
    }
}
