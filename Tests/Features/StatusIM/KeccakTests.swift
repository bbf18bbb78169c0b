import StatusIM
import Testing
import Vectors

@Suite struct KeccakTests {
    private let hashes: StatusIMVectors.Hashes
    private let topics: [String: String]

    init() throws {
        let vectors = try StatusIMVectors.read()
        hashes = vectors.hashes
        topics = vectors.waku_for_reference
    }

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

    /// The topics of the network that Status' own servers are on are the first four bytes.
    @Test func topicsAreThoseOfIndependentCode() throws {
        let names = topics.filter { $0.key.hasSuffix("_name") }
        #expect(names.count == 4)
        for (key, name) in names {
            let topic = try #require(topics[key.dropLast(5) + "4_hex"])
            #expect(Array(Keccak.keccak256(Array(name.utf8)).prefix(4)) == bytes(hex: topic), "\(key)")
        }
    }

    @Test(arguments: [0, 1, 135, 136, 137, 272, 500])
    func partsAreHashedAsOne(cut: Int) {
        let text = (0..<500).map { UInt8(truncatingIfNeeded: $0) }
        #expect(Keccak.keccak256([Array(text[..<cut]), Array(text[cut...])]) == Keccak.keccak256(text))
    }
}
