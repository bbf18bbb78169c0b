import Encodings
import Testing
import Vectors

@testable import Crypto

@Suite struct HashTests {
    @Test func hashesMatchTheStandardsExamples() {
        let abc = Array("abc".utf8)
        #expect(
            Hex.encode(Hash.sha256(abc))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            Hex.encode(Hash.sha512(abc)) == """
                ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
                """)
        #expect(
            Hex.encode(Hash.sha3_256(abc))
                == "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532")
        #expect(
            Hex.encode(Hash.sha256([]))
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    /// RFC 4231, cases 1, 2 and 6.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0b, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func macsMatchTheStandardsExamples(key: [UInt8], message: String, mac: String) {
        #expect(Hex.encode(HMAC.sha256(Array(message.utf8), key: key)) == mac)
        let digest = KeyedDigest(key: key)
        // Twice: the key must still be there after the first message.
        for _ in 0..<2 {
            let (high, low) = digest(message)
            let bytes =
                withUnsafeBytes(of: high.bigEndian, Array.init)
                + withUnsafeBytes(of: low.bigEndian, Array.init)
            #expect(Hex.encode(bytes) == mac.prefix(32))
        }
        #expect(digest(Array(message.utf8)) == digest(Array(message.utf8).span.bytes))
    }

    @Test func anEmptyKeyIsAKeyLikeAnother() {
        #expect(
            Hex.encode(HMAC.sha256([], key: []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func randomBytesDiffer() {
        #expect(randomBytes(0).isEmpty)
        #expect(randomBytes(32).count == 32)
        #expect(randomBytes(32) != randomBytes(32))
    }

    @Test func comparisonSeesEveryByte() {
        let bytes = randomBytes(33)
        #expect(equalInConstantTime(bytes, bytes))
        #expect(equalInConstantTime([], []))
        #expect(!equalInConstantTime(bytes, bytes.dropLast()))
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 0x80
            #expect(!equalInConstantTime(bytes, other))
        }
    }

    /// RFC 5869, appendix A.1 and A.3.
    @Test func keysAreMadeAsTheRFCShows() {
        let base = HKDF.extract([UInt8](repeating: 0x0b, count: 22), salt: Array(0...0x0c))
        #expect(
            base
                == bytes(hex: "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"))
        #expect(
            HKDF.expand(base, info: Array(0xf0...0xf9))
                == bytes(hex: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"))
        let unsalted = HKDF.extract([UInt8](repeating: 0x0b, count: 22), salt: [])
        #expect(
            HKDF.expand(unsalted, info: [], length: 12) == bytes(hex: "8da4e775a563c18f715f802a"))
    }
}
