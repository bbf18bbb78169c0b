import Testing

@testable import Node

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
}
