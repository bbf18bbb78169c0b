import Reactor
import Testing
import WebPushIn

@testable import Node

@Suite struct SettingsDoorsTests {
    @Test(arguments: [
        ("onion:1", DoorPlace.onion(port: 1)), ("onion:65535", .onion(port: 65535)),
        ("127.0.0.1:8080", .plain(.host("127.0.0.1", port: 8080))),
        ("[::1]:8080", .plain(.host("::1", port: 8080))), ("unix:/run/x", .plain(.unix(path: "/run/x"))),
        ("https://0.0.0.0:443", .https(.host("0.0.0.0", port: 443))),
        ("https://[::]:8443", .https(.host("::", port: 8443))),
    ])
    func aPlaceIsReadAndWrittenAlike(text: String, place: DoorPlace) {
        #expect(DoorPlace(text) == place)
        #expect(place.description == text)
    }

    @Test(arguments: [
        "", "onion:", "onion:0", "onion:65536", "onion:x", "0.0.0.0:80", "192.168.1.2:80", "https://", "8080",
        "https://unix:/x", "http://127.0.0.1:80", "https://0.0.0.0",
    ])
    func whatIsNoPlaceIsRefused(text: String) {
        #expect(DoorPlace(text) == nil)
    }

    @Test func aDoorHasItsPlacesAppsAndLimits() throws {
        let read = try settings(
            """
            apps:
              - {name: a, gateway: apns, topic: t}
              - {name: b, gateway: fcm}
            doors:
              https: {certificate_file: /c, key_file: /k}
              web_push:
                listen: [onion:80, 127.0.0.1:8080, "https://0.0.0.0:443"]
                ios: a
                android: b
                push_ios: a
                requests: 7
            """
        ).feature(WebPushFeature.self)!
        #expect(
            read.place.listen.map(\.description) == [
                "onion:80", "127.0.0.1:8080", "https://0.0.0.0:443",
            ])
        #expect(read.place.limits.requests == 7)
        #expect(read.settings.relay.ios == "a" && read.settings.relay.android == "b")
        #expect(try !settings("").feature(WebPushFeature.self)!.place.isOn)
    }

    @Test(arguments: [
        // Both ports of the onion address lead to the same doors.
        ("", 20_000 + 5000),
        // Now they don't, and there are two places more.
        ("  web_push: {listen: [onion:80, 127.0.0.1:8080, 'unix:/run/x']}", 20_000 + 4 * 5000),
        // Two doors share a place.
        (
            "  gorush: {listen: [127.0.0.1:8080], apps: [a]}\n  bitwarden: {listen: [127.0.0.1:8080], apps: [a]}",
            20_000 + 2 * 5000
        ),
        ("  status: {stream: [onion:9998], apps: [a]}", 20_000 + 5000 + 2000),
        // And those without a token, beside the readers.
        ("  mailbox: {listen: [onion:8030], readers: 700}", 20_000 + 2 * 5000 + 700 + 87),
    ])
    func eachPlaceHoldsItsConnections(doors: String, connections: Int) throws {
        let settings = try settings(
            "apps:\n  - {name: a, gateway: fcm}\n  - {name: b, gateway: mailbox}\ndoors:\n\(doors)\n")
        #expect(settings.connections == connections)
    }

    @Test func whereFilesAreFewEachDoorHasItsShare() throws {
        var settings = try settings("http: {connections: 10}")
        // Of doors that are off nobody is told.
        #expect(
            settings.lowerConnections(to: 2001) == ["peers.connections": 2000, "http.connections": 10])
        #expect(settings.peers.connections == 2000)
        #expect(settings.http.connections == 10)
        _ = settings.lowerConnections(to: 0)
        #expect(settings.peers.connections == 16)
        #expect(settings.http.connections == 10)
    }

    @Test(arguments: [
        (
            "[onion:80, onion:80]",
            """
            must be a list of onion:PORT, https://ADDRESS:PORT, or, on this machine only, ADDRESS:PORT and \
            unix:/PATH, each once: [onion:80, 127.0.0.1:8080]
            """
        ),
        ("[onion:9999]", "onion:9999 is the port of the peers (onion.peer_port)"),
        (
            "['https://0.0.0.0:443']",
            "https://0.0.0.0:443 needs doors.https.certificate_file and key_file"
        ),
    ])
    func whereADoorCannotBeServedIsAFault(listen: String, problem: String) {
        #expect(
            faults("doors:\n  web_push:\n    listen: \(listen)\n") == [
                "line 3: doors.web_push.listen: \(problem)"
            ])
    }
}
