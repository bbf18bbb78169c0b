import Clocks
import Testing

@testable import Relay

/// What an upstream's answer means for the others.
@Suite struct UpstreamsTests {
    private let start: MonotonicTime = 0
    private static let fault: Duration = .seconds(300)

    /// Returns whether another upstream is asked for a notification that one has answered "later".
    private func isPassedOn(_ number: UInt64, from index: Int, _ upstreams: inout Upstreams) -> Bool {
        let notification = Notification(
            id: NotificationID(high: 1, low: number), lane: Node.android,
            deviceToken: DeviceToken(Sample.token(Int(number))), message: Sample.message, isUrgent: false,
            hasSound: false, isMutableContent: false, isContentAvailable: false, expiresAt: 1, acceptedAt: 0)
        return upstreams.passOn(
            notification, from: index, "HTTP415", after: UpstreamsTests.fault, asked: nil, isBound: false,
            at: start) != nil
    }

    /// Notes that an upstream that is called for is there again.
    private func bringBack(
        _ index: Int, _ upstreams: inout Upstreams, at time: MonotonicTime
    ) -> [Upstreams.Act] {
        upstreams.wake(at: time)
        upstreams.gotRoom(index, isFault: false)
        return upstreams.takeActs()
    }

    @Test func whatTheLastOnePutsOffIsTriedAnewWhenAnotherIsBack() {
        var upstreams = Upstreams(count: 2)
        upstreams.failed(1, "ConnectionLost", at: start)
        let hasAnother = isPassedOn(1, from: 0, &upstreams)
        #expect(!hasAnother)
        _ = upstreams.takeActs()
        let acts = bringBack(1, &upstreams, at: start + .seconds(60))
        #expect(acts == [.call(1), .noteBack(1), .tellAnew, .serve(1), .tell])
        // Then there is nothing left to tell of.
        upstreams.failed(1, "ConnectionLost", at: start + .seconds(61))
        _ = upstreams.takeActs()
        let later = bringBack(1, &upstreams, at: start + .seconds(300))
        #expect(later.contains(.noteBack(1)) && !later.contains(.tellAnew))
    }

    @Test func whatAnotherOneTookIsNotTriedAnew() {
        var upstreams = Upstreams(count: 2)
        let arePassedOn = (1...3).map { isPassedOn($0, from: 0, &upstreams) }
        #expect(arePassedOn == [true, true, true])
        #expect(upstreams.active == 1)
        _ = upstreams.takeActs()
        let acts = bringBack(0, &upstreams, at: start + .seconds(60))
        #expect(acts == [.call(0), .noteBack(0), .serve(0), .tell])
    }

    /// Five minutes are what the node gives somebody to mend it, where another one takes what comes: nobody asked for them.
    @Test func aPauseOfTheNodesOwnIsNoWish() {
        var upstreams = Upstreams(count: 2)
        let arePassedOn = (1...3).map { isPassedOn($0, from: 0, &upstreams) }
        #expect(arePassedOn == [true, true, true])
        #expect(upstreams.wakeAt == start + .seconds(60))
    }
}
