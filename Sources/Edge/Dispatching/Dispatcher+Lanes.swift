import Clocks
import Encodings
import Figures
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
        gateway.onWay = { [weak self, weak gateway] way, room in
            guard let self, let gateway, gateways[lane] === gateway else { return false }
            let waits = pipeline.pump(lane, way: way, room: room, at: .now)
            execute()
            return waits
        }
        gateway.onOtherWay = { [weak self, weak gateway] in
            guard let self, let gateway, gateways[lane] === gateway else { return }
            pipeline.tryAnew(lane, at: .now)
            execute()
        }
        execute()
        return true
    }

    /// The origins that have taken something, for the next process.
    package var originsToRemember: [LaneID] { pipeline.originsToRemember }

    /// Goes on with the origins that an earlier process remembered. Called before the start.
    package func goOn(withOrigins origins: [LaneID]) { pipeline.goOn(withOrigins: origins, at: .now) }

    /// Takes the phone book that the operator has changed.
    package func use(_ phoneBook: PhoneBook) {
        pipeline.use(phoneBook)
        know(phoneBook)
    }

    /// Turns a submission to the stand-in of its app when that is blocked for longer than `patience`.
    ///
    /// - Returns: Why nothing gets through, where there is no stand-in that would do.
    package func route(_ submission: inout Submission, standIn: String, patience: Duration) -> String? {
        pipeline.route(&submission, standIn: standIn, patience: patience, at: .now)
    }

    /// Returns the lane that a submission would go to; `nil`: it is refused, or goes to the phones of an alias.
    package func lane(for submission: Submission) -> LaneID? { pipeline.lane(for: submission) }

    /// Returns why a submission's lane does not deliver, as its gateway said last; `nil`: it has said nothing.
    package func lastTrouble(of submission: Submission) -> String? {
        guard let id = lane(for: submission),
            let index = lanes.firstIndex(where: { $0.id == id && !$0.stage.isGone })
        else { return nil }
        let figures = gateways.indices.contains(index) ? gateways[index]?.figures : nil
        return lanes[index].block?.reason ?? figures?.fault ?? figures?.lastError
            ?? tally.lanes[index].lastDeferral
    }

    /// Tries at once what was blocked: the credentials of these lanes are new, or something else was mended.
    package func resume(_ lanes: [LaneID]) {
        for lane in lanes { pipeline.resume(lane, at: .now) }
        execute()
    }

    /// Has a commit made that changes nothing: it shows whether the store takes anything.
    package func prove() {
        pipeline.prove(at: .now)
        execute()
    }

    /// Resumes all lanes of an app; `nil`: of all apps.
    package func resume(app: String?) {
        resume(pipeline.lanes.lazy.map(\.id).filter { app == nil || $0.app == app })
    }

    /// Refuses what waits now.
    ///
    /// - Parameters:
    ///   - app, host: `nil`: any.
    /// - Returns: How many they are, and how many could not be refused now.
    package func drop(app: String?, host: LaneHost?) -> (count: Int, underWay: Int) {
        let lanes = pipeline.lanes.filter {
            !$0.stage.isGone && (app ?? $0.id.app) == $0.id.app && (host ?? $0.id.host) == $0.id.host
        }
        let count = lanes.reduce(0) { $0 + pipeline.drop($1.id, at: .now) }
        let underWay = lanes.reduce(0) { $0 + pipeline.underWay(in: $1.id) }
        execute()
        return (count, underWay)
    }

    /// Refuses these notifications, as far as they are in memory and with no gateway.
    ///
    /// - Returns: How many they are, and how many could not be refused now.
    package func drop(_ sequences: [Int64]) -> (count: Int, underWay: Int) {
        let count = pipeline.drop(sequences, at: .now)
        let underWay = pipeline.underWay(sequences)
        execute()
        return (count, underWay)
    }

    /// Tries at once what was put off.
    ///
    /// - Parameters:
    ///   - app, host: `nil`: any.
    /// - Returns: How many they are.
    package func retryNow(app: String?, host: LaneHost?) -> Int {
        let lanes = pipeline.lanes.filter {
            !$0.stage.isGone && (app ?? $0.id.app) == $0.id.app && (host ?? $0.id.host) == $0.id.host
        }
        let count = lanes.reduce(0) { $0 + pipeline.retryNow($1.id, at: .now) }
        for lane in lanes.compactMap({ pipeline.lane(of: $0.id) }) where gateways.indices.contains(lane) {
            gateways[lane]?.retryNow()
        }
        execute()
        return count
    }

    /// Tries these notifications at once, with all others of their devices, as far as they are in memory.
    package func retryNow(_ sequences: [Int64]) -> Int {
        let count = pipeline.retryNow(sequences, at: .now)
        execute()
        return count
    }

    /// Gives what waits for an app that has no gateway to another app: all of it or nothing.
    package func move(app: String, to other: String) -> Transfer {
        let lanes = pipeline.lanes.filter { !$0.stage.isGone && $0.id.app == app }
        let answer = pipeline.move(lanes.map(\.id), toApp: other, at: .now)
        execute()
        return answer
    }

    /// Asks all who may know the time. The server of an origin is a stranger's choice, and is not asked.
    func hearTheTime() {
        hearAt = EventLoop.now + .seconds(1)
        var told = [surroundings.torTime()]
        for lane in gateways.indices where !pipeline.lanes[lane].id.host.isOrigin {
            told.append(gateways[lane]?.timeTold)
        }
        for time in told.compactMap(\.self) { pipeline.hear(time, at: .now) }
    }

    /// Opens the gateway of an origin's lane, unless the lane is gone again, and its place another one's.
    func openOrigin(_ place: Int) {
        let lane = pipeline.lanes[place]
        guard lane.id.host.isOrigin, !lane.stage.isParked, pipeline.lane(of: lane.id) == place,
            let gateway = surroundings.makeGateway(lane.id)
        else { return }
        add(gateway, for: lane.id)
        gateway.start()
    }

    /// Closes the gateway of a lane that was idle. What was counted for it stays.
    func close(_ lane: Int, shown: LaneID) {
        tally.close(lane, shown: shown)
        guard gateways.indices.contains(lane), let gateway = gateways[lane] else { return }
        gateways[lane] = nil
        stopSoon(gateway)
        tally.gone.gateways[shown, default: GatewayFigures()].addCounts(of: gateway.figures)
    }

    /// The figures of all lanes as they are now. To take them looks at everything that waits.
    package var lanesOfNow: LanesOfNow {
        let all = pipeline.lanes
        var lanes: [LanesOfNow.One] = []
        lanes.reserveCapacity(all.count)
        for (index, queue) in queues.enumerated() where !all[index].stage.isGone {
            let gateway = gateways.indices.contains(index) ? gateways[index]?.figures : nil
            lanes.append(LanesOfNow.One(all[index], queue, tally.lanes[index], gateway: gateway))
        }
        return LanesOfNow(lanes: lanes, gone: tally.gone)
    }
}
