import Clocks
import Testing

@testable import Relay

private let start: MonotonicTime = 0
private let second = Duration.seconds(1)

/// As `#expect`, for values that a `mutating` method returns: the macro takes none.
private func expect<Value: Equatable>(
    _ value: Value, is expected: Value, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(value == expected, sourceLocation: sourceLocation)
}

@Suite struct UpstreamOrderTests {
    @Test func theNextOneIsAskedWhileTheFirstIsAside() {
        var order = UpstreamOrder<Int>(count: 3)
        #expect(order.active == 0 && order.wakeAt == nil)
        expect(order.setAside(0, at: 0), is: true)
        #expect(order.active == 1 && order.isAside(0))
        expect(order.setAside(1, at: start + second), is: true)
        #expect(order.active == 2)
        // The last one stays, whatever it says.
        expect(order.setAside(2, at: start + second), is: false)
        #expect(order.active == 2)
    }

    @Test func itComesBackOnceAConnectionStands() {
        var order = UpstreamOrder<Int>(count: 2)
        expect(order.setAside(0, at: 0), is: true)
        #expect(order.wakeAt == start + second * 60)
        expect(order.takeDue(at: start + second * 60 - .nanoseconds(1)), is: [])
        // A connection before its time is none that it was called for.
        order.connected(0)
        #expect(order.active == 1)
        expect(order.takeDue(at: start + second * 60), is: [0])
        expect(order.takeDue(at: start + second * 61), is: [])
        #expect(order.active == 1 && order.wakeAt == nil)
        order.connected(0)
        #expect(order.active == 0 && !order.isAside(0))
    }

    @Test func whoFailsAgainStaysAsideForLonger() {
        var order = UpstreamOrder<Int>(count: 2)
        var time = start
        for seconds in [60, 120, 240, 480, 600, 600] {
            expect(order.setAside(0, at: time), is: true)
            #expect(order.wakeAt == time + second * seconds)
            time = time + second * seconds
            expect(order.takeDue(at: time), is: [0])
        }
        order.connected(0)
        order.answered(0, 1)
        expect(order.setAside(0, for: .seconds(90), at: time), is: true)
        #expect(order.wakeAt == time + second * 90)
    }

    @Test func whatFailsTogetherIsOneFailure() {
        var order = UpstreamOrder<Int>(count: 2)
        for _ in 0..<4 { expect(order.setAside(0, for: .seconds(10), at: 0), is: true) }
        #expect(order.wakeAt == start + second * 60)
        expect(order.setAside(0, for: .seconds(90), at: 0), is: true)
        #expect(order.wakeAt == start + second * 90)
    }

    /// It waits no longer than for its first pause, whatever its failures have come to.
    @Test func whenTheLastOneFailsTheOthersAreCalledSooner() {
        var order = UpstreamOrder<Int>(count: 2)
        expect(order.setAside(0, at: 0), is: true)
        expect(order.takeDue(at: start + second * 60), is: [0])
        expect(order.setAside(0, at: start + second * 60), is: true)
        #expect(order.wakeAt == start + second * 180)
        expect(order.setAside(1, at: start + second * 61), is: false)
        #expect(order.wakeAt == start + second * 120 && order.active == 1)
        expect(order.takeDue(at: start + second * 120), is: [0])
        // One that is called already is not called twice.
        expect(order.setAside(1, at: start + second * 121), is: false)
        #expect(order.wakeAt == nil)
    }

    /// That one has asked for the time itself.
    @Test func whenTheLastOneFailsNobodyIsCalledBeforeItWantsToBe() {
        var order = UpstreamOrder<Int>(count: 3)
        expect(order.setAside(0, for: .seconds(600), at: 0), is: true)
        expect(order.setAside(1, for: .seconds(90), at: 0), is: true)
        expect(order.setAside(1, for: .seconds(100), at: 0), is: true)
        expect(order.setAside(2, at: start + second * 70), is: false)
        #expect(order.wakeAt == start + second * 100)
        expect(order.takeDue(at: start + second * 100), is: [1])
        #expect(order.wakeAt == start + second * 600)
    }

    @Test func noWishIsObeyedForMoreThanADay() {
        var order = UpstreamOrder<Int>(count: 2)
        expect(order.setAside(0, for: .seconds(1_000_000_000), at: 0), is: true)
        #expect(order.wakeAt == start + second * 86400)
    }

    @Test func theOperatorWaitsForNoneThatWantsToBeLeftAlone() {
        var order = UpstreamOrder<Int>(count: 3)
        expect(order.setAside(0, for: .seconds(86400), at: 0), is: true)
        expect(order.setAside(1, at: 0), is: true)
        expect(order.takeDue(at: start + second * 60), is: [1])
        order.retryNow(at: start + second * 70)
        expect(order.takeDue(at: start + second * 70), is: [0])
        // The other one is being called already.
        expect(order.takeDue(at: start + second * 71), is: [])
    }

    private let one = NotificationID(high: 1, low: 1)
    private let other = NotificationID(high: 2, low: 2)

    /// What one device is told there sends that one another way, and no other.
    @Test func oneDeviceSetsNoUpstreamAside() {
        var order = UpstreamOrder<Int>(count: 3)
        expect(order.failed(0, 7, from: SenderID(1), at: 0), is: false)
        expect(order.detour(one, from: 0), is: true)
        #expect(order.place(of: one) == 1 && order.place(of: other) == 0 && order.active == 0)
        expect(order.detour(one, from: 1), is: true)
        #expect(order.place(of: one) == 2)
        expect(order.detour(one, from: 2), is: false)
        #expect(order.place(of: one) == 0)
    }

    @Test func severalSendersDevicesAreBelievedIfNoneIsTakenBetween() {
        var order = UpstreamOrder<Int>(count: 2)
        for device in 0..<20 { expect(order.failed(0, device, from: SenderID(1), at: 0), is: false) }
        order.answered(0, 99)
        for device in 20..<22 { expect(order.failed(0, device, from: SenderID(device), at: 0), is: false) }
        expect(order.failed(0, 22, from: SenderID(22), at: 0), is: true)
        // Of the other nothing is said.
        expect(order.failed(1, 23, from: SenderID(23), at: 0), is: false)
    }

    /// The devices for which it was left are no witnesses any more, and one that was known to fail alone still is.
    @Test func anUpstreamThatCameBackIsLeftOnlyForWhatIsHeardAnew() {
        var order = UpstreamOrder<Int>(count: 2)
        expect(order.failed(0, 9, from: SenderID(9), at: 0), is: false)
        order.answered(0, 8)
        for device in 0..<2 { expect(order.failed(0, device, from: SenderID(device), at: 0), is: false) }
        expect(order.failed(0, 2, from: SenderID(2), at: 0), is: true)
        expect(order.setAside(0, at: 0), is: true)
        expect(order.takeDue(at: start + second * 60), is: [0])
        order.connected(0)
        for device in [9, 0, 1] {
            expect(order.failed(0, device, from: SenderID(device), at: start + second * 70), is: false)
        }
        expect(order.failed(0, 2, from: SenderID(2), at: start + second * 70), is: true)
    }

    /// One that is set aside is nobody's way.
    @Test func aDetourEndsWhereItsUpstreamIsSetAside() {
        var order = UpstreamOrder<Int>(count: 3)
        expect(order.detour(one, from: 0), is: true)
        expect(order.setAside(1, at: 0), is: true)
        #expect(order.place(of: one) == 0)
        expect(order.detour(other, from: 0), is: true)
        #expect(order.place(of: other) == 2)
        order.ended(other)
        #expect(order.place(of: other) == 0)
    }
}
