import Glibc
import Testing

@testable import Reactor

@Suite struct WatchdogTests {
    /// A pipe that its writer closes when it is let go.
    private final class End: Sendable {
        let number: CInt
        init(_ number: CInt) { self.number = number }
        deinit { close(number) }
    }

    /// The event loop's thread waits itself here, for nothing that the loop could do.
    @Test @EventLoop func itActsWhereTheEventLoopHangs() throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let end = End(ends[1])
        let watchdog = Watchdog(after: .milliseconds(20)) { _ = write(end.number, "x", 1) }
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 1 && byte == UInt8(ascii: "x"))
        watchdog.end()
        close(ends[0])
    }

    @Test func oneThatWasEndedDoesNothingAndGoes() throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        var end: End? = End(ends[1])
        var watchdog: Watchdog? = Watchdog(after: .seconds(3600)) { [end] in
            if let end { _ = write(end.number, "x", 1) }
        }
        end = nil
        watchdog?.end()
        watchdog = nil
        var byte: UInt8 = 0
        // Its thread has ended, and let go of what it had.
        #expect(read(ends[0], &byte, 1) == 0)
        close(ends[0])
    }
}
