import Encodings
import Testing
import Vectors

@testable import Crypto

@Suite struct WebPushEncryptionTests {
    struct Sealed: Decodable, Sendable {
        let name: String
        let p256dh: String
        let auth: String
        let salt: String
        let ephemeral_private: String
        let ephemeral_public: String
        let padding: Int
        let plaintext: String
        let body: String
        let body_size: Int
        let browser_private: String?
    }

    /// RFC 8291's own example is the first of them; each is sealed for the point in both of its forms.
    @Test func sealsAsOthersDo() throws {
        let cases = try Vectors.webPush("encryption", as: Sealed.self)
        for one in cases {
            let point = try bytes(one.p256dh)
            let plain = try bytes(one.plaintext)
            for form in [point, [2 + point[64] & 1] + point[1..<33]] {
                let body = try WebPushEncryption.seal(
                    plain, paddedTo: plain.count + one.padding, for: form, secret: bytes(one.auth),
                    with: key(one.ephemeral_private, one.ephemeral_public), salt: bytes(one.salt))
                #expect(Base64.encodeForURL(body) == one.body, "\(one.name)")
                #expect(body.count == one.body_size, "\(one.name)")
            }
            guard let browser = one.browser_private else { continue }
            let opened = try WebPushEncryption.open(
                bytes(one.body), with: key(browser, one.p256dh), secret: bytes(one.auth))
            #expect(opened == plain, "\(one.name)")
        }
    }

    @Test func aMessageThatServicesMayRefuseIsNotSealed() throws {
        struct Refused: Decodable { let plaintext_size: Int }
        let key = try P256Key.generate()
        func seal(_ count: Int, paddedTo length: Int = 0) throws(CryptoError) -> [UInt8] {
            try WebPushEncryption.seal(
                [UInt8](repeating: 32, count: count), paddedTo: length, for: key.publicPoint,
                secret: [UInt8](repeating: 1, count: 16))
        }
        for one in try Vectors.webPush("encryption-refused", as: Refused.self) {
            #expect(throws: CryptoError.self) { try seal(one.plaintext_size) }
        }
        #expect(try seal(3993).count == 4096)
        #expect(throws: CryptoError.self) { try seal(10, paddedTo: 3994) }
    }

    @Test func whatWasChangedOrIsForOthersIsNotOpened() throws {
        struct Refused: Decodable {
            let name: String
            let browser_private: String
            let auth: String
            let body: String
        }
        for one in try Vectors.webPush("opening-refused", as: Refused.self) {
            let number = try bytes(one.browser_private)
            #expect(throws: CryptoError.self, "\(one.name)") {
                try WebPushEncryption.open(
                    bytes(one.body), with: P256Key(pem: pkcs8(number, nil)), secret: bytes(one.auth))
            }
        }
    }

    /// Two messages of one text share nothing, and both are opened.
    @Test func eachMessageHasItsOwnKeyAndSalt() throws {
        let key = try P256Key.generate()
        let secret = randomBytes(16)
        let plain = Array("BisqMessageAndroid|1|2".utf8)
        let bodies = try (0..<2).map { _ in
            try WebPushEncryption.seal(plain, paddedTo: 1024, for: key.publicPoint, secret: secret)
        }
        #expect(bodies[0].count == 1024 + WebPushEncryption.overhead && bodies[0].count == bodies[1].count)
        #expect(bodies[0][..<16] != bodies[1][..<16] && bodies[0][21..<86] != bodies[1][21..<86])
        for body in bodies {
            #expect(try WebPushEncryption.open(body, with: key, secret: secret) == plain)
        }
    }

    /// The forms that OpenSSL knows and Web Push does not.
    @Test func onlyTwoFormsOfAPointAreTaken() throws {
        let point = try P256Key.generate().publicPoint
        let short = [2 + point[64] & 1] + point[1..<33]
        #expect(P256.uncompressed(point) == point && P256.uncompressed(short) == point)
        #expect(P256.uncompressed([0]) == nil)
        #expect(P256.uncompressed([6 + point[64] & 1] + point[1...]) == nil)
        #expect(P256.uncompressed([5 - short[0]] + short[1...]) != point)
        #expect(P256.uncompressed([4] + short[1...]) == nil && P256.uncompressed([]) == nil)
        #expect(P256.uncompressed([2] + [UInt8](repeating: 255, count: 32)) == nil)
    }

    @Test func aPointBesideTheCurveGivesNoSecretAndNoKey() throws {
        let key = try P256Key.generate()
        var point = key.publicPoint
        point[64] ^= 1
        #expect(!P256.isPoint(point))
        #expect(throws: CryptoError.self) { try key.sharedSecret(with: point) }
        #expect(throws: CryptoError.self) { try VerifyingKey(point: point) }
        #expect(throws: CryptoError.self) { try key.sharedSecret(with: [0]) }
    }

    @Test func aVapidKeyIsTheSameInAllItsForms() throws {
        struct Form: Decodable {
            let name: String
            let pkcs8_pem: String
            let `public`: String
        }
        for one in try Vectors.webPush("vapid-key", as: Form.self) {
            let key = try SigningKey(pem: Array(one.pkcs8_pem.utf8), algorithm: .es256)
            #expect(try Base64.encodeForURL(key.publicPoint()) == one.public, "\(one.name)")
            let again = try SigningKey(pem: key.privatePEM().bytes, algorithm: .es256)
            #expect(try again.publicPoint() == key.publicPoint())
        }
    }

    // MARK: Keys of the vectors

    private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64.decodeFromURL(text)) }

    private func key(_ number: String, _ point: String) throws -> P256Key {
        let key = try P256Key(pem: pkcs8(bytes(number), bytes(point)))
        #expect(try key.publicPoint == bytes(point))
        return key
    }

    /// PKCS#8 (RFC 5958) around an elliptic curve key (RFC 5915), with or without its point.
    private func pkcs8(_ number: [UInt8], _ point: [UInt8]?) -> [UInt8] {
        let publicPart: [UInt8] = point.map { [0xa1, 0x44, 3, 0x42, 0] + $0 } ?? []
        let inner: [UInt8] = tagged(0x30, [2, 1, 1, 4, 32] + number + publicPart)
        let algorithm = Encodings.Hex.decode("301306072a8648ce3d020106082a8648ce3d030107")!
        let der = tagged(0x30, [2, 1, 0] + algorithm + tagged(4, inner))
        return Array(
            "-----BEGIN PRIVATE KEY-----\n\(Base64.encode(der))\n-----END PRIVATE KEY-----\n".utf8)
    }

    private func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length: [UInt8] =
            content.count < 128 ? [UInt8(content.count)] : [0x81, UInt8(content.count)]
        return [tag] + length + content
    }
}
