import Encodings

@testable import Encodings
@testable import Wire

// Any text where a pairing token or a message string is expected. Built by Deploy/tools/fuzz.

func fuzzText(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    guard !isCostOnly else {
        // Base64 is all that the node itself reads of these.
        _ = Base64.decode(input.span)
        return
    }
    if let token = try? PairingToken(text) {
        precondition(token.text.hasSameBytes(as: text))
        precondition((try? PairingToken(asBisqReads: text)) == token, "Bisq would refuse it")
    }
    _ = try? PairingToken(asBisqReads: text)
    for magic in MessageMagic.allCases {
        guard let message = try? MessageString(text, for: magic) else { continue }
        precondition(message.text.hasSameBytes(as: text))
    }
    if let bytes = Base64.decode(input.span) { precondition(Array(Base64.encode(bytes).utf8) == input) }
    precondition(Base64.decode(Base64.encode(input)) == input)
    _ = PairingToken.isContentAvailable(descriptor: text)
    let message = PhoneText(sentDate: 1, title: text, message: text, kind: .trade)
    precondition(message.blocks.count.isMultiple(of: 16))
}
