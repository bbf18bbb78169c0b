import FeatureList
import Foundation
import Reactor
import Testing

@testable import Node
@testable import Owner

/// What `console` takes.
@Suite struct SettingsConsoleTests {
    private func settings(_ yaml: String) throws -> Settings.Console {
        try Settings(yaml: yaml, file: "test.yaml", features: .built).console
    }

    @Test func itIsOffUnlessItHasAPlace() throws {
        #expect(try settings("").listen.isEmpty)
        let console = try settings(
            "console: {listen: [\"127.0.0.1:9480\"], origins: [\"https://A.example:443\"]}")
        #expect(console.listen == [.local(.host("127.0.0.1", port: 9480))])
        #expect(console.origins == ["https://a.example"])
        #expect(
            NodeConsole.origins(of: .host("127.0.0.1", port: 9480))
                == ["http://127.0.0.1:9480", "http://localhost:9480"])
        #expect(NodeConsole.origins(of: .host("::1", port: 80)) == ["http://[::1]"])
    }

    @Test(arguments: [
        "{listen: [\"0.0.0.0:9480\"]}", "{listen: [\"onion:80\"]}", "{listen: [\"192.168.1.1:9480\"]}",
        "{listen: [\"127.0.0.1:9480\", \"127.0.0.1:9480\"]}", "{listen: [\"127.0.0.1:9400\"]}",
        "{listen: [\"unix:/run/x\"]}", "{listen: 5}", "{origins: [\"https://a/b\"]}",
        "{origins: [\"a.example\"]}", "{listen: [\"onion\", \"onion\"]}",
        "{listen: [\"https://127.0.0.1:443\"], origins: [\"https://a.example\"]}",
    ])
    func whatOthersReachIsRefused(text: String) {
        #expect(throws: SettingsError.self) { try settings("console: \(text)") }
    }

    private static let https = "doors: {https: {certificate_file: a.pem, key_file: b.pem}}\n"

    @Test func itHasAnOnionAddressOrTLSIfThatIsWanted() throws {
        #expect(try settings("console: {listen: [onion]}").listen == [.onion])
        let secure =
            Self.https
            + "console: {listen: [\"https://0.0.0.0:8443\"], origins: [\"https://a.example:8443\"]}"
        #expect(try settings(secure).listen == [.https(.host("0.0.0.0", port: 8443))])
        #expect(throws: SettingsError.self) {
            try settings(Self.https + "console: {listen: [\"https://0.0.0.0:8443\"]}")
        }
    }

    private func proxied(_ text: String, origins: String = "[\"http://umbrel.local:9480\"]") throws
        -> Settings.Console.Proxied?
    {
        try settings("console: {origins: \(origins), proxied: {\(text)}}").proxied
    }

    @Test func aPlatformsLoginIsBelievedOnlyWhereItsProxyAloneComesIn() throws {
        #expect(try proxied("listen: \"unix:/run/x\", login: proxy")?.isTrusted == true)
        #expect(try proxied("listen: \"unix:/run/x\"")?.isTrusted == false)
        #expect(try proxied("listen: \"127.0.0.1:9481\"")?.isTrusted == false)
        let port = try #require(
            try proxied("listen: \"0.0.0.0:9480\", login: proxy, from: [10.21.21.9, \"fd00::9\"]"))
        #expect(port.isTrusted && port.networkFault(isOwn: true) == nil)
        #expect(port.networkFault(isOwn: false)?.key == "console.proxied.login")
        for text in [
            // What every program of the machine reaches, or the world.
            "listen: \"127.0.0.1:9480\", login: proxy, from: [127.0.0.1]",
            "listen: \"localhost:9480\", login: proxy, from: [127.0.0.1]",
            "listen: \"[::1]:9480\", login: proxy, from: [\"::1\"]",
            "listen: onion, login: proxy", "listen: \"onion:80\", login: proxy",
            "listen: \"https://0.0.0.0:443\", login: proxy, from: [10.0.0.1]",
            // Nobody says who the proxy is.
            "listen: \"0.0.0.0:9480\", login: proxy",
            "listen: \"0.0.0.0:9480\", login: proxy, from: [\"0.0.0.0/0\"]",
            "listen: \"0.0.0.0:9480\", login: proxy, from: [\"::/0\"]",
            // The world in parts.
            "listen: \"0.0.0.0:9480\", login: proxy, from: [\"0.0.0.0/1\", \"128.0.0.0/1\"]",
            "listen: \"0.0.0.0:9480\", login: proxy, from: [\"2000::/3\"]",
            "listen: \"0.0.0.0:9480\", login: proxy, from: [\"8.0.0.0/7\", \"1.0.0.0/8\"]",
            "listen: \"0.0.0.0:9480\", login: proxy, from: [\"2400::/8\", \"2600::/8\"]",
            "listen: \"0.0.0.0:9480\", login: proxy, from: [proxy]",
            "listen: \"app:9480\", login: proxy, from: [10.0.0.1]",
            // A passphrase in plain HTTP.
            "listen: \"0.0.0.0:9480\", from: [10.0.0.1]",
            "listen: \"unix:/run/x\", login: proxy, from: [10.0.0.1]", "login: proxy",
            "listen: \"unix:/run/x\", login: none",
        ] {
            #expect(throws: SettingsError.self, "\(text)") { try proxied(text) }
        }
        #expect(throws: SettingsError.self) {
            try proxied("listen: \"unix:/run/x\", login: proxy", origins: "[]")
        }
    }

    @Test func figuresWithoutATokenAreForAnAppsOwnNetwork() throws {
        func widgets(_ text: String, console: String = "listen: [\"127.0.0.1:9480\"]") throws
            -> Settings.Console.Widgets?
        {
            try settings("console: {\(console), widgets: {\(text)}}").widgets
        }
        let taken = try #require(try widgets("listen: \"10.213.94.3:9481\", from: [10.213.94.1]"))
        #expect(taken.networkFault(isOwn: true) == nil)
        #expect(taken.networkFault(isOwn: false)?.key == "console.widgets.listen")
        for text in [
            "listen: \"127.0.0.1:9481\", from: [127.0.0.1]", "listen: \"unix:/run/x\", from: [10.0.0.1]",
            "listen: \"app:9481\", from: [10.0.0.1]", "listen: \"10.0.0.3:9481\"", "from: [10.0.0.1]",
            "listen: \"10.0.0.3:9481\", from: [\"0.0.0.0/0\"]",
            "listen: \"10.0.0.3:9481\", from: [\"0.0.0.0/1\", \"128.0.0.0/1\"]",
            "listen: \"10.0.0.3:9481\", from: [\"2000::/3\"]", "listen: onion, from: [10.0.0.1]",
        ] {
            #expect(throws: SettingsError.self, "\(text)") { try widgets(text) }
        }
        #expect(throws: SettingsError.self) {
            try widgets("listen: \"10.0.0.3:9481\", from: [10.0.0.1]", console: "listen: []")
        }
    }

    /// Whoever is a trusted proxy says whose a request is: where all are, each sender is whom he likes.
    @Test(arguments: [
        (["0.0.0.0/0"], false), (["::/0"], false), (["0.0.0.0/1", "128.0.0.0/1"], false),
        (["2000::/3"], false), (["::/1"], false), (["::/80"], false), (["64:ff9b::/96"], false),
        (["2002::/16"], false), (["2400::/12", "2600::/12"], false), (["8.0.0.0/7"], false),
        ((0..<8).map { "\(8 * $0 + 1).0.0.0/8" }, false), (["10.0.0.0/7", "12.0.0.0/8"], false),
        (["127.0.0.1"], true), (["127.0.0.0/8", "::1", "fc00::/7", "fe80::/10"], true),
        (["10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16"], true),
        // The ranges from which Cloudflare calls.
        (
            [
                "173.245.48.0/20", "103.21.244.0/22", "141.101.64.0/18", "108.162.192.0/18", "162.158.0.0/15",
                "104.16.0.0/13", "104.24.0.0/14", "172.64.0.0/13", "131.0.72.0/22", "2400:cb00::/32",
                "2606:4700::/32", "2803:f800::/32", "2405:b500::/32", "2405:8100::/32", "2a06:98c0::/29",
                "2c0f:f248::/32",
            ], true
        ),
    ])
    func trustedProxiesAreNotTheWholeWorld(ranges: [String], isTaken: Bool) {
        let list = ranges.map { "\"\($0)\"" }.joined(separator: ", ")
        let text = "http: {client_address_header: x-forwarded-for, trusted_proxies: [\(list)]}\n"
        var keys: [String] = []
        do { _ = try Settings(yaml: text, file: "f", features: .built) } catch {
            keys = error.faults.map(\.key)
        }
        #expect(keys == (isTaken ? [] : ["http.trusted_proxies"]), "\(ranges)")
    }

    /// Settings of the machine's network are not shown in any other one.
    @Test func aNetworkOfOnesOwnIsKnownByWhatItLacks() throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "net-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(!NetworkOfApp.isOwn(in: directory.path))
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        #expect(!NetworkOfApp.isOwn(in: directory.path))
        try Data().write(to: directory.appending(path: "somaxconn"))
        #expect(NetworkOfApp.isOwn(in: directory.path))
        try Data().write(to: directory.appending(path: "netdev_max_backlog"))
        #expect(!NetworkOfApp.isOwn(in: directory.path))
    }
}
