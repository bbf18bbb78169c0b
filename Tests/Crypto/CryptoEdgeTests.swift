import Testing
import Vectors

@testable import Crypto

/// What Project Wycheproof looks at, as far as it is used here: `crypto-vectors.py` has written it anew. What has no result is
/// refused.
@Suite struct CryptoEdgeTests {
    private func rows(_ name: String) throws -> [[[UInt8]?]] {
        try Vectors.crypto(name).map { $0.map { $0.map(bytes(hex:)) } }
    }

    @Test func gcmOpensWhatWasSealedAndNothingElse() throws {
        for row in try rows("gcm") {
            let (key, nonce, associated, sealed) = (row[0]!, row[1]!, row[2]!, row[3]!)
            let opened = try? AES256GCM.open(sealed, key: key, nonce: nonce, associated: associated)
            #expect(opened == row[4], "\(row)")
            if let text = row[4] {
                #expect(
                    try AES256GCM.seal(text, key: key, nonce: nonce, associated: associated) == sealed)
            }
        }
    }

    @Test func cbcTakesWholeBlocks() throws {
        for row in try rows("cbc") {
            let (key, iv, sealed) = (row[0]!, row[1]!, row[2]!)
            #expect((try? AES256CBC.decrypt(sealed, key: key, iv: iv)) == row[3], "\(row)")
            if let text = row[3] { #expect(try AES256CBC.encrypt(text, key: key, iv: iv) == sealed) }
        }
    }

    @Test func hmacTakesKeysOfAnyLength() throws {
        for row in try rows("hmac") {
            #expect(HMAC.sha256(row[1]!, key: row[0]!) == row[2], "\(row)")
            let (high, low) = KeyedDigest(key: row[0]!)(row[1]!)
            let first = row[2]!.prefix(16)
            #expect(first.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } == high)
            #expect(first.suffix(8).reduce(0) { $0 << 8 | UInt64($1) } == low)
        }
    }

    private struct Derived: Decodable {
        let (secret, salt, info, key): (String, String, String, String)
        let length: Int

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            secret = try values.decode(String.self)
            salt = try values.decode(String.self)
            info = try values.decode(String.self)
            length = try values.decode(Int.self)
            key = try values.decode(String.self)
        }
    }

    @Test func hkdfTakesPartsOfAnyLength() throws {
        for one in try Vectors.crypto("hkdf", as: [Derived].self) {
            let base = HKDF.extract(bytes(hex: one.secret), salt: bytes(hex: one.salt))
            #expect(
                HKDF.expand(base, info: bytes(hex: one.info), length: one.length) == bytes(hex: one.key))
        }
    }

    @Test func publicKeysAreThoseOfTheirSecrets() throws {
        for row in try rows("x25519") { #expect(try X25519.publicKey(secret: row[0]!) == row[1]) }
        for row in try rows("ed25519") {
            #expect(try Ed25519.publicKey(seed: row[0]!) == row[1])
            #expect(try Ed25519.publicKey(expanded: try Ed25519.expandedKey(seed: row[0]!)) == row[1])
        }
    }

    private struct Exchanges: Decodable {
        let key: String
        let cases: [[String]]
    }

    /// Some secrets begin with zeros.
    @Test func exchangesOnP256Agree() throws {
        let table = try Vectors.crypto("p256", as: Exchanges.self)
        let own = try P256Key(pem: Array(table.key.utf8))
        for row in table.cases {
            #expect(try own.sharedSecret(with: bytes(hex: row[0])) == bytes(hex: row[1]))
        }
        for row in try Vectors.crypto("p256 wrong", as: [String].self).map(bytes(hex:)) {
            #expect(throws: CryptoError.self, "\(row)") { try own.sharedSecret(with: row) }
            #expect(P256.uncompressed(row) == nil && !P256.isPoint(row), "\(row)")
        }
    }

    @Test func exchangesOnSecp256k1Agree() throws {
        let table = try Vectors.crypto("secp256k1", as: Exchanges.self)
        let own = try Secp256k1.PrivateKey(Secret(bytes(hex: table.key)))
        for row in table.cases {
            #expect(own.sharedX(with: try Secp256k1.PublicKey(bytes(hex: row[0]))) == bytes(hex: row[1]))
        }
        for row in try Vectors.crypto("secp256k1 wrong", as: [String].self).map(bytes(hex:)) {
            #expect(throws: CryptoError.self, "\(row)") { try Secp256k1.PublicKey(row) }
        }
    }

    /// Which of up to four keys it is says V: one of them is the signer's. A high S is taken.
    @Test func aSignatureLeadsToItsSigner() throws {
        for row in try rows("secp256k1 recovery") {
            let found = (0..<4).compactMap { (v: UInt8) in
                Secp256k1.PublicKey(recoveredFrom: row[0]!, signature: row[1]! + [v])?.uncompressed
            }
            if let signer = row[2] {
                #expect(found.contains(signer))
            } else {
                #expect(found.isEmpty, "\(row)")
            }
        }
    }
}
