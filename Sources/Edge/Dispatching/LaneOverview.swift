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

    mutating func add(
        _ lane: Lane, _ queue: Pipeline.Queue, _ figures: LaneFigures, gateway: GatewayFigures?
    ) {
        self.queue.add(queue)
        self.figures.add(figures)
        if let gateway {
            var figures = self.gateway ?? .ofNone
            figures.add(gateway)
            self.gateway = figures
        }
        fullAt = [fullAt, lane.fullAt].compactMap(\.self).max()
        blockedReason = blockedReason ?? lane.block?.reason
        if case .paused = lane.condition { isPaused = true }
    }

    /// Adds what was counted of a gateway that is gone.
    mutating func addCounts(of gone: GatewayFigures) {
        var figures = gateway ?? .ofNone
        figures.addCounts(of: gone)
        gateway = figures
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
