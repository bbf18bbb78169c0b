/// What status-go takes for a UUID: all that Go's parser (google/uuid) reads, of any case and version.
///
/// 36 characters with hyphens; the same behind `urn:uuid:`; the same in braces; or 32 hex digits.
package func isUUID(_ text: String) -> Bool {
    let bytes = text.utf8.span
    switch bytes.count {
    case 32: return bytes.allSatisfy(isHexDigit)
    case 36: return isHyphenated(bytes)
    // Go's parser reads what is between the first and the last byte, and looks at neither.
    case 38: return isHyphenated(bytes.extracting(1..<37))
    case 45:
        return bytes.extracting(9...).count == 36 && isHyphenated(bytes.extracting(9...))
            && String(text.prefix(9)).lowercased() == "urn:uuid:"
    default: return false
    }
}

private func isHyphenated(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices {
        let isHyphen = index == 8 || index == 13 || index == 18 || index == 23
        guard isHyphen ? bytes[index] == UInt8(ascii: "-") : isHexDigit(bytes[index]) else { return false }
    }
    return true
}

private func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        true
    default: false
    }
}

extension Span<UInt8> {
    fileprivate func allSatisfy(_ isGood: (UInt8) -> Bool) -> Bool {
        for index in indices where !isGood(self[index]) { return false }
        return true
    }
}
