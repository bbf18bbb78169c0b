import Terminal
import Testing

@testable import Onionbell
@testable import Terminal

/// `--to` of `send` and `watch`.
@Suite struct CalledNodeTests {
    private let onion = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid"

    @Test func anOnionAddressIsTakenWithAndWithoutPort() throws {
        #expect(try CalledNode("\(onion).onion", port: 80) == .onion("\(onion).onion", port: 80))
        #expect(try CalledNode("\(onion).onion:81", port: 80) == .onion("\(onion).onion", port: 81))
        #expect(
            try CalledNode("\(onion.uppercased()).ONION", port: 80) == .onion("\(onion).onion", port: 80))
    }

    @Test func aWrongLetterIsToldBeforeAnyCircuitIsBuilt() {
        let wrong = "3" + onion.dropFirst() + ".onion"
        #expect(throws: CalledNodeFault.noOnionAddress(wrong)) { try CalledNode(wrong, port: 80) }
        for text in [String(onion.dropLast()) + ".onion:80", "expyuzz4wqqyqhjn.onion", "a.\(onion).onion"] {
            #expect(throws: CalledNodeFault.self) { try CalledNode(text, port: 80) }
        }
    }

    /// Such a name would go to the resolver of the user's provider.
    @Test func anOnionAddressWithoutItsEndIsNoName() {
        #expect(throws: CalledNodeFault.withoutOnion("\(onion).onion")) {
            try CalledNode(onion, port: 80)
        }
        #expect(throws: CalledNodeFault.withoutOnion("\(onion).onion")) {
            try CalledNode("\(onion):80", port: 80)
        }
        #expect(throws: CalledNodeFault.name("relay.example.org")) {
            try CalledNode("relay.example.org:80", port: 80)
        }
    }

    @Test func numericAddressesAndThisMachineAreDialledDirectly() throws {
        #expect(try CalledNode("127.0.0.1:1", port: 80) == .direct(.host("127.0.0.1", port: 1)))
        #expect(try CalledNode("localhost", port: 80) == .direct(.host("localhost", port: 80)))
        #expect(try CalledNode("[::1]", port: 80) == .direct(.host("::1", port: 80)))
        #expect(throws: CalledNodeFault.notAnAddress) { try CalledNode("unix:/run/x", port: 80) }
    }
}
