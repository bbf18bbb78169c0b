import Clocks
import Testing

@testable import Relay

/// What lapses, and what a wall clock that jumps does to it.
@Suite struct PipelineExpiryTests {
    @Test func whatLapsesIsNotSent() throws {
        let node = Node()
        node.accept(Sample.android("1", expiresAt: node.now.unix + .milliseconds(1000)))
        node.accept(Sample.android("2"))
        node.pass(.milliseconds(999))
        #expect(node.expire().isEmpty)
        node.pass(.milliseconds(1))
        #expect(node.next() == .ended)
        let end = try #require(node.takeEnds().first)
        #expect(end.sequence == 1 && end.ending == .expired)
        #expect(end.submittedAt == Sample.start.monotonic)
        #expect(node.take() == [.finish(sequence: 1, .expired)])
        #expect(node.sendAll() == [2])
    }

    /// The machine sleeps: nothing wakes the node, and both clocks are three hours later when it goes on. Its wall clock
    /// is as right as before, so nobody doubts it.
    @Test func whatLapsesWhileTheMachineSleepsIsNotSent() throws {
        let node = Node()
        node.accept(Sample.android("1", expiresAt: node.now.unix + .milliseconds(3_600_000)))
        node.accept(Sample.android("2"))
        let wish = Deferral(reason: "TooManyRequests", scope: .device, retryAfter: .seconds(60))
        node.end(try #require(node.send()), .deferred(wish))
        node.pass(.seconds(3 * 3600))
        // A lane is served before the housekeeping comes round.
        #expect(node.next() == .ended)
        #expect(node.takeEnds().map(\.sequence) == [1])
        #expect(node.sendAll() == [2])
        node.pipeline.wake(at: node.now, clockOffset: node.now.offset)
        #expect(!node.isClockDoubted)
        #expect(!node.isWaiting(1))
        #expect(node.sendAll() == [])
    }

    @Test func whatIsUnderWayIsNotEndedByItsExpiry() throws {
        let node = Node()
        node.accept(Sample.android(expiresAt: node.now.unix + .milliseconds(1000)))
        let handle = try #require(node.send())
        node.pass(.seconds(2))
        #expect(node.expire().isEmpty)
        #expect(node.end(handle, .accepted) == [1: .delivered])
    }

    @Test func anUnclearOneThatHasLapsedEndsExpired() throws {
        let node = Node()
        node.accept(Sample.android(expiresAt: node.now.unix + .milliseconds(1000)))
        let handle = try #require(node.send())
        node.pass(.seconds(2))
        #expect(node.end(handle, .tooMany) == [:])
        #expect(node.expire().map(\.ending) == [.expired])
    }

    @Test(arguments: [Int64(-40), 40])
    func aWallClockThatJumpsEndsNothingAndKeepsNothing(days: Int64) {
        let node = Node()
        node.accept(Sample.android(expiresAt: node.now.unix + .milliseconds(3_600_000)))
        node.now.unix = node.now.unix + .seconds(days * 86_400)
        #expect(node.expire().isEmpty)
        node.pass(.seconds(3599))
        #expect(node.expire().isEmpty)
        node.pass(.seconds(1))
        #expect(node.expire().map(\.sequence) == [1])
    }

    @Test func aWallClockThatJumpsMovesNoRetry() throws {
        let node = Node()
        node.accept(Sample.android())
        let wish = Deferral(reason: "TooManyRequests", scope: .device, retryAfter: .seconds(100))
        node.end(try #require(node.send()), .deferred(wish))
        node.now.unix = node.now.unix + .seconds(86_400)
        #expect(node.send() == nil)
        node.now.unix = node.now.unix - .seconds(10 * 86_400)
        node.pass(.seconds(100))
        #expect(node.send() != nil)
    }
}
