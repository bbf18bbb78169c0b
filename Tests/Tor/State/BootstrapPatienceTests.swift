import Testing

@testable import Tor

@Suite struct BootstrapPatienceTests {
    private let start = ContinuousClock.now

    private func bootstrap(_ progress: Int) -> Bootstrap {
        Bootstrap(progress: progress, tag: "conn", summary: "Connecting")
    }

    @Test func aTorThatReachesNoRelayIsGivenUpSoon() {
        var patience = BootstrapPatience(within: .seconds(90), at: start)
        #expect(!patience.isOver(at: start + .seconds(19)))
        #expect(patience.isOver(at: start + .seconds(20)))
        let isNews = patience.take(bootstrap(5), at: start + .seconds(15))
        let isNewsAgain = patience.take(bootstrap(5), at: start + .seconds(30))
        #expect(isNews && !isNewsAgain)
        #expect(!patience.isOver(at: start + .seconds(34)))
        #expect(patience.isOver(at: start + .seconds(35)))
        #expect(patience.last == bootstrap(5))
    }

    @Test func aTorThatHasReachedARelayHasAllTheTime() {
        var patience = BootstrapPatience(within: .seconds(90), at: start)
        _ = patience.take(bootstrap(10), at: start + .seconds(15))
        #expect(!patience.isOver(at: start + .seconds(89)))
        #expect(patience.isOver(at: start + .seconds(90)))
    }
}
