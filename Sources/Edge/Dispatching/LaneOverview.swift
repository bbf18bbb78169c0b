import Clocks
import Encodings
import Figures
import Relay

/// One lane as an operator sees it, or several that are shown under one name.
package struct LaneOverview: Equatable, Sendable {
    package internal(set) var queue = Pipeline.Queue()
    package internal(set) var figures = LaneFigures()
    /// The figures of the lane's gateway; `nil`: it has none.
    package internal(set) var gateway: GatewayFigures?
    package internal(set) var blockedReason: String?
    package internal(set) var isPaused = false
    /// The time at which a notification was last turned away for want of room.
    package internal(set) var fullAt: MonotonicTime?

    package init(gateway: GatewayFigures? = nil) { self.gateway = gateway }

    init(_ lane: LanesOfNow.One) {
        (queue, figures, gateway) = (lane.queue, lane.figures, lane.gateway)
        (blockedReason, isPaused, fullAt) = (lane.blockedReason, lane.isPaused, lane.fullAt)
    }

    mutating func add(_ lane: LanesOfNow.One) {
        queue.add(lane.queue)
        figures.add(lane.figures)
        if let figures = lane.gateway {
            var sum = gateway ?? .ofNone
            sum.add(figures)
            gateway = sum
        }
        fullAt = [fullAt, lane.fullAt].compactMap(\.self).max()
        blockedReason = blockedReason ?? lane.blockedReason
        isPaused = isPaused || lane.isPaused
    }

    /// Adds what was counted of a gateway that is gone.
    mutating func addCounts(of gone: GatewayFigures) {
        var figures = gateway ?? .ofNone
        figures.addCounts(of: gone)
        gateway = figures
    }
}

/// The figures of each lane at one moment. To put it together takes longer than to take it, and any thread may do it.
package struct LanesOfNow: Sendable {
    struct One: Sendable {
        let shown: LaneID
        let queue: Pipeline.Queue
        let figures: LaneFigures
        /// The figures of the lane's gateway; `nil`: it has none.
        let gateway: GatewayFigures?
        let blockedReason: String?
        let isPaused: Bool
        let fullAt: MonotonicTime?

        init(_ lane: Lane, _ queue: Pipeline.Queue, _ figures: LaneFigures, gateway: GatewayFigures?) {
            (shown, self.queue, self.figures, self.gateway) = (lane.shown, queue, figures, gateway)
            blockedReason = lane.block?.reason
            if case .paused = lane.condition { isPaused = true } else { isPaused = false }
            fullAt = lane.fullAt
        }
    }

    let lanes: [One]
    let gone: GoneLanes

    /// The state and the counts of the lanes, by the names that they are shown under: lanes to origins that are shown alike are
    /// one.
    package var overview: [LaneID: LaneOverview] {
        var overview = [LaneID: LaneOverview](minimumCapacity: lanes.count)
        for (shown, figures) in gone.lanes {
            overview[shown, default: LaneOverview()].figures.add(figures)
        }
        for (shown, figures) in gone.gateways {
            overview[shown, default: LaneOverview()].addCounts(of: figures)
        }
        for lane in lanes {
            // Nearly all are alone under their name.
            if overview[lane.shown]?.add(lane) == nil { overview[lane.shown] = LaneOverview(lane) }
        }
        return overview
    }
}

extension GatewayFigures {
    /// The figures of no gateway: without a gateway nothing waits for a connection.
    fileprivate static var ofNone: GatewayFigures {
        var figures = GatewayFigures()
        figures.isResting = true
        return figures
    }
}
