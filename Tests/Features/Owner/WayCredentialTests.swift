import Crypto
import Encodings
import Testing

@testable import Node
@testable import Owner

/// Credentials of push services as their owner pastes them.
@Suite struct WayCredentialTests {
    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2
        OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r
        1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G
        -----END PRIVATE KEY-----

        """

    private func apple(
        _ file: String = WayCredentialTests.key, keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ",
        topic: String = ""
    ) throws(WayCredential.Fault) -> WayCredential {
        try WayCredential.apple(Array(file.utf8), keyID: keyID, teamID: teamID, topic: topic, in: "/s")
    }

    @Test func anAppWithoutCredentialsGetsThem() throws {
        let text = "apps:\n  - {name: mine, gateway: apns, topic: org.example}\n"
        let credential = try apple(keyID: " abc123defg\n")
        let after = try WaySwitch.apple.on(text, settings(text), by: credential)
        let now = try settings(after)
        #expect(now.apps.map(\.name) == ["mine"] && WaySwitch.apple.isOn(in: now), "\(after)")
        #expect(now.apps[0].settings.secretFiles.contains("/s/gateway-keys/AuthKey_ABC123DEFG.p8"))
        #expect(after.contains("topic: org.example"))
        // Once more changes nothing.
        #expect(try WaySwitch.apple.on(after, now, by: credential) == after)
        let off = try settings(try WaySwitch.apple.off(after, now))
        #expect(!WaySwitch.apple.isOn(in: off))
    }

    @Test func anAppIsMadeWhereThereIsNone() throws {
        for (topic, expected) in [("", "bisqremote.joachimneumann.com"), ("org.example", "org.example")] {
            let after = try WaySwitch.apple.on("", settings(""), by: try apple(topic: topic))
            #expect(try settings(after).apps.map(\.settings.topic) == [expected], "\(after)")
        }
    }

    @Test(arguments: ["", "ABC123DEF", "ABC123DEFGH", "../ABC123D", "ABC123DEF\u{1F4A3}", "ÄBC123DEFG"])
    func idsHaveApplesForm(id: String) {
        #expect(throws: WayCredential.Fault.self) { try apple(keyID: id) }
        #expect(throws: WayCredential.Fault.self) { try apple(teamID: id) }
    }

    @Test(arguments: ["", "{}", "-----BEGIN PRIVATE KEY-----", "\u{0}", "<html>"])
    func whatIsNoCredentialIsTold(file: String) {
        #expect(throws: WayCredential.Fault.self) { try apple(file) }
        #expect(throws: WayCredential.Fault.self) { try WayCredential.google(Array(file.utf8), in: "/s") }
    }

    // MARK: Certificates

    private func certificate(
        _ password: String, kind: PKCS12.Kind = .modern, topic: String = "org.example"
    ) throws -> [UInt8] {
        try PKCS12.write(try CertificateAuthority().client(topic: topic), password: password, kind: kind)
    }

    private func apple(
        certificate file: [UInt8], password: String = "", topic: String = ""
    ) throws(WayCredential.Fault) -> WayCredential {
        try WayCredential.apple(
            Array(Base64.encode(file).utf8), keyID: "", teamID: "", password: password, topic: topic, in: "/s"
        )
    }

    /// macOS Keychain still writes RC2 and 3DES.
    @Test(arguments: [PKCS12.Kind.modern, .legacy], ["", "pass word"])
    func aCertificateIsTakenWithItsPassword(kind: PKCS12.Kind, password: String) throws {
        let file = try certificate(password, kind: kind)
        let credential = try apple(certificate: file, password: password)
        #expect(credential.files[0].path.hasSuffix(".p12") && credential.files[0].content.bytes == file)
        #expect(credential.files.dropFirst().map(\.content.text) == (password.isEmpty ? [] : [password]))
        let text = "apps:\n  - {name: mine, gateway: apns, topic: org.example}\n"
        let now = try settings(try WaySwitch.apple.on(text, settings(text), by: credential))
        #expect(now.apps.map(\.name) == ["mine"] && WaySwitch.apple.isOn(in: now))
        let named = now.apps[0].settings.secretFiles
        #expect(credential.files.allSatisfy { named.contains($0.path) })
    }

    @Test func anAppThatIsMadeHasTheTopicOfTheCertificate() throws {
        let file = try certificate("")
        for (topic, expected) in [("", "org.example"), ("org.example.other", "org.example.other")] {
            let credential = try apple(certificate: file, topic: topic)
            let after = try WaySwitch.apple.on("", settings(""), by: credential)
            #expect(try settings(after).apps.map(\.settings.topic) == [expected], "\(after)")
        }
    }

    @Test func aPasswordThatIsMissingOrWrongIsTold() throws {
        let file = try certificate("pass word")
        for (password, code) in [("", "certificate_password"), ("password", "certificate_password_wrong")] {
            let fault = #expect(throws: WayCredential.Fault.self) {
                try apple(certificate: file, password: password)
            }
            #expect(fault?.code == code, "\(fault?.words ?? "")")
        }
    }

    /// A text of Base64 may have any line ends, and a file that is no `.p12` is called what it is.
    @Test func whatIsInBase64IsToldApart() throws {
        let file = try certificate("")
        var lines: [UInt8] = []
        for (index, byte) in Base64.encode(file).utf8.enumerated() {
            if index.isMultiple(of: 76) { lines += "\r\n ".utf8 }
            lines.append(byte)
        }
        let credential = try WayCredential.apple(lines, keyID: "", teamID: "", topic: "", in: "/s")
        #expect(credential.files[0].content.bytes == file)
        // A key without its first and last line.
        let key = Self.key.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n")
        var fault = #expect(throws: WayCredential.Fault.self) { try apple(key) }
        #expect(fault?.words.contains("BEGIN PRIVATE KEY----- and") == true, "\(fault?.words ?? "")")
        for (bytes, words) in [
            (Array(file.prefix(file.count / 3 * 2)), "cut off"), ([0x30, 0x82], "no .p12"),
        ] {
            fault = #expect(throws: WayCredential.Fault.self) { try apple(certificate: bytes + [0]) }
            #expect(fault?.words.contains(words) == true, "\(fault?.words ?? "")")
        }
    }
}
