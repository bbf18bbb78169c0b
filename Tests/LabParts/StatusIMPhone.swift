import Crypto
import Encodings
import StatusIM
import Wire

/// A phone with Status' app, and whoever sends to it: makes the messages that a push notification server takes
/// (status-go, `protocol/pushnotificationclient/client.go`).
package struct StatusIMPhone: Sendable {
    package let key = Secp256k1.PrivateKey.random()
    /// As it is to be sent next; the grant is made with each sending.
    package var registration = Registration()

    /// - Parameters:
    ///   - deviceToken: as Apple or Google gave it.
    ///   - topic: the app's bundle id, for Apple.
    package init(_ tokenType: Registration.TokenType, deviceToken: String, topic: String = "") {
        registration.tokenType = tokenType.rawValue
        registration.deviceToken = deviceToken
        registration.installationID = StatusIMPhone.uuid()
        registration.accessToken = StatusIMPhone.uuid()
        registration.version = 1
        registration.topic = topic
    }

    package static func uuid() -> String {
        let digits = Hex.encode(randomBytes(16))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    /// What others ask for it by: SHAKE-256 of its key.
    package var hash: [UInt8] { Keccak.shake256(key.publicKey.compressed) }

    package func registering(at server: Secp256k1.PublicKey) throws(CryptoError) -> [UInt8] {
        var registration = registration
        registration.grant = key.sign(
            registration.grantDigest(client: key.publicKey.compressed, server: server.compressed))
        let nonce = randomBytes(12)
        let sealed = try AES256GCM.seal(registration.encoded, key: key.sharedX(with: server), nonce: nonce)
        return message(.registration, nonce + sealed)
    }

    /// A message that this phone's key signs. Senders sign with keys that they throw away; the server doesn't care.
    package func message(_ kind: SignedMessage.Kind, _ payload: [UInt8]) -> [UInt8] {
        SignedMessage(signature: key.sign(SignedMessage.digest(of: payload)), payload: payload, kind: kind)
            .encoded
    }

    /// A request to wake this phone.
    ///
    /// - Parameters:
    ///   - chat: the hash of its id.
    ///   - count: how many entries it has, all of them for this phone.
    package func request(
        id: [UInt8] = randomBytes(32), chat: [UInt8] = [1], count: Int = 1
    ) -> [UInt8] {
        var writer = ProtoWriter()
        for _ in 0..<count {
            writer.message(1) { entry in
                entry.string(1, registration.accessToken)
                entry.data(2, chat)
                entry.data(3, hash)
                entry.string(4, registration.installationID)
                entry.uint64(6, 1)
            }
        }
        writer.data(2, id)
        return message(.request, writer.bytes)
    }
}
