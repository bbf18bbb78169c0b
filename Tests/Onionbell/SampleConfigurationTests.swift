import Foundation
import Gateways
import Testing

@testable import Node
@testable import Onionbell

/// What `onionbell init` makes of the sample.
@Suite struct SampleConfigurationTests {
    private let text: String

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Deploy/onionbell.yaml").standardized.path
        text = try SettingsText.read(file)
    }

    /// An upgrade that changes a comment or a default has nothing to merge into it.
    @Test(arguments: [
        [("tor.mode", "system"), ("tor.control", "unix:/run/tor/control")],
        [("apps[0].key_file", "a.p8"), ("apps[0].key_id", "ABC123DEFG"), ("apps[0].team_id", "ABC123DEFG")],
        [("apps[5].name", "browsers"), ("apps[5].gateway", "web_push"), ("defaults.ios", "")],
        [
            ("http.bisq1.ios", "bisq-remote-ios"), ("doors.gorush.rate", "7"),
            ("onion.http_ports", "[80]"),
        ],
        [("log.level", "debug"), ("log.level", "info")],
        [("state_directory", "/x"), ("storage.write_behind", "0")],
    ])
    func itsDifferencesMeanTheSame(changes: [(String, String)]) throws {
        var sample = SampleConfiguration(text)
        for (key, value) in changes { try sample.set(key, to: value) }
        let short = sample.text
        let single = changes.filter { !$0.0.hasPrefix("apps[") && !$0.1.hasPrefix("[") }
        let environment = single.map { (SettingsReader.environmentName(of: $0.0), $0.1) }
        if single.count == changes.count {
            let whole = try settings(text, environment: Dictionary(environment) { $1 })
            #expect(content(of: try settings(short)) == content(of: whole), "\(short)")
        }
        #expect(faults(short) == [])
        #expect(short.split(separator: "\n").count < 30, "\(short)")
        for (key, value) in changes where !value.isEmpty && key != "log.level" {
            #expect(short.contains(" \(value)\n"), "\(short)")
        }
    }

    /// Of an app without credentials the lines to be filled in are there.
    @Test func whatHasToBeFilledInIsLeft() {
        let short = SampleConfiguration(text).text
        for line in [
            "    #key_file: AuthKey.p8", "    #service_account_file: service-account.json",
            "    gateway: apns",
        ] {
            #expect(short.contains("\n\(line)\n"), "\(short)")
        }
        #expect(
            !short.contains("tor:") && !short.contains("relay") && !short.contains("https://"), "\(short)")
    }

    @Test func theFirstSettingOfAnAppKeepsItsDash() throws {
        var sample = SampleConfiguration(text)
        try sample.set("apps[1].name", to: "other")
        #expect(sample.text.contains("\n  - name: other\n    gateway: fcm\n"))
    }

    @Test func anAppThatIsOffIsTurnedOnAndTheOthersOff() throws {
        var sample = SampleConfiguration(text)
        var choices = ConfigurationChoices()
        choices.ringsThroughBisq = true
        for app in choices.needless { sample.turnOff(app) }
        for (key, value) in choices.settings { try sample.set(key, to: value) }
        #expect(faults(sample.text) == [])
        let made = try settings(sample.text)
        #expect(made.apps.map(\.name) == ["bisq1-relay", "bisq2-relay"])
        #expect(made.apps.allSatisfy { $0.hasCredentials && $0.targets == .any })
        #expect(made.defaultIOS == "bisq1-relay")
        #expect(made.defaultAndroid == "bisq1-relay")
        #expect(made.bisqRelay.bisq2.ios == "bisq2-relay")
        #expect(made.bisqRelay.bisq2.android == "bisq2-relay")
        let short = sample.text
        #expect(content(of: try settings(short)) == content(of: made))
        #expect(short.split(separator: "\n").count == 11, "\(short)")
        // An app that has credentials stays, and what its words say.
        choices.androidAccount = "account.json"
        #expect(choices.needless == ["apps[0]"])
        #expect(!choices.settings.contains { $0.key == "defaults.android" })
    }

    @Test(arguments: [
        "a b", "#x", "it's", "\"quoted\"", "{a}", "- x", "", "x: y", "ends:", "*a", "&a", "schön",
    ])
    func anyTextCanBeAValue(value: String) throws {
        var sample = SampleConfiguration(text)
        try sample.set("tor.torrc", to: value)
        #expect(faults(sample.text) == [])
        #expect(try settings(sample.text).tor.torrc == (value.isEmpty ? "" : "/etc/onionbell/" + value))
    }

    @Test func aListCanBeAValue() throws {
        var sample = SampleConfiguration(text)
        try sample.set("onion.http_ports", to: "[80]")
        #expect(try settings(sample.text).onion.httpPorts == [80])
    }

    @Test func anUnknownSettingIsNamedWithTheNearest() {
        var sample = SampleConfiguration(text)
        let error = #expect(throws: SampleConfiguration.UnknownKey.self) {
            try sample.set("tor.mod", to: "own")
        }
        #expect(error?.description == "there is no setting tor.mod; did you mean tor.mode?")
    }

    @Test func aCredentialIsReadWhereSystemdHasPutIt() throws {
        let yaml = """
            apps:
              - {name: a, gateway: fcm, service_account_file: credentials/account.json}
              - {name: b, gateway: fcm, service_account_file: other/account.json}
            """
        func files(_ environment: [String: String]) throws -> [String] {
            try settings(yaml, environment: environment).credentialFiles
        }
        #expect(
            try files([:]) == [
                "/etc/onionbell/credentials/account.json", "/etc/onionbell/other/account.json",
            ])
        #expect(
            try files(["CREDENTIALS_DIRECTORY": "/run/credentials/onionbell.service"]) == [
                "/run/credentials/onionbell.service/credentials_account.json",
                "/etc/onionbell/other/account.json",
            ])
    }

    @Test func applesIdentifiersAreTenCapitalLettersAndDigits() {
        #expect(AppleName.isIdentifier("ABC123DEFG"))
        for other in ["", "ABC123DEF", "ABC123DEFGH", "abc123defg", "ABC123DEF-"] {
            #expect(!AppleName.isIdentifier(other))
        }
        #expect(AppleName.keyID(inFileName: "/x/AuthKey_ABC123DEFG.p8") == "ABC123DEFG")
        #expect(AppleName.keyID(inFileName: "AuthKey_abc.p8") == nil)
        #expect(AppleName.keyID(inFileName: "key.p8") == nil)
    }
}
