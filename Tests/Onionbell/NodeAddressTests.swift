import Testing

@testable import Onionbell

/// `--to` of `send` and `watch`.
@Suite struct NodeAddressTests {
    private let onion = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid"

    @Test func anOnionAddressIsTakenWithAndWithoutPort() throws {
        #expect(try NodeAddress("\(onion).onion", port: 80) == .onion("\(onion).onion", port: 80))
        #expect(try NodeAddress("\(onion).onion:81", port: 80) == .onion("\(onion).onion", port: 81))
        #expect(
            try NodeAddress("\(onion.uppercased()).ONION", port: 80) == .onion("\(onion).onion", port: 80))
    }

    @Test func aWrongLetterIsToldBeforeAnyCircuitIsBuilt() {
        let wrong = "3" + onion.dropFirst() + ".onion"
        #expect(throws: NodeAddressFault.noOnionAddress(wrong)) { try NodeAddress(wrong, port: 80) }
        for text in [String(onion.dropLast()) + ".onion:80", "expyuzz4wqqyqhjn.onion", "a.\(onion).onion"] {
            #expect(throws: NodeAddressFault.self) { try NodeAddress(text, port: 80) }
        }
    }

    /// Such a name would go to the resolver of the user's provider.
    @Test func anOnionAddressWithoutItsEndIsNoName() {
        #expect(throws: NodeAddressFault.withoutOnion("\(onion).onion")) {
            try NodeAddress(onion, port: 80)
        }
        #expect(throws: NodeAddressFault.withoutOnion("\(onion).onion")) {
            try NodeAddress("\(onion):80", port: 80)
        }
        #expect(throws: NodeAddressFault.name("relay.example.org")) {
            try NodeAddress("relay.example.org:80", port: 80)
        }
    }

    @Test func numericAddressesAndThisMachineAreDialledDirectly() throws {
        #expect(try NodeAddress("127.0.0.1:1", port: 80) == .direct(.host("127.0.0.1", port: 1)))
        #expect(try NodeAddress("localhost", port: 80) == .direct(.host("localhost", port: 80)))
        #expect(try NodeAddress("[::1]", port: 80) == .direct(.host("::1", port: 80)))
        #expect(throws: NodeAddressFault.notAnAddress) { try NodeAddress("unix:/run/x", port: 80) }
    }
}
