import HTTP1
import Reactor
import Testing

@testable import Doors

/// Whose a request is, in the forms and orders that proxies write.
@Suite struct ForwardedClientTests {
    private static let proxy = "10.0.0.1"

    private func client(_ name: String, _ values: [String]) throws -> ForwardedClient {
        var fields = HTTPFields()
        fields.append("host", "example.org")
        for value in values {
            fields.append(name, value)
            fields.append("via", "1.1 proxy")
        }
        let trusted = try ["10.0.0.0/8", "fd00::/16"].map { try #require(NetworkAddress.Range($0)) }
        return ForwardedClient(in: fields, of: name, from: NetworkAddress(Self.proxy)) {
            address in trusted.contains { $0.contains(address) }
        }
    }

    private func check(_ name: String, _ values: [String], _ address: String?, of proxy: String) throws {
        let found = try client(name, values)
        if let address {
            #expect(found == NetworkAddress(address).map { .address($0) }, "\(values)")
        } else {
            #expect(found == .unknown(of: NetworkAddress(proxy)), "\(values)")
        }
    }

    @Test(arguments: [
        // nginx, HAProxy, Caddy, Apache; Azure and IIS with the port; brackets, quotes, zones.
        (["203.0.113.61"], "203.0.113.61"), (["203.0.113.61:51000"], "203.0.113.61"),
        (["2001:db8::1"], "2001:db8::1"), (["[2001:db8::1]"], "2001:db8::1"),
        (["[2001:db8::1]:51000"], "2001:db8::1"), (["2001:db8:1:2:3:4:5:6:51000"], "2001:db8:1:2:3:4:5:6"),
        (["2001:db8::1:51000"], "2001:db8::1"), (["\"[2001:db8::1]:80\""], "2001:db8::1"),
        (["\"203.0.113.61\""], "203.0.113.61"), (["fe80::1%eth0"], "fe80::1"),
        (["[fe80::1%25eth0]:80"], "fe80::1"), (["::ffff:203.0.113.61"], "203.0.113.61"),
        (["::ffff:203.0.113.61:51000"], "203.0.113.61"), (["[::ffff:203.0.113.61]:1"], "203.0.113.61"),
        // The last one counts, whatever a client has written before; blanks, tabs and empty ones don't.
        (["198.51.100.7, 203.0.113.61"], "203.0.113.61"), (["a,b,,\t203.0.113.61 \t"], "203.0.113.61"),
        (["198.51.100.7,203.0.113.61:443,"], "203.0.113.61"), (["\"x, 203.0.113.61"], "203.0.113.61"),
        // Several lines, several proxies.
        (["198.51.100.7", "203.0.113.61"], "203.0.113.61"), (["203.0.113.61", ""], "203.0.113.61"),
        (["198.51.100.7, 203.0.113.61, 10.1.2.3"], "203.0.113.61"),
        (["198.51.100.7, 203.0.113.61:9", "10.1.2.3:8 , [fd00::5]:7"], "203.0.113.61"),
        (["10.1.2.3, 10.4.5.6"], "10.1.2.3"),
    ])
    func theLastAddressThatIsNoProxysIsTheClients(values: [String], client: String) throws {
        try check("x-forwarded-for", values, client, of: Self.proxy)
        try check("x-real-ip", values, client, of: Self.proxy)
    }

    @Test(arguments: [
        (["for=203.0.113.61"], "203.0.113.61"), (["For=\"203.0.113.61:4711\""], "203.0.113.61"),
        (["for=203.0.113.61:4711"], "203.0.113.61"), (["for=\"[2001:db8::1]\""], "2001:db8::1"),
        (["FOR=\"[2001:db8::1]:4711\";proto=https"], "2001:db8::1"), (["for=[2001:db8::1]"], "2001:db8::1"),
        (["proto=http; by=203.0.113.43 ; for = \"203.0.113.61:_gate\""], "203.0.113.61"),
        (["for=198.51.100.7, for=203.0.113.61;host=\"a,b;for=1.1.1.1\""], "203.0.113.61"),
        (["for=198.51.100.7", "for=203.0.113.61"], "203.0.113.61"),
        (["for=_hidden, for=203.0.113.61, for=\"10.1.2.3:80\",\tfor=\"[fd00::5]\""], "203.0.113.61"),
        // What a client leaves open swallows nothing of what its proxy writes.
        (["for=\"x, for=203.0.113.61"], "203.0.113.61"),
        (["for=\"x\\, for=\"[2001:db8::1]\""], "2001:db8::1"),
        (["for=\"\\\"203.0.113.61\""], nil),
    ])
    func forwardedIsReadAsTheRFCHasIt(values: [String], client: String?) throws {
        try check("forwarded", values, client, of: Self.proxy)
    }

    @Test(arguments: [
        ([], proxy), ([""], proxy), ([" , "], proxy), (["unknown"], proxy), (["_hidden"], proxy),
        (["-"], proxy),
        (["203.0.113.61, unknown"], proxy), (["203.0.113.61", "unknown"], proxy), (["203.0.113.256"], proxy),
        (["203.0.113.61:"], proxy), (["203.0.113.61:123456"], proxy), (["203.0.113.61:80x"], proxy),
        (["[2001:db8::1"], proxy), (["[2001:db8::1]x"], proxy), (["[]"], proxy), (["\""], proxy),
        (["localhost"], proxy), ([String(repeating: "1", count: 16_000)], proxy),
        (["unknown, 10.1.2.3"], "10.1.2.3"), (["203.0.113.61, unknown, 10.1.2.3:80"], "10.1.2.3"),
    ])
    func whatCannotBeReadIsTheLastProxys(values: [String], proxy: String) throws {
        try check("x-forwarded-for", values, nil, of: proxy)
        try check("forwarded", values.map { $0.isEmpty ? "" : "for=\($0)" }, nil, of: Self.proxy)
    }

    /// A head full of trusted addresses or of quotes is left alone soon.
    @Test func aLongChainEndsSomewhere() throws {
        let long = Array(repeating: "10.0.0.2", count: 1500).joined(separator: ",")
        try check("x-forwarded-for", [long], nil, of: "10.0.0.2")
        try check("forwarded", [String(repeating: "\\\"", count: 8000)], nil, of: Self.proxy)
    }
}
