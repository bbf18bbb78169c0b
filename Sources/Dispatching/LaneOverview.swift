import Encodings
import Metrics
import Relay

/// One lane as an operator sees it, or several that are shown under one name.
package struct LaneOverview: Equatable, Sendable {
    package internal(set) var queue = Pipeline.Queue()
    package internal(set) var figures = LaneFigures()
    /// `nil`: it has none.
    package internal(set) var gateway: GatewayFigures?
    package internal(set) var blockedReason: String?
    package internal(set) var isPaused = false
    /// Monotonic nanoseconds at which one was last turned away for want of room.
    package internal(set) var fullAt: Int64?

    package init(gateway: GatewayFigures? = nil) { self.gateway = gateway }

    mutating func add(
        _ lane: Lane, _ queue: Pipeline.Queue, _ figures: LaneFigures, gateway: GatewayFigures?
    ) {
        self.queue.add(queue)
        self.figures.add(figures)
        if let gateway { addGateway { $0.add(gateway) } }
        fullAt = [fullAt, lane.fullAt].compactMap(\.self).max()
        blockedReason = blockedReason ?? lane.blockedReason
        if case .paused = lane.condition { isPaused = true }
    }

    mutating func addGateway(_ add: (inout GatewayFigures) -> Void) {
        var figures = gateway ?? GatewayFigures()
        add(&figures)
        gateway = figures
    }
}
