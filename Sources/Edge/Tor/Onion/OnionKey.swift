import Crypto

/// The secret key of an onion service. Its holder has the address. Never shown: it prints as its address.
package struct OnionKey: Sendable {
    enum Material: Equatable, Sendable {
        /// 32 bytes, as Ed25519 keys are kept everywhere but in tor.
        case seed([UInt8])
        /// 64 bytes, as in tor's `hs_ed25519_secret_key`: SHA-512 of a seed that nobody has any more, clamped.
        case expanded([UInt8])
    }

    let secret: Material

    package let address: OnionAddress

    package static func generate() -> OnionKey { OnionKey(seed: randomBytes(32))! }

    /// Makes the key of a seed of 32 bytes; `nil` is returned for another length.
    package init?(seed: [UInt8]) {
        guard let publicKey = try? Ed25519.publicKey(seed: seed) else { return nil }
        secret = .seed(seed)
        address = OnionAddress(publicKey: publicKey)
    }

    /// Makes the key of an expanded secret of 64 bytes. `nil` is returned for another length or an unclamped
    /// scalar, of which tor would make some other address.
    package init?(expanded: [UInt8]) {
        guard let publicKey = try? Ed25519.publicKey(expanded: expanded) else { return nil }
        secret = .expanded(expanded)
        address = OnionAddress(publicKey: publicKey)
    }

    /// The 64 bytes that ADD_ONION takes.
    var expandedBytes: [UInt8] {
        switch secret {
        case .expanded(let bytes): bytes
        case .seed(let seed): try! Ed25519.expandedKey(seed: seed)  // throws for another length only
        }
    }
}

extension OnionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "the key of \(address)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
