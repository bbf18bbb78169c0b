import Encodings

/// Whether status-go takes a text for a UUID: all that Go's parser (google/uuid) reads, of any case and version.
///
/// 36 characters with hyphens; the same behind `urn:uuid:`; the same in braces; or 32 hex digits.
package func isUUID(_ text: String) -> Bool {
    let hasWord = text.utf8.count == 45 && text.name()?.lowercased().hasPrefix("urn:uuid:") == true
    return text.withBytes { isUUID($0, withWord: hasWord) }
}

private func isUUID(_ bytes: Span<UInt8>, withWord hasWord: Bool) -> Bool {
    switch bytes.count {
    case 32: return bytes.consists(of: ASCII.hexDigit)
    case 36: return isHyphenated(bytes)
    // Go's parser reads what is between the first and the last byte, and looks at neither.
    case 38: return isHyphenated(bytes.extracting(1..<37))
    case 45:
        return hasWord && isHyphenated(bytes.extracting(9...))
    default: return false
    }
}

private func isHyphenated(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices {
        let isHyphen = index == 8 || index == 13 || index == 18 || index == 23
        guard isHyphen ? bytes[index] == UInt8(ascii: "-") : ASCII.hexDigit(bytes[index]) == 1 else {
            return false
        }
    }
    return true
}
