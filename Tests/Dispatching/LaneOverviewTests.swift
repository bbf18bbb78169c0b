import Clocks
import Figures
import Testing

@testable import Dispatching
@testable import Relay

@Suite struct LaneOverviewTests {
    private let lane = Lane(id: LaneID(app: "ntfy", host: .production))

    private func one(_ gateway: GatewayFigures) -> LanesOfNow.One {
        LanesOfNow.One(lane, Pipeline.Queue(), LaneFigures(), gateway: gateway)
    }

    private func gateway(_ change: (inout GatewayFigures) -> Void) -> GatewayFigures {
        var figures = GatewayFigures()
        change(&figures)
        return figures
    }

    /// One that closes its connection when there is nothing to send has no trouble, however often it failed before.
    @Test func aGatewayAtRestIsAtRestInTheOverview() {
        let resting = gateway {
            $0.isResting = true
            $0.connectionFailures = 3
        }
        var overview = LaneOverview()
        // Counts of a lane that is gone.
        overview.addCounts(of: gateway { $0.connectionFailures = 1 })
        overview.add(one(resting))
        #expect(overview.gateway?.isResting == true && overview.gateway?.connectionFailures == 4)
        overview.add(one(gateway { $0.isResting = false }))
        #expect(overview.gateway?.isResting == false)
    }

    @Test func theLongestWishIsTold() {
        var overview = LaneOverview()
        for until: MonotonicTime in [7, 9, 8] {
            overview.add(
                one(
                    gateway {
                        $0.wish = GatewayFigures.Wish(reason: "\(until.nanoseconds)", until: until)
                    }))
        }
        #expect(overview.gateway?.wish?.reason == "9")
    }
}
