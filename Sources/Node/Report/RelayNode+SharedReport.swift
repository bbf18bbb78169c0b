import Dispatching
import Overview
import Reactor
import Relay

extension RelayNode {
    /// Returns the part of the report about the nodes that share the database.
    func sharedReport(at report: Report) -> Report.Shared? {
        let dispatcher = store.dispatcher
        guard let sharing = dispatcher.sharing else { return nil }
        var shared = Report.Shared()
        shared.shards = sharing.shards
        shared.withoutOwner = sharing.known?.withoutOwner ?? 0
        shared.withoutOwnerFor = sharing.withoutOwnerSince.map { report.age(of: $0) }
        shared.takeOvers = sharing.takeOvers.count
        shared.mayRepeat = sharing.takeOvers.mayRepeat
        if let recent = dispatcher.commitFigures.recent.figures(at: report.monotonicNow) {
            shared.medianCommit = .nanoseconds(recent.median)
            shared.longestCommit = .nanoseconds(recent.longest)
        }
        shared.nodes = sharing.known?.nodes ?? []
        return shared
    }
}
