import Gateways
import Testing

@testable import Node

@Suite struct SettingsRelayTests {
    private let two = """
        apps:
          - {name: one, gateway: relay, form: bisq1}
          - {name: two, gateway: relay, form: bisq2}
        """

    private func urls(_ yaml: String) throws -> [String] {
        try settings(yaml).apps.compactMap { $0.settings as? RelayApp }.flatMap(\.urls).map(\.description)
    }

    @Test func nothingButAFormIsNeeded() throws {
        let read = try settings(two)
        #expect(read.apps.allSatisfy(\.hasCredentials) && read.needsSOCKS)
        // As Bisq's source has them.
        #expect(
            try urls(two) == [
                "http://bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion/",
                "http://6be5uu6ldm3mim2xiyov2m6owzhdlicfobqho5mbpglzio6qt5etyhid.onion:8021/",
            ])
        #expect(read.bisqRelay.bisq1.ios == "one" && read.bisqRelay.bisq1.android == "one")
        #expect(read.bisqRelay.bisq2.ios == "two" && read.bisqRelay.bisq2.android == "two")
        #expect([read.bisqRelay.bisq1.standIn, read.bisqRelay.bisq2.standIn] == ["one", "two"])
        #expect(read.defaultIOS == "one" && read.defaultAndroid == "one")
    }

    @Test func theURLIsOneOrSeveral() throws {
        func app(_ url: String) -> String { "apps:\n  - {name: a, gateway: relay, form: bisq1, url: \(url)}" }
        let onion = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion"
        #expect(try urls(app("\"\"")).count == 1)
        #expect(try urls(app("http://\(onion):81/base")) == ["http://\(onion):81/base"])
        #expect(
            try urls(
                app("[\"http://\(onion.uppercased())\", https://relay.example.org, \"http://127.0.0.1:1\"]"))
                == ["http://\(onion)/", "https://relay.example.org/", "http://127.0.0.1:1/"])
        for (url, words) in [
            ("http://relay.example.org", "is plain HTTP, which is for"), ("onion", "not of the form"),
            ("{a: b}", "must be a URL or a list"), ("[[a]]", "must be a URL or a list"),
            ("http://\(onion.replacing("wid.", with: "wie."))", "is no onion address"),
            ("http://short.onion", "is no onion address"),
            ("[http://\(onion), http://\(onion)]", "is there twice"),
            (
                "[" + (1...9).map { "https://r\($0).example.org" }.joined(separator: ", ") + "]",
                "no more than 8"
            ),
        ] {
            let found = faults(app(url))
            #expect(found.count == 1 && found[0].contains("apps[0].url"), "\(url): \(found)")
            #expect(found.first?.contains(words) == true, "\(url): \(found)")
        }
        #expect(
            faults("onion: {public_address: \(onion)}\n" + app("http://\(onion):81")) == [
                "line 3: apps[0].url: \(onion) is this node's own address (onion.public_address)"
            ])
        #expect(faults("onion: {public_address: nonsense}").count == 1)
        // One letter is another: the checksum does not fit.
        let wrong = (onion.first == "a" ? "b" : "a") + onion.dropFirst()
        let watch = "watchman: [{name: a, address: \"\(wrong):9999\", ring: me}]"
        for yaml in ["onion: {public_address: \(wrong)}", watch] {
            let found = faults(yaml)
            #expect(found.count == 1 && found[0].contains("a letter is wrong or missing"), "\(found)")
        }
        #expect(try settings("onion: {public_address: \(onion)}").warnings.isEmpty)
        let plain = try settings("onion: {public_address: \(onion), guarded: false}").warnings
        #expect(plain.map(\.check) == ["onion"])
        #expect(try settings("onion: {public_address: \(onion.dropLast(6))}").onion.publicAddress == onion)
    }

    @Test func aFormIsNeeded() {
        for form in ["", ", form: bisq3", ", form: ''"] {
            #expect(
                faults("apps: [{name: a, gateway: relay\(form)}]") == [
                    "line 1: apps[0].form: an app of gateway relay needs a form: bisq1 or bisq2 or p2p"
                ])
        }
    }

    @Test func aFriendsNodeIsNamedByItsAddress() throws {
        let onion = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion"
        func app(_ rest: String) -> String { "apps:\n  - {name: a, gateway: relay, form: p2p\(rest)}" }
        #expect(try urls(app(", url: \(onion)")) == [onion])
        #expect(try urls(app(", url: [\(onion.uppercased()), \"\(onion):81\"]")) == [onion, "\(onion):81"])
        let read = try settings(app(", url: \(onion), remote_app: theirs, network: regtest"))
        #expect(read.bisqRelay.bisq1.android == "a" && read.bisqRelay.bisq2.android == "")
        #expect(read.defaultIOS == "a" && read.needsSOCKS)
        for (rest, words) in [
            ("", "form p2p needs the other node's address"),
            (", url: \"http://\(onion)\"", "ADDRESS.onion[:PORT]"),
            (", url: relay.example.org", "ADDRESS.onion[:PORT]"),
            (", url: \"\(onion):0\"", "ADDRESS.onion[:PORT]"),
            (", url: short.onion", "is no onion address"), (", url: \(onion), network: mars", "network"),
            (", url: \(onion), remote_app: a b", "remote_app"),
        ] {
            let found = faults(app(rest))
            #expect(found.count == 1 && found[0].contains(words), "\(rest): \(found)")
        }
        #expect(
            faults("onion: {public_address: \(onion)}\n" + app(", url: \(onion)")) == [
                "line 3: apps[0].url: \(onion) is this node's own address (onion.public_address)"
            ])
        #expect(
            faults("apps: [{name: a, gateway: relay, form: bisq1, remote_app: x}]") == [
                "line 1: apps[0].form: remote_app and network are for form p2p"
            ])
    }

    /// It serves where nobody else can, and stands behind the others.
    @Test func appsWithCredentialsComeFirst() throws {
        let read = try settings(
            """
            apps:
              - {name: ours, gateway: fcm, service_account_file: account.json}
              - {name: off, gateway: apns, topic: org.example.app}
              - {name: one, gateway: relay, form: bisq1}
            defaults: {ios: off, android: ours}
            http: {bisq2: {android: ours}}
            """)
        #expect(read.bisqRelay.bisq1.android == "" && read.bisqRelay.bisq1.ios == "one")
        #expect(read.bisqRelay.bisq1.standIn == "one" && read.bisqRelay.bisq2.standIn == "")
        #expect(read.bisqRelay.bisq2.android == "ours" && read.bisqRelay.bisq2.ios == "")
        #expect(read.defaultIOS == "one" && read.defaultAndroid == "ours")
    }

    @Test func aDefaultOfOneGenerationIsNotTheOthers() throws {
        let read = try settings(two + "\ndefaults: {ios: one, android: two}")
        #expect(read.bisqRelay.bisq1.android == "one" && read.bisqRelay.bisq1.ios == "")
        #expect(read.bisqRelay.bisq2.android == "" && read.bisqRelay.bisq2.ios == "two")
        // Who names one wants it.
        let named = try settings(two + "\nhttp: {bisq2: {ios: one}}")
        #expect(named.bisqRelay.bisq2.ios == "one")
    }

    @Test func withoutARelayNothingStandsIn() throws {
        let read = try settings("apps: [{name: a, gateway: fcm}]\ndefaults: {android: a}")
        #expect(read.bisqRelay.bisq1 == .init() && read.bisqRelay.bisq2 == .init())
        #expect(read.defaultIOS == "")
    }
}
