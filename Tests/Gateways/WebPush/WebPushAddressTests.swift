import Crypto
import Encodings
import Reactor
import Relay
import Testing
import Vectors

@testable import Gateways

/// What is read from a stranger's text, and whom the node calls for it.
@Suite struct WebPushAddressTests {
    struct Endpoint: Decodable, Sendable {
        let name: String
        let endpoint: String
        let valid: Bool
        let refused: String?
        let host: String?
        let known_service: Bool?
        let audience: String?
        /// The one spelling, where the endpoint has another.
        let spelled: String?
    }

    private let any = PushHosts([.any])

    /// Valid ones have one text and one origin. Of the others some are refused whatever the operator allows, and some
    /// unless he names their host.
    @Test func endpointsAreReadAsTheVectorsSay() throws {
        let known = PushHosts([])
        for one in try Vectors.webPush("endpoint", as: Endpoint.self) {
            let endpoint = PushEndpoint(one.endpoint)
            guard one.valid else {
                #expect(endpoint.map { any.allow($0) } != true, "\(one.name)")
                if one.refused == "always" { #expect(endpoint == nil, "\(one.name)") }
                continue
            }
            let read = try #require(endpoint, "\(one.name)")
            #expect(any.allow(read) && read.host == one.host, "\(one.name)")
            #expect("https://\(read.withoutScheme)" == one.spelled ?? one.endpoint)
            #expect("https://\(read.authority)" == one.audience)
            #expect(known.allow(read) == one.known_service, "\(one.name)")
        }
    }

    @Test func aHostOfOnesOwnMayBeAnything() throws {
        for text in ["127.0.0.1:8443", "[::1]:8443", "localhost", "nas.home.arpa", "push.example.com:22"] {
            let own = PushHosts([try #require(PushHosts.Pattern(text), "\(text)")])
            let endpoint = try #require(PushEndpoint("https://\(text)/x"), "\(text)")
            #expect(own.allow(endpoint) && own.name(endpoint) && !any.allow(endpoint), "\(text)")
            #expect(own.hosts.contains(text) && endpoint.authority == text)
        }
        let own = PushHosts([try #require(PushHosts.Pattern("push.example.com"))])
        let other = try #require(PushEndpoint("https://push.example.com:22/x"))
        #expect(!own.allow(other))
        for text in [
            "", "*.", "*.com:80", "a b", "https://a.example.org", "*.local", "a..b", "a:0443x",
            "[8888]", "[8888]:8443",
        ] {
            #expect(PushHosts.Pattern(text) == nil, "\(text)")
        }
    }

    /// One endpoint has one text and one lane, and the operator's word allows it however either is written.
    @Test(arguments: UInt64(1)...40)
    func whateverWayAnEndpointIsWrittenItIsOne(seed: UInt64) throws {
        var writer = SpellingWriter(random: SeededRandom(state: seed))
        let keys = "::A2sX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWAAAAAAAAAAAAAAAAAAAAAA"
        for _ in 0..<50 {
            let host = "\(writer.letters("abcxyz019", 1...8)).\(writer.letters("abcxyz", 2...8)).example.com"
            let port: UInt16? = Bool.random(using: &writer.random) ? 8443 : nil
            let path = "/" + writer.letters("abcXYZ019-_~", 1...30)
            let server = port.map { "\(host):\($0)" } ?? host
            let written = writer.written(host: host, port: port) + writer.written(path: path, repeats: 1...1)
            let endpoint = try #require(PushEndpoint("https://\(written)"), "\(written)")
            #expect(endpoint.withoutScheme == server + path)
            let named = try #require(PushHosts.Pattern(writer.written(host: host, port: port)))
            let below = try #require(PushHosts.Pattern("*.\(writer.written(host: "example.com", port: nil))"))
            #expect(PushHosts([named]).allow(endpoint) && PushHosts([named]).hosts.contains(server))
            #expect(PushHosts([below]).allow(endpoint) == (port == nil))
            let service = WebPushService(PushHosts([named]))
            let subscription = WebPushSubscription(
                endpoint: endpoint, point: [4] + [UInt8](repeating: 7, count: 64),
                auth: [UInt8](repeating: 9, count: 16))
            let text = String(try #require(subscription).text.dropLast(68)) + keys
            let other = WebPushAddressTests.compact(written) + keys
            let (one, same) = (service.target(text, on: .android), service.target(other, on: .android))
            #expect(
                one != nil && one?.deviceToken == same?.deviceToken && one?.host == same?.host, "\(other)")
        }
    }

    /// Returns the beginning of a subscription's text as a program writes it that changes nothing.
    private static func compact(_ endpoint: String) -> String {
        endpoint.utf8.reduce(into: "wp1:") { text, byte in
            let character = String(decoding: [byte], as: UTF8.self)
            let isPlain = character.allSatisfy { $0.isLetter || $0.isNumber || "._-".contains($0) }
            let digits = Array("0123456789ABCDEF")
            text += isPlain ? character : ":\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
    }

    /// Several slashes are a path of their own: what they mean is the push server's to say.
    @Test func whatAServerMaySayOfItsPathStays() throws {
        for text in [
            "https://push.example.com/a//b", "https://push.example.com/a%2Fb?c=%3D",
            "https://push.example.com/w?t=a%2fb",
        ] {
            #expect(try "https://\(#require(PushEndpoint(text)).withoutScheme)" == text)
        }
        #expect(PushEndpoint("https://push.example.com/%2e%2E/x") == nil)
    }

    @Test func knownHostsAreWholeLabels() throws {
        struct Host: Decodable {
            let host: String
            let known_service: Bool
        }
        for one in try Vectors.webPush("known-host", as: Host.self) {
            let endpoint = try #require(PushEndpoint("https://\(one.host)/x"))
            #expect(PushHosts([]).allow(endpoint) == one.known_service, "\(one.host)")
        }
    }

    /// Nobody can make up more of the lanes that stand from the start.
    @Test func onlyHostsThatAreNamedHaveALaneOfTheirOwnName() throws {
        let service = WebPushService(PushHosts([.any]))
        let keys = "::A2sX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWAAAAAAAAAAAAAAAAAAAAAA"
        let named = try #require(
            service.target("wp1:web.push.apple.com:2Fx\(keys)", on: .android))
        #expect(named.host.name == "web.push.apple.com")
        let made = try #require(service.target("wp1:a.push.apple.com:2Fx\(keys)", on: .android))
        #expect(made.host.name == "https://a.push.apple.com")
        #expect(service.target(WebPushSubscription.nobody.text, on: .android) != nil)
    }

    @Test func addressesOfOtherNetworksAreNotDialled() throws {
        struct Address: Decodable {
            let address: String
            let `public`: Bool
        }
        for one in try Vectors.webPush("address", as: Address.self) {
            let address = try #require(NetworkAddress(one.address), "\(one.address)")
            #expect(PublicAddress.contains(address) == one.public, "\(one.address)")
        }
        // The registries' other entries, at both of their ends.
        for text in [
            "0.0.0.0", "10.0.0.0", "100.64.0.0", "127.0.0.1", "169.254.169.254", "172.31.255.255",
            "192.0.2.255", "192.31.196.1", "192.52.193.255", "192.168.255.255", "192.175.48.0",
            "198.19.255.255", "203.0.113.0", "239.255.255.255", "255.255.255.255", "64:ff9b::a00:1",
            "64:ff9b:1::1", "2002:a00:1::", "2001:1ff::", "3fff:fff::1",
            "2620:4f:8000::", "2620:4f:8000:ffff::1", "fe80::1", "ff02::1", "::",
        ] {
            #expect(!PublicAddress.contains(try #require(NetworkAddress(text))), "\(text)")
        }
        for text in [
            "9.255.255.255", "100.128.0.0", "172.32.0.0", "192.0.1.0", "198.17.255.255", "223.255.255.255",
            "2001:200::", "3fff:1000::", "2620:4f:8001::", "2606:4700::",
        ] {
            #expect(PublicAddress.contains(try #require(NetworkAddress(text))), "\(text)")
        }
    }

    // MARK: The token

    struct Text: Decodable, Sendable {
        let name: String
        let endpoint: String
        let p256dh: String
        let auth: String
        let text: String
        let length: Int
    }

    @Test func aSubscriptionHasOneText() throws {
        let service = WebPushService(any)
        for one in try Vectors.webPush("text", as: Text.self) {
            let endpoint = try #require(PushEndpoint(one.endpoint))
            let point = try #require(Base64.decodeFromURL(one.p256dh))
            let secret = try #require(Base64.decodeFromURL(one.auth))
            let made = try #require(
                WebPushSubscription(endpoint: endpoint, point: point, auth: secret))
            #expect(made.text == one.text && made.text.utf8.count == one.length, "\(one.name)")
            #expect(WebPushSubscription(one.text) == made, "\(one.name)")
            #expect(P256.uncompressed(made.point) == point, "\(one.name)")
            #expect(service.target(one.text, on: .android)?.deviceToken.text == one.text)
            #expect(!"\(made)\(endpoint)".contains(one.auth))
        }
    }

    @Test func otherTextsAreNoSubscriptions() throws {
        struct Refused: Decodable {
            let name: String
            let text: String
        }
        let service = WebPushService(any)
        for one in try Vectors.webPush("text-refused", as: Refused.self) {
            #expect(service.target(one.text, on: .android) == nil, "\(one.name)")
        }
        let text = try #require(try Vectors.webPush("text", as: Text.self).first).text
        for index in 0..<text.utf8.count {
            let cut = String(text.prefix(index)) + text.dropFirst(index + 1)
            let read = WebPushSubscription(cut)
            #expect(read == nil || WebPushSubscription(read?.text ?? "") == read, "one text")
        }
        // Whatever bytes a path of the longest endpoint is made of: `https://a.io/` is 13 of 1,024.
        for byte in ["x", ":252F", ":2F", ":3D", ":2B"] {
            let bytes = byte == ":252F" ? 3 : 1
            func long(_ count: Int) -> String {
                let path =
                    String(repeating: byte, count: count / bytes)
                    + String(repeating: "x", count: count % bytes)
                return "wp1:a.io:2F" + path + text.suffix(68)
            }
            #expect(WebPushSubscription(long(1011))?.text == long(1011), "\(byte)")
            #expect(service.target(long(1011), on: .android) != nil, "\(byte)")
            #expect(WebPushSubscription(long(1012)) == nil, "\(byte)")
        }
    }

    @Test func keysAreTakenAsBrowsersGiveThem() throws {
        struct Keys: Decodable {
            let name: String
            let p256dh: String
            let auth: String
            let valid: Bool
        }
        let endpoint = try #require(PushEndpoint("https://push.example.com/x"))
        for one in try Vectors.webPush("keys", as: Keys.self) {
            let subscription = Base64.decodeFromURL(one.p256dh).flatMap { point in
                Base64.decodeFromURL(one.auth).flatMap {
                    P256.isPoint(point)
                        ? WebPushSubscription(endpoint: endpoint, point: point, auth: $0) : nil
                }
            }
            #expect((subscription != nil) == one.valid, "\(one.name)")
        }
    }

    /// The prefix tells it from a token of FCM's, whatever else the sender says.
    @Test func aPairingTokensAddressGoesToItsService() throws {
        struct Pairing: Decodable {
            let name: String
            let pairing_token: String
            let bisq_takes_it: Bool
            let web_push: Bool
            let token: String?
        }
        let web = WebPushService(any)
        let fcm = FCMService(withNotification: false)
        for one in try Vectors.webPush("pairing", as: Pairing.self) where one.bisq_takes_it {
            let token = try #require(one.pairing_token.split(separator: "|").last.map(String.init))
            #expect((web.target(token, on: .android) != nil) == one.web_push, "\(one.name)")
            #expect((fcm.target(token, on: .android) != nil) == !one.web_push, "\(one.name)")
            if let named = one.token { #expect(token == named) }
        }
    }
}
