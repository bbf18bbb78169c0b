/// 16 bytes of a keyed digest: stands for a device token, a uid or a message where the plain value must not be kept.
///
/// Public, and not for this package alone, because Swift 6.3 inlines only public functions into other modules. All modules
/// share what the compiler makes for tables of digests: one that has to call for the hash makes each look of all take three
/// times as long.
@frozen
public struct Digest: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    @inlinable public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    @inlinable public static func == (left: Digest, right: Digest) -> Bool {
        left.low == right.low && left.high == right.high
    }

    /// Hashes half of the digest, which spreads as well as all:
    /// nobody without the key can make two that share it.
    @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(low) }

    /// Returns the hash for tables. A keyed digest needs no other one: to make one took a
    /// quarter of the time of each look into a table.
    @inlinable public func _rawHashValue(seed: Int) -> Int { Int(truncatingIfNeeded: low) ^ seed }

    /// The text in the operator's list of the outbox: 8 hex digits, enough to follow one device.
    package var shortHex: String {
        let digits = String(high >> 32, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

/// The digests of one submission. Made at the edge, since the pure core holds no key.
package struct SubmissionDigests: Equatable, Sendable {
    /// The digest of app, host and device token.
    package let token: Digest
    /// The digest that a repetition is recognized by: of the uid, or for doors without one, of target and message.
    package let identity: Digest
    /// The digest of target and message: a repeated uid with another digest is refused.
    package let content: Digest

    package init(token: Digest, identity: Digest, content: Digest) {
        self.token = token
        self.identity = identity
        self.content = content
    }
}
