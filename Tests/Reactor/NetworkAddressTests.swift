import Reactor
import Testing

@Suite struct NetworkAddressTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.1", "10.0.0.1", true),
        ("10.0.0.1", "10.0.0.2", false), ("0.0.0.0/0", "192.0.2.1", true),
        ("0.0.0.0/0", "2001:db8::1", false),
        ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false),
        ("2001:db8::/33", "2001:db8:8000::", false),
        ("2001:db8::/96", "2001:db8::1:0:0", false), ("2001:db8::/96", "2001:db8::ffff:ffff", true),
        ("::1", "::1", true), ("10.0.0.0/8", "::ffff:10.1.1.1", true),
    ])
    func networksHoldTheirAddresses(network: String, address: String, isInside: Bool) throws {
        let range = try #require(NetworkAddress.Range(network))
        #expect(range.contains(try #require(NetworkAddress(address))) == isInside)
    }

    @Test(arguments: [
        "", "1", "1.2.3", "1.2.3.4.5", "::g", "fe80::1%eth0", "10.0.0.1 ", String(repeating: "1", count: 46),
        "\u{301}",
    ])
    func whatIsNoAddressIsNone(text: String) { #expect(NetworkAddress(text) == nil) }

    @Test(arguments: ["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "::/129", "::/-1", "/8"])
    func whatIsNoNetworkIsNone(text: String) { #expect(NetworkAddress.Range(text) == nil) }
}
