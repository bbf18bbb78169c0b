import Encodings
import Testing

@testable import Crypto

/// Each way in which a key or certificate is spoilt or mistaken has a sentence of its own.
@Suite struct MistakenFileTests {
    private static let key = KeyTests.rfc7515Key

    private func words(_ file: some Sequence<UInt8>, _ wanted: MistakenFile.Wanted) -> String? {
        MistakenFile.words(for: Array(file), wanted: wanted)
    }

    private func reason(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "taken"
        } catch {
            return "\(error)"
        }
    }

    @Test func aSoundFileIsNoMistake() throws {
        let identity = try CertificateAuthority().client(topic: "t")
        let chain = try identity.chainPEM()
        #expect(words(Self.key.utf8, .privateKey) == nil)
        #expect(words(chain, .certificate) == nil)
        #expect(words(chain + Array(Self.key.utf8), .certificate) == nil)
        #expect(words(chain + Array(Self.key.utf8), .privateKey) == nil)
        #expect(words(try PKCS12.write(identity, password: "x", kind: .modern), .archive) == nil)
        let marked = [0xef, 0xbb, 0xbf] + Array(Self.key.utf8)
        #expect(words(marked, .privateKey) == nil)
        // Words before PEM are usual.
        #expect(words("Bag Attributes\n    friendlyName: a\n\(Self.key)".utf8, .privateKey) == nil)
    }

    @Test(arguments: [
        ("", "is empty"), (" \r\n\t", "is empty"), ("\u{feff}\n", "is empty"),
        ("<html><body>Sign in</body></html>", "web page"), ("\n <!DOCTYPE html>", "web page"),
        (#"{"type":"service_account"}"#, "JSON"),
        ("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMII=\n-----END ENCRYPTED PRIVATE KEY-----\n", "pass phrase"),
        (
            "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\nMII=\n-----END EC PRIVATE KEY-----\n",
            "pass phrase"
        ),
        (key.replacing("\n", with: "\\n"), #"has \n in place of line ends"#),
        (key.replacing("\n", with: " "), "lost its line ends"),
        (String(key.prefix(150)), "cut off"),
        (key.replacing("PRIVATE", with: "PUBLIC"), "the public key"),
        (key.replacing("PRIVATE KEY", with: "CERTIFICATE"), "certificate without its key"),
        (key.replacing("PRIVATE", with: "OPENSSH PRIVATE"), "SSH"),
        (
            key.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n"),
            "BEGIN PRIVATE KEY----- and"
        ),
    ])
    func whatIsNoPrivateKeyIsNamed(text: String, expected: String) {
        let found = reason { _ = try SigningKey(pem: Array(text.utf8), algorithm: .es256) }
        #expect(found.contains(expected), "\(found)")
        #expect(!found.contains("AwEHBG0wawIBAQ"))
    }

    @Test func whatIsNoArchiveIsNamed() throws {
        let identity = try CertificateAuthority().client(topic: "t")
        let chain = try identity.chainPEM()
        let key = try identity.keyPEM().bytes
        let archive = try PKCS12.write(identity, password: "", kind: .modern)
        let body = String(decoding: try identity.certificate.pem(), as: UTF8.self).split(separator: "\n")
        let binary = try #require(Base64.decode(body.dropFirst().dropLast().joined()))
        for (file, expected) in [
            (chain + key, "this is PEM; a .p12 is needed: openssl pkcs12 -export"),
            (key, "name it in key_file"),
            (chain, "without its key"), (binary, "(.cer)"), (Array(Base64.encode(archive).utf8), "base64 -d"),
            (Array("<html>".utf8), "web page"), ([], "is empty"),
            (Array(archive.dropLast(40)), "cut off or damaged"),
            ([UInt8](repeating: 7, count: 300), "no .p12"),
        ] as [([UInt8], String)] {
            let found = reason { _ = try PKCS12.open(Array(file), password: "") }
            #expect(found.contains(expected), "\(found)")
        }
        let locked = try PKCS12.write(identity, password: "x", kind: .modern)
        #expect(throws: CryptoError.passwordNeeded) { try PKCS12.open(locked, password: "") }
        #expect(throws: CryptoError.wrongPassword) { try PKCS12.open(locked, password: "y") }
        #expect(words(binary, .certificate)?.contains("DER") == true)
        #expect(words(key, .certificate)?.contains("its certificate is needed") == true)
        #expect(words([0xff, 0xfe, 0x2d, 0], .privateKey)?.contains("UTF-16") == true)
    }
}
