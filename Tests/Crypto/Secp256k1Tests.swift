import Crypto
import Testing
import Vectors

@Suite struct Secp256k1Tests {
    private let vectors: StatusIMVectors

    init() throws { vectors = try StatusIMVectors.read() }

    @Test func keysHaveTheirTwoForms() throws {
        for (name, vector) in vectors.keys {
            let key = try Secp256k1.PrivateKey(Secret(bytes(hex: vector.private_hex))).publicKey
            #expect(key.compressed == bytes(hex: vector.public_compressed_hex), "\(name)")
            #expect(key.uncompressed == bytes(hex: vector.public_uncompressed_hex), "\(name)")
            #expect(try Secp256k1.PublicKey(key.compressed) == key)
            #expect(try Secp256k1.PublicKey(key.uncompressed) == key)
        }
    }

    @Test func theSharedXKeepsItsLeadingZeros() throws {
        for vector in vectors.ecdh {
            let key = try Secp256k1.PrivateKey(Secret(bytes(hex: vector.private_hex)))
            let other = try Secp256k1.PublicKey(bytes(hex: vector.public_compressed_hex))
            #expect(key.sharedX(with: other) == bytes(hex: vector.shared_hex), "\(vector.name)")
        }
    }

    @Test func aSignatureRecoversToItsKeyAndIsAlwaysTheSame() throws {
        let key = Secp256k1.PrivateKey.random()
        let digest = Hash.sha256([1, 2, 3])
        let signature = key.sign(digest)
        #expect(signature.count == 65)
        #expect(key.sign(digest) == signature)
        #expect(Secp256k1.PublicKey(recoveredFrom: digest, signature: signature) == key.publicKey)
        #expect(
            Secp256k1.PublicKey(recoveredFrom: Hash.sha256([4]), signature: signature) != key.publicKey)
    }

    @Test func whatIsNoSignatureRecoversToNobody() throws {
        let digest = Hash.sha256([1])
        let good = Secp256k1.PrivateKey.random().sign(digest)
        var bad = good
        bad[64] += 27
        let zeros = [UInt8](repeating: 0, count: 65)
        let ones = [UInt8](repeating: 0xff, count: 64) + [0]
        for signature in [[], Array(good.dropLast()), good + [0], bad, zeros, ones] {
            #expect(Secp256k1.PublicKey(recoveredFrom: digest, signature: signature) == nil)
        }
        #expect(Secp256k1.PublicKey(recoveredFrom: [], signature: good) == nil)
    }

    @Test func whatIsNoKeyIsRefused() {
        for secret in [[], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xff, count: 32), [1]] {
            #expect(throws: CryptoError.self) { try Secp256k1.PrivateKey(Secret(secret)) }
        }
        for key in [
            [], [2], [4] + [UInt8](repeating: 0, count: 64), [2] + [UInt8](repeating: 0xff, count: 32),
        ] {
            #expect(throws: CryptoError.self) { try Secp256k1.PublicKey(key) }
        }
    }

    /// Status seals under the shared x coordinate itself.
    @Test func whatWasSealedUnderTheSharedXOpens() throws {
        for vector in vectors.aes_256_gcm {
            let opened = try? AES256GCM.open(bytes(hex: vector.sealed_hex), key: bytes(hex: vector.key_hex))
            let expected = vector.opens ? bytes(hex: try #require(vector.plain_hex)) : nil
            #expect(opened == expected, "\(vector.name)")
        }
        let entry = vectors.allowed_key_list_entry
        let contact = try Secp256k1.PrivateKey(Secret(bytes(hex: entry.contact_private_hex)))
        let client = try Secp256k1.PublicKey(bytes(hex: entry.client_public_compressed_hex))
        let token = try AES256GCM.open(bytes(hex: entry.entry_hex), key: contact.sharedX(with: client))
        #expect(token == Array(entry.access_token.utf8))
    }
}
