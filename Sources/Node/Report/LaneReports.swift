import Clocks
import Dispatching
import Encodings
import Gateways
import Overview
import Relay

/// The reports of the lanes, before they are put together: with four hundred apps that takes milliseconds, and any thread may do
/// it.
struct LaneReports: Sendable {
    let lanes: LanesOfNow
    let apps: [Settings.App]
    /// Why files of credentials that were put in the place of others are not used, by their apps.
    let faults: [ByteText: String]

    /// Returns the lanes that are configured, then those for which something is left from before. Lanes to
    /// origins are reported together, as their service shows them.
    func reports(at now: MonotonicTime) -> [Report.Lane] {
        var reports = apps.flatMap { app -> [Report.Lane] in
            let service = app.service.name
            return app.settings.hosts.map { Report.Lane(app: app.name, host: $0, service: service) }
        }
        let overview = lanes.overview
        // Each is looked for once: there may be hundreds of apps.
        let configured = Set<LaneID>(reports.map(\.laneID))
        let others = overview.filter { id, lane in
            !configured.contains(id) && (lane.queue.waiting > 0 || lane.gateway != nil)
        }
        let named = Dictionary(apps.map { (ByteText($0.name), $0) }) { first, _ in first }
        for lane in others.keys.sorted(by: { ($0.app, $0.host.name) < ($1.app, $1.host.name) }) {
            let isOrigin = lane.host != .production && lane.host != .sandbox
            let app = isOrigin ? named[ByteText(lane.app)] : nil
            reports.append(Report.Lane(app: lane.app, host: lane.host, service: app?.service.name))
        }
        for index in reports.indices {
            if !faults.isEmpty { reports[index].credentialFault = faults[ByteText(reports[index].app)] }
            guard let lane = overview[reports[index].laneID] else { continue }
            reports[index].take(lane, at: now) { reason, app in
                named[ByteText(app)].flatMap { type(of: $0.settings).advice(for: reason) }
            }
        }
        return reports
    }
}

extension Report {
    /// The certificates by which apps push.
    var certificatesOfApps: [Certificate] {
        var certificates: [Certificate] = []
        for lane in lanes where certificates.last?.app.hasSameBytes(as: lane.app) != true {
            if let end = lane.gateway?.certificateEnd { certificates.append(.init(app: lane.app, end: end)) }
        }
        return certificates
    }
}

extension Report.Lane {
    fileprivate var laneID: LaneID { LaneID(app: app, host: host) }

    /// Takes over the figures of a lane.
    ///
    /// - Parameter advice: Returns the advice of an app's service about a reason; `nil`: nothing more.
    fileprivate mutating func take(
        _ lane: LaneOverview, at now: MonotonicTime, advice: (_ reason: String, _ app: String) -> String?
    ) {
        (gateway, figures) = (lane.gateway, lane.figures)
        waiting = lane.queue.waiting
        oldestAge = lane.queue.oldestSubmittedAt.map { max(.zero, now - $0) }
        oldestDueAge = lane.queue.oldestDueSubmittedAt.map { max(.zero, now - $0) }
        blockedReason = lane.blockedReason
        blockedAdvice = fault.flatMap { advice($0, app) }
        wishAdvice = lane.gateway?.wish.flatMap { advice($0.reason, app) }
        errorAdvice = lane.gateway?.lastError.flatMap { advice($0, app) }
        isPaused = lane.isPaused
        fullAge = lane.fullAt.map { max(.zero, now - $0) }
    }
}
