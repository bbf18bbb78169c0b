import Dispatch
import Overview
import Reactor
import Testing

@testable import Doors

/// Reports in words, off the event loop.
@EventLoop
@Suite struct ReportDeskTests {
    /// While one report is put into words, the loop goes on, and the next report is not made yet.
    @Test func oneReportIsMadeAtATime() async {
        var made = 0
        let desk = ReportDesk {
            made += 1
            var report = Report()
            report.phones = made
            return report
        }
        let gate = DispatchSemaphore(value: 0)
        let first = Task {
            await desk.put { report in
                // Only the loop opens it.
                gate.wait()
                return report.phones
            }
        }
        let second = Task { await desk.put { $0.phones } }
        while made == 0 { await EventLoop.nextTurn() }
        await EventLoop.nextTurn()
        #expect(made == 1)
        gate.signal()
        #expect(await first.value == 1)
        #expect(await second.value == 2)
    }
}
