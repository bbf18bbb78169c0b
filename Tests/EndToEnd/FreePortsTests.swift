import Processes
import Testing

/// Ports for programs that have to be told one beforehand.
@Suite struct FreePortsTests {
    /// Of three hundred random ones, two would be the same nearly always.
    @Test func noneIsGivenTwice() throws {
        var ports: Set<UInt16> = []
        for _ in 0..<60 { ports.formUnion(try freePorts(5)) }
        #expect(ports.count == 300)
    }
}
