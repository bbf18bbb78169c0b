import Outbound
import Reactor
import Relay

/// Lanes that come and go while the node runs.
extension Dispatcher {
    /// Gives a lane its gateway, in place of the one that it had.
    ///
    /// - Returns: `false`: there are too many lanes.
    @discardableResult
    package func add(_ gateway: any Gateway, for id: LaneID) -> Bool {
        guard let lane = pipeline.add(id) else { return false }
        while gateways.count <= lane { gateways.append(nil) }
        gateways[lane] = gateway
        gateway.onCapacity = { [weak self, weak gateway] in
            guard let self, let gateway, gateways[lane] === gateway else { return }
            pump(lane, gateway)
        }
        execute()
        return true
    }

    /// Takes a lane's gateway away: it ends what it has. What waits for it is kept.
    package func remove(_ id: LaneID) {
        guard let lane = pipeline.lane(of: id), gateways.indices.contains(lane) else { return }
        gateways[lane]?.stop()
        gateways[lane] = nil
        pipeline.remove(id)
        execute()
    }

    /// The credentials of these lanes are new, or something else was mended: what was blocked is tried at once.
    package func resume(_ lanes: [LaneID]) {
        for lane in lanes { pipeline.resume(lane) }
        execute()
    }
}
