/// The two hashes of Status that are built on Keccak-f[1600]. Both take 136 bytes at a time.
///
/// OpenSSL has SHAKE-256, and Keccak-256 (the padding of before FIPS 202) only from 3.2 on; Debian 12 has 3.0.
package enum Keccak {
    /// Returns the Keccak-256 hash with the original padding, 32 bytes: not SHA3-256.
    package static func keccak256(_ bytes: [UInt8]) -> [UInt8] {
        var sponge = Sponge(padding: 0x01)
        sponge.absorb(bytes)
        return sponge.squeeze(32)
    }

    /// Returns the digest of several byte strings, one behind the other.
    package static func keccak256(_ parts: [[UInt8]]) -> [UInt8] {
        var sponge = Sponge(padding: 0x01)
        for part in parts { sponge.absorb(part) }
        return sponge.squeeze(32)
    }

    /// Returns the SHAKE-256 hash (FIPS 202) with the 64 bytes of output that Status takes.
    package static func shake256(_ bytes: [UInt8]) -> [UInt8] {
        var sponge = Sponge(padding: 0x1f)
        sponge.absorb(bytes)
        return sponge.squeeze(64)
    }
}

/// FIPS 202, section 4, for a rate of 136 bytes and no more output than that.
private struct Sponge {
    private static let rate = 136
    private let padding: UInt8
    private var lanes = InlineArray<25, UInt64>(repeating: 0)
    private var position = 0

    init(padding: UInt8) { self.padding = padding }

    mutating func absorb(_ bytes: [UInt8]) {
        let bytes = bytes.span
        var index = 0
        while index < bytes.count {
            if position % 8 == 0, bytes.count - index >= 8 {
                var word: UInt64 = 0
                for offset in 0..<8 { word |= UInt64(bytes[index + offset]) << UInt64(8 * offset) }
                lanes[position / 8] ^= word
                position += 8
                index += 8
            } else {
                mix(bytes[index])
                index += 1
            }
            if position == Sponge.rate {
                permute()
                position = 0
            }
        }
    }

    mutating func squeeze(_ count: Int) -> [UInt8] {
        mix(padding)
        lanes[Sponge.rate / 8 - 1] ^= 0x80 << 56
        permute()
        return (0..<count).map { UInt8(truncatingIfNeeded: lanes[$0 / 8] >> UInt64(8 * ($0 % 8))) }
    }

    private mutating func mix(_ byte: UInt8) {
        lanes[position / 8] ^= UInt64(byte) << UInt64(8 * (position % 8))
        position += 1
    }

    /// Permutes the state by Keccak-f[1600]: 24 rounds of theta,
    /// rho with pi, chi and iota (FIPS 202, section 3.2).
    private mutating func permute() {
        var columns = InlineArray<5, UInt64>(repeating: 0)
        for round in 0..<24 {
            for x in 0..<5 {
                columns[x] = lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]
            }
            for x in 0..<5 {
                let mixed = columns[(x + 4) % 5] ^ columns[(x + 1) % 5].rotated(by: 1)
                for y in 0..<5 { lanes[x + 5 * y] ^= mixed }
            }
            var moved = lanes[1]
            for step in 0..<24 {
                let next = lanes[Sponge.targets[step]]
                lanes[Sponge.targets[step]] = moved.rotated(by: Sponge.rotations[step])
                moved = next
            }
            for y in 0..<5 {
                for x in 0..<5 { columns[x] = lanes[x + 5 * y] }
                for x in 0..<5 {
                    lanes[x + 5 * y] = columns[x] ^ (~columns[(x + 1) % 5] & columns[(x + 2) % 5])
                }
            }
            lanes[0] ^= Sponge.constants[round]
        }
    }

    /// The lanes to which pi moves the others, from lane 1 on. ``turns`` has the bits by which rho turns each.
    private static let targets: InlineArray<24, Int> = [
        10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1,
    ]
    private static let rotations: InlineArray<24, UInt64> = [
        1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
    ]
    private static let constants: InlineArray<24, UInt64> = [
        0x0000_0000_0000_0001, 0x0000_0000_0000_8082, 0x8000_0000_0000_808a, 0x8000_0000_8000_8000,
        0x0000_0000_0000_808b, 0x0000_0000_8000_0001, 0x8000_0000_8000_8081, 0x8000_0000_0000_8009,
        0x0000_0000_0000_008a, 0x0000_0000_0000_0088, 0x0000_0000_8000_8009, 0x0000_0000_8000_000a,
        0x0000_0000_8000_808b, 0x8000_0000_0000_008b, 0x8000_0000_0000_8089, 0x8000_0000_0000_8003,
        0x8000_0000_0000_8002, 0x8000_0000_0000_0080, 0x0000_0000_0000_800a, 0x8000_0000_8000_000a,
        0x8000_0000_8000_8081, 0x8000_0000_0000_8080, 0x0000_0000_8000_0001, 0x8000_0000_8000_8008,
    ]
}

extension UInt64 {
    fileprivate func rotated(by bits: UInt64) -> UInt64 { self << bits | self >> (64 - bits) }
}
