import Testing

@testable import Relay

/// Whose clock is wrong, of the nodes of a shared store: by value.
@Suite struct SharedNodesTests {
    private static let hour: Duration = .seconds(3600)

    /// - Parameter clocks: how far each is ahead of the store's; the first one is this node's.
    private func nodes(_ clocks: [Duration], away: Set<Int> = []) -> SharedNodes {
        SharedNodes(
            clocks.enumerated().map { index, ahead in
                SharedNode(
                    number: index + 1, isHere: index == 0, shards: .none,
                    leaseAge: away.contains(index) ? .seconds(9) : .seconds(1), clockAhead: ahead)
            })
    }

    @Test func oneClockThatDiffersFromTwoIsWrong() {
        #expect(nodes([Self.hour, .zero]).clockError == Self.hour)
        #expect(nodes([.zero - Self.hour, .milliseconds(29_999)]).clockError == .zero - Self.hour)
        #expect(nodes([.seconds(30), .zero, Self.hour]).clockError == .seconds(30))
    }

    @Test func whatNobodyAgreesToIsNoError() {
        #expect(nodes([.milliseconds(29_999), .zero]).clockError == .zero)
        #expect(nodes([.zero, Self.hour]).clockError == .zero)
        // The store's own may be the wrong one.
        #expect(nodes([Self.hour, Self.hour]).clockError == .zero)
        #expect(nodes([Self.hour, Self.hour, .seconds(7200)]).clockError == .zero)
        // No two agree, or there is nobody to ask: nothing is known.
        #expect(nodes([Self.hour, .seconds(-30)]).clockError == nil)
        #expect(nodes([Self.hour]).clockError == nil)
        #expect(nodes([Self.hour, .zero], away: [1]).clockError == nil)
        #expect(SharedNodes().clockError == nil)
    }
}
