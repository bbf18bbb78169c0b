import Dispatch
import Overview
import Reactor
import Testing

@testable import Doors

/// Reports in words, off the event loop.
@EventLoop
@Suite struct ReportDeskTests {
    /// While one report is put together and into words, the loop goes on, and the figures of the next are not taken yet.
    @Test func oneReportIsMadeAtATime() async {
        let gate = DispatchSemaphore(value: 0)
        var made = 0
        let desk = ReportDesk {
            made += 1
            return { [made] in
                // Only the loop opens it.
                if made == 1 { gate.wait() }
                var report = Report()
                report.phones = made
                return report
            }
        }
        let first = Task {
            await desk.put { report in
                gate.wait()
                return report.phones
            }
        }
        let second = Task { await desk.put { $0.phones } }
        while made == 0 { await EventLoop.nextTurn() }
        await EventLoop.nextTurn()
        #expect(made == 1)
        gate.signal()
        gate.signal()
        #expect(await first.value == 1)
        #expect(await second.value == 2)
    }
}
