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
