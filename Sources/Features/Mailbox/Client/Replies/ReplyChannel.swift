import Client
import Crypto
import Encodings
import Wire

/// One direction between a phone and its Bisq, made of the key that the two share since pairing: a name by which a node
/// holds replies, and a key that no node has.
///
/// `base = HKDF-Extract(salt: "Onionbell replies 1", the key's 32 bytes)`; the name is 24 bytes of
/// `HKDF-Expand(base, "to-bisq channel")` in Base64 for URLs, the key 32 bytes of `HKDF-Expand(base, "to-bisq key")` (RFC
/// 5869, SHA-256). To the phone it is `"to-phone key"`, and `"to-phone channel <counter>"` with that of its reply. A
/// sealed reply is `1 | nonce (12) | AES-256-GCM(reply) | tag (16)`; the first byte is associated.
///
/// Nonces are random, since several phones may share the key.
package struct ReplyChannel: Sendable {
    package enum Direction: Equatable, Sendable {
        case toBisq
        /// The answer to the reply of this counter. Each answer has a name of its own: phones that share the key would
        /// acknowledge each other's.
        case toPhone(answering: Int64)

        fileprivate var name: String {
            switch self {
            case .toBisq: "to-bisq channel"
            case .toPhone(let counter): "to-phone channel \(counter)"
            }
        }

        fileprivate var key: String {
            switch self {
            case .toBisq: "to-bisq key"
            case .toPhone: "to-phone key"
            }
        }
    }

    /// The channel's id: 32 letters, digits, `-` and `_`. A reader that knows it, the mailbox's address and the node can
    /// fetch what waits, not open it.
    package let id: String
    private let key: Secret

    private static let version: [UInt8] = [1]
    private static let salt = Array("Onionbell replies 1".utf8)
    private static let nonceLength = 12
    /// Bytes that a sealed reply has more than its text.
    static let overhead = 1 + nonceLength + 16
    /// Bytes of the longest.
    package static let longest = PhoneReply.longest + overhead

    package init(_ direction: Direction, of token: PairingToken) {
        let base = HKDF.extract(Array(token.key.utf8), salt: ReplyChannel.salt)
        id = Base64.encodeForURL(HKDF.expand(base, info: Array(direction.name.utf8), length: 24))
        key = Secret(HKDF.expand(base, info: Array(direction.key.utf8)))
    }

    package func seal(_ reply: PhoneReply) throws(CryptoError) -> [UInt8] {
        try seal(reply, nonce: randomBytes(ReplyChannel.nonceLength))
    }

    /// Encrypts a reply; `nonce` is 12 bytes, never used twice.
    func seal(_ reply: PhoneReply, nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
        ReplyChannel.version + nonce
            + (try AES256GCM.seal(
                reply.bytes, key: key.bytes, nonce: nonce, associated: ReplyChannel.version))
    }

    package func open(_ sealed: [UInt8]) throws(ReplyFault) -> PhoneReply {
        guard sealed.starts(with: ReplyChannel.version), sealed.count >= ReplyChannel.overhead,
            sealed.count <= ReplyChannel.longest
        else { throw .notAuthentic }
        let rest = sealed.dropFirst()
        guard
            let bytes = try? AES256GCM.open(
                Array(rest.dropFirst(ReplyChannel.nonceLength)), key: key.bytes,
                nonce: Array(rest.prefix(ReplyChannel.nonceLength)), associated: ReplyChannel.version),
            let reply = PhoneReply(bytes)
        else { throw .notAuthentic }
        return reply
    }
}
