import Gateways
import Testing

@testable import Node

@Suite struct SettingsAppsTests {
    @Test func bothKindsOfAppsAreRead() throws {
        let read = try settings(
            """
            apps:
              - name: one
                gateway: apns
                topic: org.example.app
                key_file: AuthKey.p8
                key_id: ABC123DEFG
                team_id: DEF123GHIJ
                production_url: https://localhost:8443/
                sandbox_url: https://[::1]:8444
                ca_file: /ca.pem
              - name: two
                gateway: apns
                topic: t
                certificate_file: push.p12
                certificate_password_file: push.pass
              - name: three
                gateway: fcm
                service_account_file: account.json
                base_url: https://127.0.0.1:1
                token_url: https://oauth2.example.org/token
                ca_file: ca.pem
                notification_block: true
            defaults: {ios: two, android: three}
            """)
        #expect(read.apps.map(\.name) == ["one", "two", "three"])
        #expect(read.apps.map(\.service.name) == ["apns", "apns", "fcm"])
        #expect(read.defaultIOS == "two")
        #expect(read.defaultAndroid == "three")
        let one = try #require(read.apps[0].settings as? APNsApp)
        let two = try #require(read.apps[1].settings as? APNsApp)
        let three = try #require(read.apps[2].settings as? FCMApp)
        #expect(one.bundleID == "org.example.app")
        #expect(one.keyFile == "/etc/onionbell/AuthKey.p8")
        #expect([one.keyID, one.teamID] == ["ABC123DEFG", "DEF123GHIJ"])
        #expect(one.productionURL == "https://localhost:8443")
        #expect(one.sandboxURL == "https://[::1]:8444")
        #expect(one.caFile == "/ca.pem")
        #expect(two.certificateFile == "/etc/onionbell/push.p12")
        #expect(two.certificatePasswordFile == "/etc/onionbell/push.pass")
        #expect(two.productionURL == "https://api.push.apple.com")
        #expect(three.serviceAccountFile == "/etc/onionbell/account.json")
        #expect(three.baseURL == "https://127.0.0.1:1")
        #expect(three.tokenURL == "https://oauth2.example.org/token")
        #expect(three.caFile == "/etc/onionbell/ca.pem")
        #expect(three.hasNotificationBlock)
    }

    @Test(arguments: [
        ("{gateway: fcm}", ["line 2: apps[0].name: each app needs a name of 1 to 64 characters"]),
        ("{name: '', gateway: fcm}", ["line 2: apps[0].name: each app needs a name of 1 to 64 characters"]),
        (
            "{name: a}",
            [
                "line 2: apps[0].gateway: each app needs a gateway: apns or fcm or relay or web_push or ntfy or mailbox"
            ]
        ),
        (
            "{name: a, gateway: APNs}",
            [
                "line 2: apps[0].gateway: \"APNs\" is not allowed; each app needs a gateway: apns or fcm or relay or web_push or ntfy or mailbox"
            ]
        ),
        (
            "{name: a, gatway: fcm}",
            [
                "line 2: apps[0].gateway: each app needs a gateway: apns or fcm or relay or web_push or ntfy or mailbox; did you mean gateway by gatway?"
            ]
        ),
        ("{name: a, gateway: apns}", ["line 2: apps[0].topic: the app's bundle id is missing"]),
        (
            "{name: a b, gateway: fcm}",
            [
                "line 2: apps[0].name: \"a b\" is not allowed; letters, digits, '.', '-' and '_', up to 255",
                "line 2: apps[0].name: each app needs a name of 1 to 64 characters",
            ]
        ),
        (
            "{name: a, gateway: apns, topic: t, key_file: k}",
            [
                "line 2: apps[0].key_id: is needed with key_file (Apple's 10 characters)",
                "line 2: apps[0].team_id: is needed with key_file (Apple's 10 characters)",
            ]
        ),
        (
            "{name: a, gateway: apns, topic: t, key_id: k}",
            ["line 2: apps[0].key_id: has no effect without key_file"]
        ),
        (
            "{name: a, gateway: apns, topic: t, key_file: k, key_id: i, team_id: t, certificate_file: c}",
            ["line 2: apps[0].certificate_file: set key_file or certificate_file, not both"]
        ),
        (
            "{name: a, gateway: apns, topic: t, certificate_password_file: c}",
            ["line 2: apps[0].certificate_password_file: has no effect without certificate_file"]
        ),
        (
            "{name: a, gateway: fcm, notification_block: yes}",
            ["line 2: apps[0].notification_block: \"yes\" is not allowed; true or false"]
        ),
    ])
    func aFaultyAppIsToldWhatItLacks(app: String, expected: [String]) {
        #expect(faults("apps:\n  - \(app)") == expected)
    }

    @Test func aNameHasOneToSixtyFourCharacters() {
        func app(_ name: String) -> String { "apps:\n  - {name: \(name), gateway: fcm}" }
        #expect(faults(app("a")) == [])
        #expect(faults(app(String(repeating: "a", count: 64))) == [])
        #expect(faults(app(String(repeating: "a", count: 65))).count == 1)
    }

    @Test func aNameStandsForOneApp() {
        let yaml = """
            apps:
              - {name: a, gateway: fcm}
              - {name: b}
              - {name: a, gateway: fcm}
            """
        #expect(
            faults(yaml) == [
                "line 3: apps[1].gateway: each app needs a gateway: apns or fcm or relay or web_push or ntfy or mailbox",
                "line 4: apps[2].name: a is used twice",
            ])
    }

    @Test(arguments: [
        ("ios: bisq", ["line 5: defaults.ios: no app has the name bisq"]),
        ("ios: appel", ["line 5: defaults.ios: no app has the name appel; did you mean apple?"]),
        ("ios: google", ["line 5: defaults.ios: google is of gateway fcm, which serves no ios phones"]),
        (
            "android: apple",
            ["line 5: defaults.android: apple is of gateway apns, which serves no android phones"]
        ),
        ("windows: apple", ["line 5: defaults.windows: unknown key; known are ios, android"]),
        ("ios: ''", []),
    ])
    func aDefaultNamesAnAppOfItsGateway(line: String, expected: [String]) {
        let yaml = """
            apps:
              - {name: apple, gateway: apns, topic: t}
              - {name: google, gateway: fcm}
            defaults:
              \(line)
            """
        #expect(faults(yaml) == expected)
    }

    @Test func eachGenerationOfPhonesHasItsApps() throws {
        let apps = """
            apps:
              - {name: apple, gateway: apns, topic: t}
              - {name: google, gateway: fcm}

            """
        let read = try settings(apps + "http: {bisq1: {ios: apple}, bisq2: {android: google}}")
        #expect([read.bisqRelay.bisq1.ios, read.bisqRelay.bisq1.android] == ["apple", ""])
        #expect([read.bisqRelay.bisq2.ios, read.bisqRelay.bisq2.android] == ["", "google"])
        #expect(
            faults(apps + "http:\n  bisq1:\n    ios: google\n  bisq2:\n    android: gogle\n    windows: x\n")
                == [
                    "line 6: http.bisq1.ios: google is of gateway fcm, which serves no ios phones",
                    "line 8: http.bisq2.android: no app has the name gogle; did you mean google?",
                    "line 9: http.bisq2.windows: unknown key; known are ios, android",
                ])
    }

    @Test func anAppThatIsFaultyItselfIsStillThereForTheDefaults() {
        #expect(
            faults("apps:\n  - {name: a, gateway: x}\ndefaults:\n  ios: a") == [
                "line 2: apps[0].gateway: \"x\" is not allowed; each app needs a gateway: apns or fcm or relay or web_push or ntfy or mailbox"
            ])
    }

    @Test(arguments: [
        "http://example.org", "ftp://localhost", "https://", "https:///", "localhost", "https://a b",
        "https://a:0",
        "https://a:65536", "'https://a:'", "https://u@a", "https://a?b", "https://a#b", "https://a/b",
        "https://a//",
        "https://unix:/x", "https://[::1", "https://::1", "\"https://a\\n\"",
    ])
    func anAddressOfAGatewayIsAnHTTPSOrigin(text: String) {
        let found = faults("apps:\n  - name: a\n    gateway: fcm\n    base_url: \(text)")
        #expect(found.count == 1 && found[0].hasSuffix("is not allowed; https://HOST[:PORT]"), "\(found)")
    }

    @Test func aTokenAddressHasAPath() {
        func app(_ url: String) -> String { "apps:\n  - name: a\n    gateway: fcm\n    token_url: \(url)" }
        for url in ["\"\"", "https://a/token", "https://a:1/b/c", "https://a"] {
            #expect(faults(app(url)) == [])
        }
        for url in ["http://a.example/token", "https:///token", "https://u@a/token"] {
            #expect(faults(app(url)).count == 1, "\(url)")
        }
    }
}
