import Encodings

/// The address of a phone at its push service. Whether one is alive, only the service knows.
///
/// It prints as `<token>`: no log, error or report can show one by mistake. Two are the same when their bytes are.
package struct DeviceToken: Hashable, Sendable {
    @ByteText package private(set) var text: String

    /// Bytes of the longest address of any service: a push endpoint with its keys.
    static let longest = 4096

    /// Takes a text as it came: whether it has the form of an address, its ``PushService`` says. A text
    /// longer than any address is cut to a length that no address has: nothing that comes after this hashes,
    /// compares or keeps what a stranger made long.
    package init(_ text: String) {
        self.text =
            text.utf8.count <= DeviceToken.longest
            ? text : String(decoding: text.utf8.prefix(DeviceToken.longest + 1), as: UTF8.self)
    }

    /// Reads 64 to 512 hex digits, an even number, and keeps them in lower case, as APNs has them. Today an
    /// app's are 64 long, and Apple promises no length ("Sending notification requests to APNs").
    package init?(hexadecimal text: String) {
        guard (64...512).contains(text.utf8.count), text.utf8.count.isMultiple(of: 2) else { return nil }
        if text.consists(of: ASCII.lowerHexDigit) {
            self.text = text
        } else {
            guard text.consists(of: ASCII.hexDigit) else { return nil }
            self.text = text.lowercasedASCII
        }
    }

    /// Reads 32 to 4,096 of `[A-Za-z0-9_:.-]`, as FCM has them; Firebase promises neither. A text that begins
    /// like the addresses of other services is none.
    package init?(opaque text: String) {
        guard (DeviceToken.shortest...DeviceToken.longest).contains(text.utf8.count),
            text.consists(of: DeviceToken.character),
            !DeviceToken.hasServicePrefix(text)
        else { return nil }
        self.text = text
    }

    /// Whether a text begins with two lower-case letters, `1` and a colon: what tells an address
    /// of a service that phones don't know by their platform (``PushService/prefix``). FCM's
    /// tokens have no colon before their 11th character.
    static func hasServicePrefix(_ text: String) -> Bool { text.withBytes { hasServicePrefix($0) } }

    private static func hasServicePrefix(_ bytes: Span<UInt8>) -> Bool {
        bytes.count >= 4 && bytes[3] == UInt8(ascii: ":") && bytes[2] == UInt8(ascii: "1")
            && bytes.extracting(first: 2).consists { ASCII.letter($0) & (1 ^ ASCII.upperCase($0)) }
    }

    /// Whether the token has the form of an alias of the phone book. Only such a text is looked up: another
    /// one may be long, and made so that it takes long to hash.
    var isAlias: Bool {
        PhoneBook.aliasLengths.contains(text.utf8.count)
            && text.hasPrefix(PhoneBook.aliasPrefix)
            && text.consists(of: DeviceToken.character)
    }

    /// Whether a text could hold an address of any service: as many characters in a row as the shortest has.
    package static func couldBe(in text: String) -> Bool {
        var run = 0
        for byte in text.utf8 {
            run = character(byte) == 1 ? run + 1 : 0
            if run == shortest { return true }
        }
        return false
    }

    private static let shortest = 32

    // MARK: Addresses that no phone has

    /// The text `onionbell watch: no such device!` in hex.
    package static let hexadecimalOfNobody = DeviceToken(
        "6f6e696f6e62656c6c2077617463683a206e6f20737563682064657669636521")
    package static let opaqueOfNobody = DeviceToken("onionbell-watch:no-such-device:0")
    package static let ofNobody = [hexadecimalOfNobody, opaqueOfNobody]

    private static func character(_ byte: UInt8) -> UInt8 {
        ASCII.letter(byte) | ASCII.digit(byte) | ASCII.equal(byte, "_") | ASCII.equal(byte, ":")
            | ASCII.equal(byte, ".") | ASCII.equal(byte, "-")
    }
}

extension DeviceToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<token>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
