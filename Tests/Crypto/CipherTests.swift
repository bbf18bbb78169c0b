import Encodings
import Testing
import Vectors

@testable import Crypto

@Suite struct CipherTests {
    /// NIST SP 800-38A, F.2.5 and F.2.6.
    @Test func cbcMatchesTheStandardsExample() throws {
        let key = bytes(hex: "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
        let iv = bytes(hex: "000102030405060708090a0b0c0d0e0f")
        let plain = bytes(
            hex: """
                6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710
                """)
        let sealed = bytes(
            hex: """
                f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d\
                39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b
                """)
        #expect(try AES256CBC.encrypt(plain, key: key, iv: iv) == sealed)
        #expect(try AES256CBC.decrypt(sealed, key: key, iv: iv) == plain)
        #expect(try AES256CBC.encrypt([], key: key, iv: iv) == [])
    }

    @Test func sealedRowsAreFoundAgainAndOpenedAsWhatTheyAre() throws {
        let rows = AES256SIV(derivedFrom: Secret([UInt8](repeating: 1, count: 32)), for: "rows")
        for text in [[], [7], [UInt8](0...255)] {
            let sealed = try rows.seal(text, as: "token")
            #expect(sealed.count == text.count + AES256SIV.overhead)
            #expect(try rows.seal(text, as: "token") == sealed)
            #expect(try rows.open(sealed, as: "token") == text)
            #expect(try rows.seal(text, as: "message") != sealed)
            #expect(throws: CryptoError.notAuthentic) { try rows.open(sealed, as: "message") }
            for other in [
                AES256SIV(derivedFrom: Secret([UInt8](repeating: 2, count: 32)), for: "rows"),
                AES256SIV(derivedFrom: Secret([UInt8](repeating: 1, count: 32)), for: "others"),
            ] {
                #expect(throws: CryptoError.notAuthentic) { try other.open(sealed, as: "token") }
            }
            let owned = try rows.seal(text, as: "token", of: [1, 2])
            #expect(try rows.open(owned, as: "token", of: [1, 2]) == text)
            for owner in [[], [1], [1, 3], [1, 2, 0]] as [[UInt8]] {
                #expect(throws: CryptoError.notAuthentic) {
                    try rows.open(owned, as: "token", of: owner)
                }
            }
            // What is in the one is not in the other.
            #expect(throws: CryptoError.notAuthentic) { try rows.open(owned, as: "token\u{1}", of: [2]) }
            var changed = sealed
            changed[changed.count - 1] ^= 1
            #expect(throws: CryptoError.notAuthentic) { try rows.open(changed, as: "token") }
            #expect(throws: CryptoError.notAuthentic) {
                try rows.open(Array(sealed.dropLast()), as: "token")
            }
        }
        #expect(throws: CryptoError.notAuthentic) { try rows.open([], as: "token") }
    }

    /// As another program (Python's cryptography) seals them: rows outlive the node that wrote them.
    @Test func whatIsSealedIsAsItWasSealedBefore() throws {
        let rows = AES256SIV(derivedFrom: Secret([UInt8](repeating: 1, count: 32)), for: "rows")
        for (text, sealed) in [
            ([], "c3020362f9ba1fa654ed5804a0d219c8ad"), ([7], "e4b6d6abaab3ad3b47f5b886809ef6f11a29"),
            (
                [UInt8](0..<40),
                "74b33606ada1bdd3b5089f82d76e27d61ab2efc6d6fdb20f8350aa8944d18d7974acac935d2ce0f8457763863a2d9b164a7302fd23bad7f335"
            ),
        ] {
            // Each run leaves the key as it was.
            for _ in 0..<2 { #expect(try rows.seal(text, as: "token") == bytes(hex: sealed)) }
            #expect(try rows.open(bytes(hex: sealed), as: "token") == text)
        }
    }

    struct Entry: Decodable, Sendable {
        let name: String
        let key: String
        let iv: String
        let json: String
        let padded_utf8_bytes: Int
        let padding: String
        let ciphertext_base64: String?
    }

    /// What Bisq's desktop seals, the phones open, and the other way round.
    @Test func bisqMessagesAreSealedAndOpened() throws {
        let entries = try Vectors.bisq("encryption", as: [Entry].self)
        var opened = 0
        for entry in entries {
            guard let text = entry.ciphertext_base64 else { continue }
            let sealed = try #require(Base64.decode(text))
            let key = Array(entry.key.utf8)
            let iv = Array(entry.iv.utf8)
            let plain = try AES256CBC.decrypt(sealed, key: key, iv: iv)
            #expect(plain.count == entry.padded_utf8_bytes, "\(entry.name)")
            #expect(plain.starts(with: entry.json.utf8), "\(entry.name)")
            #expect(try AES256CBC.encrypt(plain, key: key, iv: iv) == sealed, "\(entry.name)")
            opened += 1
        }
        #expect(opened > 10)
    }

    @Test func wrongLengthsAreNamed() throws {
        let key = [UInt8](repeating: 1, count: 32)
        let iv = [UInt8](repeating: 2, count: 16)
        #expect(throws: CryptoError.wrongLength(of: "CBC text", bytes: 15, allowed: "a multiple of 16")) {
            try AES256CBC.encrypt(Array(iv.dropLast()), key: key, iv: iv)
        }
        #expect(throws: CryptoError.wrongLength(of: "AES-256 key", bytes: 16, allowed: "32")) {
            try AES256CBC.decrypt(iv, key: iv, iv: iv)
        }
        #expect(throws: CryptoError.wrongLength(of: "CBC IV", bytes: 12, allowed: "16")) {
            try AES256CBC.decrypt(iv, key: key, iv: Array(iv.prefix(12)))
        }
        #expect(throws: CryptoError.wrongLength(of: "GCM nonce", bytes: 16, allowed: "12")) {
            try AES256GCM.seal(iv, key: key, nonce: iv)
        }
        #expect(throws: CryptoError.wrongLength(of: "GCM text", bytes: 15, allowed: "16 or more")) {
            try AES256GCM.open(Array(iv.dropLast()), key: key, nonce: Array(iv.prefix(12)))
        }
    }

    /// The Galois/Counter Mode of Operation (McGrew, Viega), test cases 13, 14 and 16.
    @Test func gcmMatchesTheStandardsExamples() throws {
        let zeroKey = [UInt8](repeating: 0, count: 32)
        let zeroNonce = [UInt8](repeating: 0, count: 12)
        let empty = try AES256GCM.seal([], key: zeroKey, nonce: zeroNonce)
        #expect(Hex.encode(empty) == "530f8afbc74536b9a963b4f1c4cb738b")
        #expect(try AES256GCM.open(empty, key: zeroKey, nonce: zeroNonce) == [])
        let block = try AES256GCM.seal([UInt8](repeating: 0, count: 16), key: zeroKey, nonce: zeroNonce)
        #expect(Hex.encode(block) == "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")

        let plain = bytes(
            hex: """
                d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
                """)
        let key = bytes(hex: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
        let nonce = bytes(hex: "cafebabefacedbaddecaf888")
        let associated = bytes(hex: "feedfacedeadbeeffeedfacedeadbeefabaddad2")
        let sealed = try AES256GCM.seal(plain, key: key, nonce: nonce, associated: associated)
        #expect(
            Hex.encode(sealed) == """
                522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
                8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662\
                76fc6ece0f4e1768cddf8853bb2d551b
                """)
        #expect(try AES256GCM.open(sealed, key: key, nonce: nonce, associated: associated) == plain)
    }

    @Test func aChangedByteAnywhereIsNoticed() throws {
        let key = randomBytes(32)
        let nonce = randomBytes(12)
        let sealed = try AES256GCM.seal(randomBytes(20), key: key, nonce: nonce, associated: [1, 2, 3])
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: CryptoError.notAuthentic) {
                try AES256GCM.open(changed, key: key, nonce: nonce, associated: [1, 2, 3])
            }
        }
        #expect(throws: CryptoError.notAuthentic) {
            try AES256GCM.open(sealed, key: key, nonce: nonce, associated: [1, 2])
        }
    }
}
