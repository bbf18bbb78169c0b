// Any text where a pairing token or a message string is expected. Built with the sources of Wire by Deploy/fuzz.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTexts(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let text = String(decoding: input, as: UTF8.self)
    if let token = try? PairingToken(text) {
        precondition(token.text == text)
        precondition((try? PairingToken(asBisqReads: text)) == token, "Bisq would refuse it")
    }
    _ = try? PairingToken(asBisqReads: text)
    for magic in MessageMagic.allCases {
        guard let message = try? MessageString(text, for: magic) else { continue }
        precondition(message.text == text)
    }
    if let bytes = Base64.decode(input) { precondition(Array(Base64.encode(bytes).utf8) == input) }
    precondition(Base64.decode(Base64.encode(input).utf8) == input)
    _ = PairingToken.isContentAvailable(descriptor: text)
    let message = MobileMessage(sentDate: 1, title: text, message: text, kind: .trade)
    precondition(message.blocks.count.isMultiple(of: 16))
    return 0
}
