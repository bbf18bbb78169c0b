import Clocks
import Encodings

/// The origins that have taken a notification. They keep a share of an app's lanes that new ones can't use, also over a
/// restart.
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

    /// All of them. Those that have taken nothing for longest come first.
    var inOrder: [LaneID] { tookAt.sorted { $0.value < $1.value }.map(\.key) }

    /// Makes them of those that an earlier process knew, in its order. Of too many the last are remembered.
    init(inOrder origins: [LaneID] = [], at time: MonotonicTime = 0) {
        for (index, origin) in origins.suffix(ProvenOrigins.most).enumerated() where origin.host.isOrigin {
            tookAt[origin] = time - .nanoseconds(ProvenOrigins.most - index)
        }
    }

    mutating func note(_ origin: LaneID, at time: MonotonicTime) {
        if tookAt[origin] == nil, tookAt.count >= Self.most,
            let oldest = tookAt.min(by: { $0.value < $1.value })?.key
        {
            tookAt[oldest] = nil
        }
        tookAt[origin] = time
    }
}
