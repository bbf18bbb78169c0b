import Reactor

/// Which addresses are everybody's: what a stranger's endpoint may lead to.
///
/// The ranges are those of IANA's registries of special addresses. An IPv4 address inside of an IPv6 one is
/// judged as itself.
enum PublicAddress {
    static func contains(_ address: NetworkAddress) -> Bool {
        if let inner = address.innerIPv4 { return contains(inner) }
        if address.isIPv4 { return !specialIPv4.contains { $0.contains(address) } }
        return global.contains(address) && !specialIPv6.contains { $0.contains(address) }
    }

    private static let global = range("2000::/3")

    private static let specialIPv6 = [
        "2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20",
    ].map(range)

    private static let specialIPv4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
        "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    ].map(range)

    private static func range(_ text: String) -> NetworkAddress.Range {
        guard let range = NetworkAddress.Range(text) else { preconditionFailure("\(text) is no range") }
        return range
    }
}
