import Status
import Testing
import Vectors

@Suite struct KeccakTests {
    private let hashes: StatusVectors.Hashes

    init() throws { hashes = try StatusVectors.read().hashes }

    /// The vectors have lengths around the 136 bytes that are taken at a time.
    @Test func hashesAreThoseOfIndependentCode() {
        for vector in hashes.keccak256 {
            #expect(Keccak.keccak256(bytes(hex: vector.hex)) == bytes(hex: vector.digest_hex))
        }
        for vector in hashes.shake256_64_bytes {
            #expect(Keccak.shake256(bytes(hex: vector.hex)) == bytes(hex: vector.digest_hex))
        }
        for vector in hashes.chat_ids {
            #expect(Keccak.shake256(Array(vector.chat_id.utf8)) == bytes(hex: vector.hash_hex))
        }
    }

    @Test(arguments: [0, 1, 135, 136, 137, 272, 500])
    func partsAreHashedAsOne(cut: Int) {
        let text = (0..<500).map { UInt8(truncatingIfNeeded: $0) }
        #expect(Keccak.keccak256([Array(text[..<cut]), Array(text[cut...])]) == Keccak.keccak256(text))
    }
}
