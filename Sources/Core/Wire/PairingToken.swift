import Encodings

/// Why a text is not a pairing token. It says what was found, and never holds the key or the device token.
package enum PairingTokenError: Error, Equatable {
    case sections(count: Int)
    /// Case matters.
    case unknownMagic
    case keyLength(characters: Int)
    case deviceTokenLength(characters: Int, platform: Platform)
    // Bisq accepts what follows and fails later.
    case keyNotASCII
    case deviceTokenCharacters(platform: Platform)
    case descriptorWithoutModel
    case descriptorCharacters
}

extension PairingTokenError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .sections(let count):
            "the pairing token must have 4 sections, separated by |, and this has \(count): copy all that the phone shows"
        case .unknownMagic:
            "the pairing token must begin with iOS|, iOSDev| or android|"
        case .keyLength(let characters):
            "the key in the pairing token has \(characters) characters; it must have 32"
        case .deviceTokenLength(let characters, .android):
            "the device token has \(characters) characters; Android's have 32 to 4096"
        case .deviceTokenLength(let characters, .ios), .deviceTokenLength(let characters, .iosDev):
            "the device token has \(characters) characters; Apple's have 64"
        case .keyNotASCII:
            "the key in the pairing token must be printable ASCII"
        case .deviceTokenCharacters(.android):
            "the device token has characters other than letters, digits and _ : . -"
        case .deviceTokenCharacters(.ios), .deviceTokenCharacters(.iosDev):
            "the device token has characters other than hex digits"
        case .descriptorWithoutModel:
            "the phone's descriptor must name a model behind iPhone or iPad, or be empty"
        case .descriptorCharacters:
            "the phone's descriptor has control characters"
        }
    }
}

extension Platform {
    /// The first section of what is sent to such a phone.
    package var messageMagic: MessageMagic {
        switch self {
        case .ios, .iosDev: .ios
        case .android: .android
        }
    }
}

/// The text that a phone shows, also as a QR code, to be notified: `magic|descriptor|key|token` (Bisq 1,
/// `MobileNotificationValidator.java`; Bisq Remote's `Phone`).
///
/// The key is the phone's secret, shared with its Bisq and nobody else. Not a thing to log.
package struct PairingToken: Equatable, Sendable {
    package let platform: Platform
    /// Free words of the phone about itself, such as `iPhone 8 Plus`. May be empty.
    @ByteText package private(set) var descriptor: String
    /// 32 ASCII characters: the bytes of an AES-256 key.
    @ByteText package private(set) var key: String
    @ByteText package private(set) var deviceToken: String

    /// Reads a token as a careful node should: what Bisq accepts and would fail on later is refused.
    package init(_ text: String) throws(PairingTokenError) {
        try self.init(sections: PairingToken.sections(text))
        try checkStrictly()
    }

    /// Reads a token by the rule of Bisq 1, which counts characters and looks at few of them.
    package init(asBisqReads text: String) throws(PairingTokenError) {
        var sections = PairingToken.sections(text)
        // Java's split drops empty sections at the end, unless the text has but one.
        while sections.count > 1, sections.last?.isEmpty == true { sections.removeLast() }
        try self.init(sections: sections)
    }

    /// Makes a phone's token.
    package init(
        platform: Platform, descriptor: String, key: String, deviceToken: String
    ) throws(PairingTokenError) {
        try self.init("\(platform.pairingMagic)|\(descriptor)|\(key)|\(deviceToken)")
    }

    package var text: String { "\(platform.pairingMagic)|\(descriptor)|\(key)|\(deviceToken)" }

    /// Whether the sender asks Apple to wake the app (Bisq 1, `MobileModel.java`).
    package var isContentAvailable: Bool { Self.isContentAvailable(descriptor: descriptor) }

    /// Splits a text as bytes: in a stranger's text a character may be as long as the text.
    private static func sections(_ text: String) -> [Substring.UTF8View] {
        text.utf8.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
    }

    private init(sections: [Substring.UTF8View]) throws(PairingTokenError) {
        guard sections.count == 4 else { throw .sections(count: sections.count) }
        guard let platform = Platform(pairingMagic: sections[0]) else { throw .unknownMagic }
        self.platform = platform
        descriptor = String(Substring(sections[1]))
        key = String(Substring(sections[2]))
        deviceToken = String(Substring(sections[3]))
        // Java counts UTF-16 units.
        guard key.utf16.count == 32 else { throw .keyLength(characters: key.utf16.count) }
        let length = deviceToken.utf16.count
        guard platform == .android ? length >= 32 : length == 64 else {
            throw .deviceTokenLength(characters: length, platform: platform)
        }
    }

    private func checkStrictly() throws(PairingTokenError) {
        guard key.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "|") }) else {
            throw .keyNotASCII
        }
        let bytes = deviceToken.utf8
        switch platform {
        case .ios, .iosDev:
            guard bytes.allSatisfy(\.isHexDigit) else { throw .deviceTokenCharacters(platform: platform) }
        case .android:
            guard bytes.allSatisfy(\.isAllowedInFCMToken) else {
                throw .deviceTokenCharacters(platform: platform)
            }
            guard bytes.count <= 4_096 else {
                throw .deviceTokenLength(characters: bytes.count, platform: platform)
            }
        }
        guard descriptor.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) else {
            throw .descriptorCharacters
        }
        let words = descriptor.utf8.split(separator: 0x20)
        let models = ["iPhone", "iPad"]
        guard words.count > 1 || !models.contains(where: { words.first?.elementsEqual($0.utf8) == true })
        else {
            throw .descriptorWithoutModel
        }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isHexDigit: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }

    fileprivate var isAllowedInFCMToken: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
            || "_:.-".utf8.contains(self)
    }
}

extension PairingToken {
    /// Characters behind the mark in an Android phone's device token: all that were ever seen have 134.
    package static let leastSecret = 120

    /// Whether a text is the beginning of an Android phone's device token whose end is missing, as when a copy was cut.
    package static func isCut(_ deviceToken: String) -> Bool {
        let bytes = Array(deviceToken.utf8.prefix(4_096))
        let mark = Array(":APA91b".utf8)
        guard let colon = bytes.firstIndex(of: mark[0]), colon > 0, bytes[colon...].starts(with: mark) else {
            return false
        }
        return bytes.count - colon - mark.count < leastSecret
    }

    /// True for an iPhone from 6s on, named as its makers do, and for an iPad Pro. A descriptor without a model, on
    /// which Bisq 1 fails, is false.
    package static func isContentAvailable(descriptor: String) -> Bool {
        let words = descriptor.utf8.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count > 1, let model = Substring(words[1]).name(), let maker = Substring(words[0]).name()
        else { return false }
        guard maker == "iPhone" else { return maker == "iPad" && model == "Pro" }
        if ["X", "XS", "XR"].contains(model) { return true }
        var digits = Array(model.utf8)
        var suffix: UInt8?
        // One letter behind one or two digits: 6s, 5c, 11x.
        if (2...3).contains(digits.count), let last = digits.last, !last.isDigit,
            digits.dropLast().allSatisfy(\.isDigit)
        {
            suffix = last
            digits.removeLast()
        }
        guard let number = Int32(String(decoding: digits, as: UTF8.self)) else { return false }
        return number > 6 || number == 6 && suffix.map { $0 | 0x20 } == UInt8(ascii: "s")
    }
}
