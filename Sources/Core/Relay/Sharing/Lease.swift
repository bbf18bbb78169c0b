import Clocks

/// The right to a store that several nodes can come to. Each commit renews it there; here it is counted from before the
/// commit began, so that it ends here first.
struct Lease: Sendable {
    /// The time without a commit after which one is made that changes nothing.
    static let renewal: Duration = .seconds(2)
    /// The time without a commit after which nothing more is sent. The
    /// store gives the lease to nobody else for 8 seconds.
    static let length: Duration = .seconds(6)

    /// The time of the beginning of the last commit that was made.
    private var provenAt: MonotonicTime
    /// The time at which the lease is to be renewed.
    private(set) var renewAt: MonotonicTime

    init(at time: MonotonicTime) {
        provenAt = time
        renewAt = time + Lease.renewal
    }

    func holds(at time: MonotonicTime) -> Bool { time - provenAt < Lease.length }

    mutating func proven(at time: MonotonicTime) { self = Lease(at: time) }

    /// Makes a lease that is not proven. To read at the start may have taken longer than the lease: the first commit has to
    /// prove it.
    static func unproven(at time: MonotonicTime) -> Lease {
        var lease = Lease(at: time - length)
        lease.renewAt = time
        return lease
    }

    /// Puts the next renewal off: a commit has been asked for, or has failed.
    mutating func putOff(at time: MonotonicTime) { renewAt = time + Lease.renewal }
}

extension Pipeline {
    /// Whether the store is certainly this node's, so that nobody else sends what is in it.
    func holdsLease(at time: MonotonicTime) -> Bool { cluster.holdsLease(at: time) }

    mutating func renewLease(at time: MonotonicTime) {
        guard cluster.takeRenewal(at: time), !commits.isRunning, commits.fault == nil, !isStopping else {
            return
        }
        commits.append(.proof)
        scheduleCommit(at: time)
    }

    /// Proves the lease by a commit that was begun at `begun` and has been made.
    mutating func provenLease(begunAt begun: MonotonicTime, at time: MonotonicTime) {
        guard cluster.prove(begunAt: begun, at: time) else { return }
        for lane in delivery.lanes.indices { delivery.stir(lane) }
    }
}
