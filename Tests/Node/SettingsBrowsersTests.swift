import Gateways
import Relay
import Testing

@testable import Node

/// Apps of gateway `web_push`.
private let onion = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion"

@Suite struct SettingsBrowsersTests {
    @Test func nothingButTheGatewayIsNeeded() throws {
        let settings = try settings("state_directory: /var/lib/x\napps:\n  - {name: web, gateway: web_push}")
        let app = try #require(settings.apps[0].settings as? WebPushApp)
        #expect(app.hasCredentials && app.keyFile == "/var/lib/x/vapid-key")
        #expect(app.contact == WebPushApp.nobodysContact && app.allowedHosts == [])
        #expect(settings.credentialFiles.contains("/var/lib/x/vapid-key"))
        #expect(StateDirectory.names.contains(WebPushApp.keyName))
        #expect(app.hosts.contains(LaneHost("web.push.apple.com")))
    }

    @Test(arguments: [
        ("contact: you@example.org", "apps[0].contact"),
        ("contact: \"https://localhost/\"", "apps[0].contact"),
        ("allowed_hosts: ntfy.sh", "apps[0].allowed_hosts"),
        ("allowed_hosts: [\"https://ntfy.sh\"]", "apps[0].allowed_hosts"),
        ("allowed_hosts: [ntfy..sh]", "apps[0].allowed_hosts"),
        ("allowed_hosts: [\(onion)]", "onion addresses need gateways.proxy: tor"),
        (
            "allowed_hosts: [\(onion.dropFirst())]}\ngateways: {proxy: tor",
            "is no onion address: a letter is wrong"
        ),
        ("topic: a", "unknown key"),
    ])
    func whatPushServicesWouldRefuseIsAFault(line: String, words: String) {
        let found = faults("apps:\n  - {name: web, gateway: web_push, \(line)}")
        #expect(found.count == 1 && found[0].contains(words), "\(found)")
    }

    @Test func anOnionIsReachedByTor() {
        let yaml = """
            gateways: {proxy: tor}
            apps:
              - {name: web, gateway: web_push, allowed_hosts: ["\(onion)", "ntfy.sh", "*.example.net"]}
            """
        #expect(faults(yaml) == [])
    }

    /// Found by the address alone: neither a second one nor a default makes sense.
    @Test func thereIsOneAndItIsNobodysDefault() {
        let two = faults("apps:\n  - {name: a, gateway: web_push}\n  - {name: b, gateway: web_push}")
        #expect(two.count == 1 && two[0].contains("one app of gateway web_push is enough"))
        let named = faults("apps:\n  - {name: a, gateway: web_push}\ndefaults:\n  android: a")
        #expect(named.count == 1 && named[0].contains("which is found by the address"))
    }

    @Test func anyHostIsADoubt() throws {
        let settings = try settings("apps:\n  - {name: web, gateway: web_push, allowed_hosts: [\"*\"]}")
        #expect(settings.apps[0].settings.doubt != nil)
    }
}
