import Encodings
import Testing

@testable import Crypto

@Suite struct CertificateTests {
    @Test(arguments: [PKCS12Fixture.oldFile, PKCS12Fixture.newFile])
    func pkcs12FilesOfBothKindsOpen(file: String) throws {
        let file = try #require(Base64.decode(file))
        let identity = try PKCS12.open(file, password: "sesame")
        #expect(identity.chain.count == 1)
        #expect(identity.certificate.userID == PKCS12Fixture.topic)
        #expect(identity.certificate.validUntil == PKCS12Fixture.validUntil)
        #expect(throws: CryptoError.wrongPassword) { try PKCS12.open(file, password: "Sesame") }
        #expect(throws: CryptoError.passwordNeeded) { try PKCS12.open(file, password: "") }
    }

    @Test func withoutTheLegacyProviderTheErrorSaysHowToConvert() throws {
        let file = try #require(Base64.decode(PKCS12Fixture.oldFile))
        #expect(throws: CryptoError.legacyPKCS12Unsupported) {
            try PKCS12.open(file, password: "sesame", in: ProviderContext(withLegacy: false))
        }
        #expect("\(CryptoError.legacyPKCS12Unsupported)".contains("openssl pkcs12 -legacy"))
    }

    @Test func brokenFilesAreRefused() throws {
        let file = try #require(Base64.decode(PKCS12Fixture.newFile))
        for length in [0, 1, 2, 10, 100, file.count - 1] {
            #expect(throws: CryptoError.self) {
                try PKCS12.open(Array(file.prefix(length)), password: "sesame")
            }
        }
        for index in stride(from: 0, to: file.count, by: 7) {
            var changed = file
            changed[index] ^= 0x21
            _ = try? PKCS12.open(changed, password: "sesame")
        }
    }

    @Test(arguments: [PKCS12.Kind.modern, .legacy], ["", "sesame", "schlüssel"])
    func whatIsWrittenIsRead(kind: PKCS12.Kind, password: String) throws {
        let authority = try CertificateAuthority()
        let identity = try authority.client(topic: "org.example.app")
        let file = try PKCS12.write(identity, password: password, kind: kind)
        let read = try PKCS12.open(file, password: password)
        #expect(read.certificate.userID == "org.example.app")
        #expect(try read.chainPEM() == identity.chainPEM())
        #expect(try read.keyPEM() == identity.keyPEM())
        #expect(throws: CryptoError.wrongPassword) { try PKCS12.open(file, password: "other") }
    }

    @Test func aKeyThatIsNotTheCertificatesIsNoticed() throws {
        let authority = try CertificateAuthority()
        let one = try authority.server(names: ["one.example"])
        let two = try authority.server(names: ["two.example"])
        #expect(
            throws: CryptoError.unreadable(
                what: "certificate", reason: "the private key is not the one of the certificate")
        ) {
            try Identity(certificatePEM: one.chainPEM(), keyPEM: two.keyPEM().bytes)
        }
        let whole = try Identity(certificatePEM: one.chainPEM(), keyPEM: one.keyPEM().bytes)
        #expect(whole.certificate.commonName == "one.example")
        #expect(whole.certificate.userID == nil)
    }

    @Test func aCertificateKnowsItsEnd() throws {
        let authority = try CertificateAuthority()
        let identity = try authority.server(names: ["localhost", "127.0.0.1", "::1"], validity: 1000...2000)
        #expect(identity.certificate.validUntil == 2000)
        #expect(try Certificate(pem: identity.certificate.pem()).validUntil == 2000)
        #expect(throws: CryptoError.self) { try Certificate(pem: Array("no certificate".utf8)) }
    }
}
