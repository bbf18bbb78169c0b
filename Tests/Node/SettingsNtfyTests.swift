import Gateways
import Relay
import Testing

@testable import Node

/// Apps of gateway `ntfy`.
@Suite struct SettingsNtfyTests {
    private func faultsOfApp(_ line: String) -> [String] {
        faults("apps:\n  - {name: ntfy, gateway: ntfy, url: \"https://ntfy.sh\", \(line)}")
    }

    @Test func eachServerMayHaveAnApp() throws {
        let yaml = """
            apps:
              - {name: a, gateway: ntfy, url: "https://ntfy.sh"}
              - {name: b, gateway: ntfy, url: "https://ntfy.sh:8443", username: node, password_file: /p}
            """
        let settings = try settings(yaml)
        #expect(settings.apps.map(\.settings.server) == ["ntfy.sh", "ntfy.sh:8443"])
        #expect(settings.apps[1].settings.secretFiles.contains("/p"))
        #expect(settings.apps.allSatisfy { $0.targets == .phoneBook })
        let again = faults(yaml + "\n  - {name: c, gateway: ntfy, url: \"https://ntfy.sh\"}")
        #expect(again.count == 1 && again[0].contains("one app of gateway ntfy is enough for ntfy.sh"))
    }

    /// Nothing goes unencrypted because of a slip: the host is named a second time.
    @Test func aHostOfOnesOwnNetworkIsNamedTwice() throws {
        func app(_ url: String, _ plain: String?) -> String {
            let plain = plain.map { ", plain_http: \"\($0)\"" } ?? ""
            return "apps:\n  - {name: ntfy, gateway: ntfy, url: \"\(url)\"\(plain)}"
        }
        for (url, host) in [
            ("http://nas.home.arpa:8080", "nas.home.arpa"), ("http://NAS", "nas"),
            ("http://192.168.1.5", "192.168.1.5"), ("http://[fd00::5]:8080", "fd00::5"),
        ] {
            let settings = try settings(app(url, host))
            #expect(settings.apps[0].settings.doubt?.words.contains("to \(host) unencrypted") == true)
            #expect(faults(app(url, nil)).contains { $0.contains("name its host in plain_http") })
            #expect(faults(app(url, "other")).contains { $0.contains("name its host in plain_http") })
        }
        let onion = "http://bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion"
        for url in ["https://nas", onion, "http://127.0.0.1:80"] {
            let host = try #require(url.split(separator: "/").last).prefix { $0 != ":" }
            let found = faults(app(url, String(host)))
            #expect(found.contains { $0.contains("plain_http: is for a url of http://") }, "\(found)")
            #expect(try settings(app(url, nil)).apps[0].settings.doubt == nil)
        }
    }

    @Test(arguments: [
        ("username: node", "password_file: is needed: username and password_file go together"),
        ("password_file: p", "username: is needed: username and password_file go together"),
        ("username: node, password_file: p, token_file: t", "token_file: has no place beside username"),
        ("username: \"a:b\", password_file: p", "username"),
    ])
    func aLoginIsATokenOrANameWithAPassword(line: String, words: String) {
        let found = faultsOfApp(line)
        #expect(found.contains { $0.contains(words) }, "\(found)")
    }
}
