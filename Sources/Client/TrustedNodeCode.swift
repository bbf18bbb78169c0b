import Encodings

/// The code that a trusted node of Bisq 2 shows to pair a client: the text of its QR code, which also lies in its data
/// directory as `pairing_qr_code.txt`.
///
/// Base64 for URLs of: version 1, the pairing code with 2 bytes of length, the WebSocket's URL likewise, flags, and what
/// these announce. The pairing code: version 1, its id, milliseconds since 1970 of its end (8), permissions (4 bytes of
/// number, 4 each). Texts have 2 bytes of length; all numbers are big-endian (Bisq 2, `PairingQrCodeDecoder.java`,
/// `PairingCodeDecoder.java`).
package struct TrustedNodeCode: Equatable, Sendable {
    package let pairingID: String
    /// Milliseconds since 1970.
    package let expiresAt: Int64
    package let url: String
    /// Whether the node's onion service answers only clients whose key its tor knows.
    package let needsTorClientKey: Bool
    /// Whether the node shows a certificate of its own making.
    package let hasCertificate: Bool

    /// The permission to register devices.
    package static let mobileDevices: Int32 = 10
    /// Bytes of the whole; the decoder's own limits give some 5,000.
    private static let longest = 8192

    package enum Fault: Error, Equatable, CustomStringConvertible {
        case notACode
        /// The node does not let the code register devices.
        case noPermission

        package var description: String {
            switch self {
            case .notACode: "this is no pairing code of a trusted node of Bisq 2"
            case .noPermission: "the trusted node does not allow this pairing code to register devices"
            }
        }
    }

    package init(_ text: String) throws(Fault) {
        guard text.utf8.count <= TrustedNodeCode.longest,
            let bytes = Base64.decodeFromURL(text.filter { $0 != "=" })
        else { throw .notACode }
        var reader = Reader(bytes)
        guard reader.byte() == 1, var code = reader.run(atMost: 4096).map(Reader.init),
            let url = reader.text(atMost: 512), let flags = reader.byte(), code.byte() == 1,
            let id = code.text(atMost: 128), !id.isEmpty, let end = code.number(8),
            let count = code.number(4), (0...64).contains(count)
        else { throw .notACode }
        var permissions: [Int64] = []
        for _ in 0..<count {
            guard let permission = code.number(4) else { throw .notACode }
            permissions.append(permission)
        }
        guard permissions.contains(Int64(TrustedNodeCode.mobileDevices)) else { throw .noPermission }
        pairingID = id
        expiresAt = end
        self.url = url
        hasCertificate = flags & 1 != 0
        needsTorClientKey = flags & 2 != 0
    }

    private struct Reader {
        private var unread: ArraySlice<UInt8>

        init(_ bytes: [UInt8]) { unread = bytes[...] }

        mutating func byte() -> UInt8? { unread.popFirst() }

        mutating func number(_ length: Int) -> Int64? {
            guard unread.count >= length else { return nil }
            defer { unread.removeFirst(length) }
            return unread.prefix(length).reduce(0) { $0 << 8 | Int64($1) }
        }

        mutating func run(atMost limit: Int) -> [UInt8]? {
            guard let length = number(2), length <= limit, unread.count >= length else { return nil }
            defer { unread.removeFirst(Int(length)) }
            return Array(unread.prefix(Int(length)))
        }

        /// Reads a text of printable ASCII, without blanks: what else would go into a request as it is.
        mutating func text(atMost limit: Int) -> String? {
            guard let bytes = run(atMost: limit), bytes.allSatisfy({ (0x21...0x7e).contains($0) }) else {
                return nil
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
