import Encodings
import Testing
import Vectors

@testable import Crypto

@Suite struct KeyTests {
    /// The key of RFC 7515, A.3, as PKCS#8.
    static let rfc7515Key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
        H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp
        7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
        -----END PRIVATE KEY-----

        """

    @Test func aTokenSignedElsewhereIsAccepted() throws {
        let key = try SigningKey(pem: Array(Self.rfc7515Key.utf8), algorithm: .es256)
        let message = Array(
            """
            eyJhbGciOiJFUzI1NiJ9.\
            eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ
            """.utf8)
        let signature = try #require(
            Base64.decodeFromURL(
                "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"))
        #expect(key.verifyingKey.accepts(signature, of: message))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.verifyingKey.accepts(changed, of: message))
        }
        #expect(!key.verifyingKey.accepts(Array(signature.dropLast()), of: message))
        #expect(!key.verifyingKey.accepts([], of: message))
    }

    /// The signature has a fixed size although its two numbers begin with zeros now and then.
    @Test func es256SignaturesAre64Bytes() throws {
        let key = try SigningKey.generate(.es256)
        for number in 0..<600 {
            let message = Array("\(number)".utf8)
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            #expect(key.verifyingKey.accepts(signature, of: message))
            #expect(!key.verifyingKey.accepts(signature, of: message + [0]))
        }
    }

    @Test func rs256SignsWhatItsKeyChecks() throws {
        let made = try SigningKey.generate(.rs256)
        let key = try SigningKey(pem: made.privatePEM().bytes, algorithm: .rs256)
        let signature = try key.sign([1, 2, 3])
        #expect(signature.count == 256)
        #expect(made.verifyingKey.accepts(signature, of: [1, 2, 3]))
        #expect(!made.verifyingKey.accepts(signature, of: [1, 2]))
        // PKCS#1 v1.5 is deterministic.
        #expect(try made.sign([1, 2, 3]) == signature)
    }

    @Test func aKeyOfAnotherKindIsRefused() throws {
        let elliptic = try SigningKey.generate(.es256).privatePEM().bytes
        let rsa = try SigningKey.generate(.rs256).privatePEM().bytes
        #expect(
            throws: CryptoError.unreadable(
                what: "RS256 key",
                reason: "an elliptic curve key on prime256v1, and an RSA key of 2048 bits or more is needed")
        ) {
            try SigningKey(pem: elliptic, algorithm: .rs256)
        }
        #expect(
            throws: CryptoError.unreadable(
                what: "ES256 key", reason: "an RSA key of 2048 bits, and one on the curve P-256 is needed")
        ) {
            try SigningKey(pem: rsa, algorithm: .es256)
        }
        for garbage in [
            [], Array("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8),
            rsa.dropLast(90),
        ] {
            #expect(throws: CryptoError.self) { try SigningKey(pem: Array(garbage), algorithm: .rs256) }
        }
    }

    @Test func aSecretDoesNotShow() throws {
        let secret = Secret(Array("swordfish".utf8))
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret) \(String(reflecting: secret)) \([secret])" == "<secret> <secret> [<secret>]")
        #expect(dumped == "- <secret>\n")
    }

    /// RFC 8032, 7.1, tests 1 to 3.
    @Test(arguments: [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"
        ),
    ])
    func ed25519PublicKeysMatchTheStandardsExamples(seed: String, publicKey: String) throws {
        #expect(try Hex.encode(Ed25519.publicKey(seed: bytes(hex: seed))) == publicKey)
        let expanded = try Ed25519.expandedKey(seed: bytes(hex: seed))
        #expect(expanded.count == 64 && expanded[0] & 7 == 0 && expanded[31] & 0xc0 == 0x40)
    }

    @Test func thePublicKeyOfAnExpandedKeyIsThatOfItsSeed() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<64 {
            let seed = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let expanded = try Ed25519.expandedKey(seed: seed)
            #expect(try Ed25519.publicKey(expanded: expanded) == Ed25519.publicKey(seed: seed), "\(seed)")
        }
    }

    @Test func anExpandedKeyHas64BytesAndAClampedScalar() throws {
        let good = try Ed25519.expandedKey(seed: [UInt8](repeating: 1, count: 32))
        #expect(throws: CryptoError.wrongLength(of: "expanded Ed25519 key", bytes: 63, allowed: "64")) {
            try Ed25519.publicKey(expanded: good.dropLast())
        }
        for (place, bit) in [(0, 1), (31, 0x80), (31, 0x40)] as [(Int, UInt8)] {
            var changed = good
            changed[place] ^= bit
            #expect(throws: CryptoError.self) { try Ed25519.publicKey(expanded: changed) }
        }
    }

    @Test func anEd25519SeedHas32Bytes() {
        #expect(throws: CryptoError.wrongLength(of: "Ed25519 seed", bytes: 31, allowed: "32")) {
            try Ed25519.publicKey(seed: [UInt8](repeating: 0, count: 31))
        }
    }
}
