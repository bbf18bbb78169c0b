import Testing
import Vectors

@testable import Crypto

@Suite struct PassphraseSealTests {
    /// RFC 7914, section 12.
    @Test(arguments: [
        (
            "", "", 16 as UInt64, 1 as UInt64, 1 as UInt64,
            "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
        ),
        (
            "pleaseletmein", "SodiumChloride", 16384, 8, 1,
            "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
        ),
    ])
    func keysAreThoseOfTheStandard(
        passphrase: String, salt: String, n: UInt64, r: UInt64, p: UInt64, key: String
    ) throws {
        let made = try PassphraseSeal.scrypt(
            Array(passphrase.utf8), salt: Array(salt.utf8), n: n, r: r, p: p, length: 64)
        #expect(made == bytes(hex: key))
    }

    @Test func aFileOpensWithItsPassphraseAndNotIfAByteIsChanged() throws {
        let text = Array("what is kept".utf8)
        let passphrase = Secret(Array("correct horse".utf8))
        let seal = try PassphraseSeal(passphrase: passphrase)
        let sealed = try seal.seal(text)
        #expect(sealed.count == text.count + PassphraseSeal.overhead)
        #expect(try seal.seal(text) != sealed, "never the same nonce")
        let (opened, again) = try PassphraseSeal.open(sealed, passphrase: passphrase)
        #expect(opened == text)
        #expect(try PassphraseSeal.open(again.seal(text), passphrase: passphrase).text == text)
        // Of each part one byte: the salt's is another key.
        for index in [16, 32, 44, sealed.count - 1] {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: CryptoError.wrongPassword) {
                try PassphraseSeal.open(changed, passphrase: passphrase)
            }
        }
        #expect(throws: CryptoError.wrongPassword) {
            try PassphraseSeal.open(sealed, passphrase: Secret(Array("correct hors".utf8)))
        }
        #expect(!PassphraseSeal.isSealed(text))
        #expect(throws: CryptoError.self) {
            try PassphraseSeal.open(Array(sealed.prefix(59)), passphrase: passphrase)
        }
    }
}
