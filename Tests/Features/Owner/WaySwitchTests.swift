import Overview
import PhonePage
import Reactor
import Testing

@testable import Node
@testable import Owner

/// What switching a way on or off makes of a settings file's text.
@Suite struct WaySwitchTests {
    private static let free = [Endpoint.host("127.0.0.1", port: 8081), .host("127.0.0.1", port: 8082)]

    private func on(_ way: WaySwitch, _ text: String, at address: String = "") throws -> String {
        try way.on(text, settings(text), at: address, free: Self.free)
    }

    @Test(arguments: [
        (WaySwitch.mailbox, "", "doors:\n  mailbox:\n    listen: [onion:8030]\n", WaySwitch.Reach.onion),
        (.browsers, "", "", .nobody),
        (
            .phonePage, "https://phone.example.org",
            "doors:\n  phone_page:\n    url: https://phone.example.org/phone/\n    listen: [127.0.0.1:8081]\n",
            .machine
        ),
        (.ntfy, "https://ntfy.example.org", "", .nobody),
    ])
    func aWayIsSwitchedOnAndOffAgain(
        way: WaySwitch, address: String, doors: String, reach: WaySwitch.Reach
    ) throws {
        let before = "# mine\ntor: {mode: own}\napps:\n"
        let text = try on(way, before, at: address)
        let now = try settings(text)
        #expect(way.isOn(in: now) && way.reach(in: now) == reach, "\(text)")
        #expect(text.hasPrefix("# mine\ntor: {mode: own}\napps:\n  - {name: "), "\(text)")
        for line in doors.split(separator: "\n") { #expect(text.contains(line), "\(text)") }
        #expect(try on(way, text, at: address) == text)
        let after = try settings(try way.off(text, now))
        #expect(!way.isOn(in: after) && after.apps.isEmpty == (way != .phonePage))
        for other in WaySwitch.allCases where other != way && other.gateway != way.gateway {
            #expect(!other.isOn(in: now))
        }
    }

    @Test func aMailboxHasAPortOfItsOwn() throws {
        let text = """
            onion: {peer_port: 8030, http_ports: [8031]}
            doors: {gorush: {listen: ["onion:8032"], open: true, apps: [a]}}
            apps: [{name: a, gateway: fcm}]
            """
        #expect(try on(.mailbox, text).contains("mailbox: {listen: [onion:8033]}"))
    }

    @Test func aPageIsForTheWorldWhereThereIsACertificate() throws {
        let text = "doors:\n  https: {certificate_file: c, key_file: k}\n"
        let page = try on(.phonePage, text, at: "https://phone.example.org:8443/phone/")
        #expect(page.contains("listen: [https://0.0.0.0:8443]"))
        #expect(WaySwitch.phonePage.reach(in: try settings(page)) == .world)
        // Without one a proxy has it, at a place that nothing else of the node has.
        let proxied = try on(.phonePage, "management: {listen: \"127.0.0.1:8081\"}\n", at: "https://x/phone/")
        #expect(proxied.contains("listen: [127.0.0.1:8082]"))
        // For a try, browsers take a page of this machine.
        #expect(try on(.phonePage, "", at: "http://localhost:8090").contains("listen: [127.0.0.1:8090]"))
    }

    @Test func withTheBrowsersTheirPageGoes() throws {
        let text = try on(.phonePage, "", at: "https://phone.example.org")
        #expect(WaySwitch.browsers.isOn(in: try settings(text)))
        let after = try settings(try WaySwitch.browsers.off(text, settings(text)))
        #expect(
            after.apps.isEmpty && after.feature(PhonePageFeature.self)!.listen.isEmpty
                && after.feature(PhonePageFeature.self)!.url.isEmpty)
    }

    @Test func anAppHasANameThatNoOtherHas() throws {
        let text = "apps:\n  - {name: ntfy, gateway: fcm}\n"
        let now = try settings(try on(.ntfy, text, at: "https://n.example.org"))
        #expect(now.apps.map(\.name) == ["ntfy", "ntfy-2"])
    }

    @Test(arguments: ["", "ntfy.sh", "http://ntfy.sh", "https://x\"}, {", "https://x/y", "# no"])
    func aWrongAddressIsAFaultOfTheSettings(address: String) throws {
        for way in [WaySwitch.ntfy, .phonePage] {
            guard way == .ntfy || !["https://x/y", "http://ntfy.sh", ""].contains(address) else { continue }
            let text = try on(way, "tor: {mode: own}\n", at: address)
            #expect(!faults(text).isEmpty, "\(text)")
        }
    }

    @Test func aWayIsOnOnceItWorks() throws {
        let text = try on(.mailbox, try on(.ntfy, "", at: "https://n.example.org"))
        let now = try settings(text)
        var report = Report()
        var lane = Report.Lane(app: "ntfy", host: .production, service: "ntfy")
        report.onion.sentence = "tor bootstraps"
        #expect(WaySwitch.browsers.state(in: now, report) == .off)
        #expect(WaySwitch.mailbox.state(in: now, report) == .coming("tor bootstraps"))
        #expect(WaySwitch.ntfy.state(in: now, report) == .on)
        report.onion.state = .published
        lane.blockedReason = "HTTP401"
        lane.blockedAdvice = "a token"
        report.lanes = [lane]
        #expect(WaySwitch.mailbox.state(in: now, report) == .on)
        #expect(WaySwitch.ntfy.state(in: now, report) == .failing("HTTP401: a token"))
    }
}
