import HTTP1
import Testing

@testable import Doors

/// Doors that ask who is meant take a host in whatever spelling browsers and people write it.
@Suite struct OneSpellingOfHostsTests {
    private static let spellings: [@Sendable (String) -> String] = [
        { $0 }, { $0.uppercased() }, { $0 + "." }, { $0.uppercased() + "." },
        { String($0.prefix(1).utf8.map { "%" + String($0, radix: 16) }.joined()) + $0.dropFirst() },
    ]

    @Test func thisMachineIsThisMachineInEachSpelling() {
        for name in ["localhost", "127.0.0.1", "[::1]"] {
            for spell in Self.spellings where !name.hasPrefix("[") || spell("x").lowercased() == "x" {
                for end in ["", ":", ":9400"] {
                    #expect(HTTPRequest.isLocal(host: spell(name) + end), "\(spell(name))\(end)")
                }
            }
        }
        for name in ["localhost.example", "0.0.0.0", "[::]", "localhost..", "xlocalhost"] {
            #expect(!HTTPRequest.isLocal(host: name), "\(name)")
        }
    }
}
