import HTTP1
import Testing

@testable import Doors

/// Which hosts a request may name to count as one of this machine's, and which paths are Bisq's relay's.
@Suite struct HostAndPathTests {
    @Test(arguments: [
        "localhost", "LOCALHOST:9400", "127.0.0.1", "127.0.0.1:9400", "192.0.2.7", "127.1", "[::1]",
        "[::1]:9400",
        "[2001:db8::1]:80", "[::ffff:127.0.0.1]",
    ])
    func aNumberCantBeTurnedElsewhere(host: String) {
        #expect(HTTPRequest.isLocal(host: host))
    }

    @Test(arguments: [
        "", ":9400", ".", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
        "evil.example:127",
        // The addresses of nobody, in each way of writing them.
        "0.0.0.0", "0.0.0.0:9400", "0", "0:80", "00.0", "[::]", "[::]:9400", "[0:0::0]", "[::0.0.0.0]",
        "[::ffff:0.0.0.0]", "[::ffff:0:0]",
        // Not numbers.
        "[evil.example]", "[", "[]", "[::1", "[::1]evil.example", "[::1]]", "0x7f.1", "١٢٧.0.0.1", "½",
    ])
    func anythingElseIsNotOfThisMachine(host: String) {
        #expect(!HTTPRequest.isLocal(host: host))
    }

    @Test(arguments: ["/relay", "//relay"])
    func bisq1HasTheseTwoForms(path: String) {
        #expect(RelayRoute(path: path) == .get)
    }

    @Test func bisq2HasTheseForms() {
        #expect(RelayRoute(path: "/v1/apns") == .post(.ios, token: nil))
        #expect(RelayRoute(path: "/v1/fcm") == .post(.android, token: nil))
        #expect(RelayRoute(path: "/v1/apns/device/a") == .post(.ios, token: "a"))
        #expect(RelayRoute(path: "/v1/fcm/device/a%3Ab") == .post(.android, token: "a%3Ab"))
    }

    @Test(arguments: [
        "//relay-to/evil.example", "//relay-to", "//evil.example/relay", "//evil.example//relay", "///relay",
        "/relay/", "//relay/", "/relay//", "/relay/x", "//relay/x", "/relay-to/x", "/relayx", "/Relay",
        "/relay%2F",
        "/%72elay", "/./relay", "/x/../relay", "/;/relay", "/relay;x", "relay", "", "/", "//", "/v1/relay",
        "//v1/apns", "//v1/fcm/device/a", "/v1//fcm", "/v1/fcm/", "/v1/fcm/device", "/v1/fcm/device/",
        "/v1/fcm/devices/a", "/v2/fcm", "/V1/fcm", "/v1/wns/device/a",
    ])
    func noOtherPathIsTheRelays(path: String) {
        #expect(RelayRoute(path: path) == nil)
    }
}
