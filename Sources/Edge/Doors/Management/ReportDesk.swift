import Overview
import Reactor

/// Puts reports together and into words off the event loop, one after the other: with four hundred apps a page of metrics has
/// tens of thousands of lines, and all peers and gateways would wait for it.
@EventLoop
package final class ReportDesk {
    /// The figures of a report. The call puts the report together from them, on any thread.
    package typealias Taken = @Sendable () -> Report

    private let take: @EventLoop () -> Taken
    /// Figures are taken when their turn has come, so that there is one report at a time, however many ask.
    private let order = InOrder()
    private let jobs = JobQueue(named: "report")

    /// Makes the desk.
    ///
    /// - Parameter take: Takes the figures anew each time.
    package init(take: @escaping @EventLoop () -> Taken) { self.take = take }

    /// The report of now, put together by the loop. Only for who can't wait.
    package var now: Report { take()() }

    /// Returns what `words` makes of the report of now.
    package func put<Words: Sendable>(_ words: @escaping @Sendable (Report) -> Words) async -> Words {
        await order.run { [take, jobs] in
            let report = take()
            return await jobs.run { words(report()) }
        }
    }
}
