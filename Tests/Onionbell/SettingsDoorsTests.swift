import Reactor
import Testing

@testable import Onionbell

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
}
