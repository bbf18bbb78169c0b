import Clocks
import Encodings

/// The origins that have taken a notification since the start. They keep a share of an app's lanes that new ones can't use.
///
/// Full, it forgets the one that has taken nothing for longest.
struct ProvenOrigins {
    /// The most that are remembered: as many as there may be lanes.
    static let most = Pipeline.mostLanes

    private var tookAt: [LaneID: MonotonicTime] = [:]

    var count: Int { tookAt.count }

    func has(_ origin: LaneID) -> Bool { tookAt[origin] != nil }

    /// Counts those of an app.
    func count(of app: String) -> Int { tookAt.keys.count { $0.app == app } }

    mutating func note(_ origin: LaneID, at time: MonotonicTime) {
        if tookAt[origin] == nil, tookAt.count >= Self.most,
            let oldest = tookAt.min(by: { $0.value < $1.value })?.key
        {
            tookAt[oldest] = nil
        }
        tookAt[origin] = time
    }
}
