import Glibc

/// An IPv4 or IPv6 address without port or scope; of IPv4 the mapped form (`::ffff:192.0.2.1`).
package struct NetworkAddress: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    private init(_ bytes: UnsafeRawBufferPointer) {
        if bytes.count == 4 {
            high = 0
            low = 0xFFFF_0000_0000 | UInt64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
        } else {
            high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
            low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }

    /// Reads `192.0.2.1` or `2001:db8::1`.
    package init?(_ text: some StringProtocol) {
        guard (2...45).contains(text.utf8.count), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            return nil
        }
        let text = String(text)
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self = withUnsafeBytes(of: &v4) { NetworkAddress($0) }
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self = withUnsafeBytes(of: &v6) { NetworkAddress($0) }
        } else {
            return nil
        }
    }

    /// Reads the address of the other end of a connected socket; `nil` for a Unix one.
    init?(ofPeerAt descriptor: CInt) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let failed = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        guard failed == 0 else { return nil }
        self.init(storage)
    }

    init?(_ storage: sockaddr_storage) {
        var storage = storage
        switch CInt(storage.ss_family) {
        case AF_INET:
            var address = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in.self).sin_addr }
            self = withUnsafeBytes(of: &address) { NetworkAddress($0) }
        case AF_INET6:
            var address = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in6.self).sin6_addr }
            self = withUnsafeBytes(of: &address) { NetworkAddress($0) }
        default: return nil
        }
    }

    /// Whether the address is `127.0.0.0/8` or `::1`, which no other machine can reach.
    package var isLoopback: Bool { isIPv4 ? low >> 24 & 0xFF == 127 : high == 0 && low == 1 }

    package var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// Returns the IPv4 address whose four bytes begin at `index`, 0 to 12.
    package func embeddedIPv4(atByte index: Int) -> NetworkAddress {
        precondition((0...12).contains(index), "no four bytes at \(index)")
        let bits = UInt64(8 * index)
        // Out of the 128 bits, those behind `index` bytes.
        let front = bits < 64 ? high << bits | (bits == 0 ? 0 : low >> (64 - bits)) : low << (bits - 64)
        return NetworkAddress(high: 0, low: 0xFFFF_0000_0000 | front >> 32)
    }

    /// The IPv4 address for which an IPv6 one stands: behind NAT64's prefix (RFC 6052), or in 6to4 (RFC 3056). The mapped form
    /// is one with IPv4 already.
    package var innerIPv4: NetworkAddress? {
        if Range.nat64.contains(self) { return embeddedIPv4(atByte: 12) }
        return Range.sixToFour.contains(self) ? embeddedIPv4(atByte: 2) : nil
    }

    /// The block of addresses that one user surely has: an IPv4 address, or the /64 of an IPv6 one.
    package var block: NetworkAddress { isIPv4 ? self : NetworkAddress(high: high, low: 0) }

    /// Addresses that begin alike: `10.0.0.0/8`, `2001:db8::/32`, or one address.
    package struct Range: Equatable, Sendable {
        private let base: NetworkAddress
        private let bits: Int

        package init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard let base = NetworkAddress(parts[0]), parts.count <= 2 else { return nil }
            let most = base.isIPv4 ? 32 : 128
            guard let bits = parts.count == 2 ? Int(parts[1]) : most, (0...most).contains(bits) else {
                return nil
            }
            self.base = base
            self.bits = base.isIPv4 ? bits + 96 : bits
        }

        fileprivate static let nat64 = Range(NetworkAddress(high: 0x0064_ff9b << 32, low: 0), bits: 96)
        fileprivate static let sixToFour = Range(NetworkAddress(high: 0x2002 << 48, low: 0), bits: 16)

        private init(_ base: NetworkAddress, bits: Int) {
            self.base = base
            self.bits = bits
        }

        /// Ranges that hold each IPv4 address, in one of its spellings.
        package static let ofAllIPv4 = [
            Range(NetworkAddress(high: 0, low: 0xFFFF_0000_0000), bits: 96), nat64, sixToFour,
        ]

        package func contains(_ other: Range) -> Bool { bits <= other.bits && contains(other.base) }

        /// Returns the part of another range that is in this one, 0 to 1.
        package func part(of whole: Range) -> Double {
            if contains(whole) { return 1 }
            guard whole.contains(self) else { return 0 }
            return (whole.bits..<bits).reduce(1) { part, _ in part / 2 }
        }

        package func contains(_ address: NetworkAddress) -> Bool {
            func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : bits >= 64 ? .max : ~(.max >> UInt64(bits)) }
            return (address.high ^ base.high) & mask(bits) == 0
                && (address.low ^ base.low) & mask(bits - 64) == 0
        }
    }
}
