import Clocks
import Testing

@testable import Relay

/// Whose clock is wrong, where the clocks of a shared store say that it is this machine's.
@Suite struct ToldTimeTests {
    private static let hour = Duration.seconds(3600)
    private let machine = Sample.start

    /// What a push service said some seconds ago, with so many milliseconds more than this machine's clock.
    private func told(ahead: Int64, ago: Int64 = 5) -> ToldTime {
        ToldTime(
            unix: machine.unix + .milliseconds(ahead - 1000 * ago),
            monotonic: machine.monotonic - .seconds(ago))
    }

    @Test func nobodyElseIsAsked() {
        #expect(ToldTime.clockError(Self.hour, unlessDenied: [], on: machine) == Self.hour)
        #expect(ToldTime.clockError(Self.hour, unlessDenied: [nil, nil], on: machine) == Self.hour)
    }

    /// The database's clock went back by two hours: all nodes seem to be ahead, and Apple says that they are not.
    @Test(arguments: [0, 14_999, -14_999] as [Int64])
    func aPushServiceThatTellsOurTimeIsBelieved(ahead: Int64) {
        let told = [nil, told(ahead: -7_200_000), told(ahead: ahead, ago: 3600)]
        #expect(ToldTime.clockError(Self.hour * 2, unlessDenied: told, on: machine) == .zero)
    }

    /// This machine's clock is the wrong one.
    @Test(arguments: [15_000, -15_000, -7_200_000, 7_200_000] as [Int64])
    func aPushServiceThatTellsAnotherTimeDeniesNothing(ahead: Int64) {
        #expect(
            ToldTime.clockError(Self.hour, unlessDenied: [told(ahead: ahead)], on: machine) == Self.hour)
    }
}
