import Crypto
import Encodings

/// The address of an onion service of version 3.
///
/// `base32(public key ‖ checksum ‖ 3)`, 56 characters, where the checksum is the first two bytes of
/// `SHA3-256(".onion checksum" ‖ public key ‖ 3)`. Source: rend-spec-v3, "Encoding onion addresses".
package struct OnionAddress: Hashable, Sendable, CustomStringConvertible {
    /// 56 characters in lower case, without `.onion`: tor's ServiceID.
    package let serviceID: String

    /// Makes the address of a public key.
    ///
    /// - Precondition: 32 bytes.
    package init(publicKey: [UInt8]) {
        precondition(publicKey.count == 32, "a public key of \(publicKey.count) bytes")
        serviceID = Base32.encode(publicKey + Self.ending(publicKey))
    }

    /// Reads an address with or without `.onion`, in either case; `nil` unless length, checksum and version
    /// are right.
    package init?(_ text: String) {
        let name = text.lowercased()
        let serviceID = name.hasSuffix(".onion") ? String(name.dropLast(6)) : name
        guard serviceID.utf8.count == 56, let bytes = Base32.decode(serviceID), bytes.count == 35,
            Array(bytes[32...]) == Self.ending(Array(bytes[..<32]))
        else { return nil }
        self.serviceID = serviceID
    }

    package var description: String { serviceID + ".onion" }

    private static func ending(_ publicKey: [UInt8]) -> [UInt8] {
        Hash.sha3_256(Array(".onion checksum".utf8) + publicKey + [3]).prefix(2) + [3]
    }
}
