import Encodings

/// The first section of a message string: which phones can read it.
package enum MessageMagic: String, CaseIterable, Sendable {
    case ios = "BisqMessageiOS"
    case android = "BisqMessageAndroid"
}

/// Why a text is no message for a phone. It holds none of the text.
package enum MessageStringError: Error, Equatable {
    case sections(count: Int)
    case unknownMagic
    /// Good in itself, but for the other kind of phone.
    case wrongPlatform(MessageMagic)
    case ivLength(characters: Int)
    case notBase64
    /// The cipher works on blocks of 16 bytes, and there must be one.
    case cipherTextLength(bytes: Int)
}

extension MessageStringError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .sections(let count):
            "the message string has \(count) sections; it must have 3, separated by |"
        case .unknownMagic:
            "the message string must begin with BisqMessageiOS| or BisqMessageAndroid|"
        case .wrongPlatform(let magic):
            "the message string is for another kind of phone: it begins with \(magic.rawValue)"
        case .ivLength(let characters):
            "the IV has \(characters) characters; it must have 16 of ASCII"
        case .notBase64:
            "the ciphertext is not standard Base64 with padding"
        case .cipherTextLength(let bytes):
            "the ciphertext has \(bytes) bytes; it must be a multiple of 16, and not empty"
        }
    }
}

/// An encrypted message as the phone gets it from its push service: `magic|iv|base64` (Bisq 1,
/// `MobileMessageEncryption.java`, `MobileNotificationService.java`).
package struct MessageString: Equatable, Sendable {
    package let magic: MessageMagic
    /// 16 ASCII characters, used as bytes.
    package let iv: [UInt8]
    /// A multiple of 16 bytes, at least one block.
    package let cipherText: [UInt8]

    /// Makes a message from its parts.
    ///
    /// - Precondition: `iv` is 16 bytes of printable ASCII without `|`, `cipherText` one or more blocks of 16
    ///   bytes.
    package init(magic: MessageMagic, iv: [UInt8], cipherText: [UInt8]) {
        precondition(iv.count == 16 && iv.allSatisfy(\.isAllowedInIV), "an IV that does not fit its section")
        precondition(
            !cipherText.isEmpty && cipherText.count.isMultiple(of: 16),
            "a ciphertext of \(cipherText.count) bytes is not a row of blocks")
        self.magic = magic
        self.iv = iv
        self.cipherText = cipherText
    }

    /// Reads what a phone with this magic would accept.
    package init(_ text: String, for magic: MessageMagic) throws(MessageStringError) {
        let sections = text.utf8.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
        guard sections.count == 3 else { throw .sections(count: sections.count) }
        guard let found = MessageMagic.allCases.first(where: { sections[0].elementsEqual($0.rawValue.utf8) })
        else { throw .unknownMagic }
        guard found == magic else { throw .wrongPlatform(found) }
        let iv = Array(sections[1])
        guard iv.count == 16, iv.allSatisfy(\.isAllowedInIV) else { throw .ivLength(characters: iv.count) }
        guard let cipherText = Base64.decode(Array(sections[2]).span) else { throw .notBase64 }
        guard !cipherText.isEmpty, cipherText.count.isMultiple(of: 16) else {
            throw .cipherTextLength(bytes: cipherText.count)
        }
        self.init(magic: magic, iv: iv, cipherText: cipherText)
    }

    package var text: String {
        "\(magic.rawValue)|\(String(decoding: iv, as: UTF8.self))|\(Base64.encode(cipherText))"
    }
}

extension UInt8 {
    fileprivate var isAllowedInIV: Bool { (0x21...0x7e).contains(self) && self != UInt8(ascii: "|") }
}
