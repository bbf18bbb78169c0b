import Reactor

extension Settings {
    /// Whether ranges together have addresses of many strangers. They are judged by how much they hold: a world in halves is
    /// one, too, and so is IPv4 in the spellings of NAT64 and 6to4. What networks have for themselves is no stranger's, and the
    /// ranges that a service for websites calls from are far fewer.
    package static func isWholeWorld(_ ranges: [NetworkAddress.Range]) -> Bool {
        let strangers = ranges.filter { range in !ofOneNetwork.contains { $0.contains(range) } }
        let ofIPv4 = strangers.flatMap { range in NetworkAddress.Range.ofAllIPv4.map { range.part(of: $0) } }
        let ofIPv6 = strangers.flatMap { range in givenOut.map { range.part(of: $0) } }
        return ofIPv4.reduce(0, +) >= mostOfIPv4 || ofIPv6.reduce(0, +) >= mostOfIPv6
    }

    /// Two of the 256 first bytes.
    private static let mostOfIPv4 = 2.0 / 256
    /// A range of 12 bits, as a registry of a continent has it.
    private static let mostOfIPv6 = 1.0 / 512

    private static let ofOneNetwork = [
        "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
        "fc00::/7", "fe80::/10",
    ].compactMap { NetworkAddress.Range($0) }

    /// The IPv6 addresses that are given out to strangers.
    private static let givenOut = ["2000::/3"].compactMap { NetworkAddress.Range($0) }
}
