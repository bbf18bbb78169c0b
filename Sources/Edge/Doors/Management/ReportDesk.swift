import Overview
import Reactor

/// Puts reports into words off the event loop, one after the other: with four hundred apps a page of metrics has tens of
/// thousands of lines, and all peers and gateways would wait for it.
@EventLoop
package final class ReportDesk {
    private let report: @EventLoop () -> Report
    /// A report is made when its turn has come, so that there is one at a time, however many ask.
    private let order = InOrder()
    private let jobs = JobQueue(named: "report")

    /// Makes the desk.
    ///
    /// - Parameter report: Makes the report anew each time.
    package init(report: @escaping @EventLoop () -> Report) { self.report = report }

    /// Returns what `words` makes of the report of now.
    package func put<Words: Sendable>(_ words: @escaping @Sendable (Report) -> Words) async -> Words {
        await order.run { [report, jobs] in
            let report = report()
            return await jobs.run { words(report) }
        }
    }
}
