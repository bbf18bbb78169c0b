import Clocks
import Reactor
import Relay
import Testing
import Vectors

@testable import Gateways

@Suite struct DoubtfulRefusalsTests {
    private let one = NotificationID(high: 1, low: 1)
    private let other = NotificationID(high: 2, low: 2)

    /// Nothing else goes through: an outage of the relay's own that lasts hours ends nothing.
    @Test func withoutASignItIsTriedForADay() {
        var doubts = DoubtfulRefusals()
        for number in 0..<100 {
            let pause = min(75 << Int64(min(number, 10)), 900)
            expect(
                doubts.refused(one, at: .second(864 * number)), is: .again(after: .seconds(pause)))
        }
        expect(doubts.refused(one, at: .second(86400)), is: .believed)
    }

    @Test func whenOthersAreTakenItIsTheDevice() {
        var doubts = DoubtfulRefusals()
        expect(doubts.refused(one, at: 0), is: .again(after: .seconds(75)))
        doubts.accepted(other)
        for _ in 0..<2 { #expect(doubts.refused(one, at: .second(1)) != .believed) }
        expect(doubts.refused(one, at: .second(1)), is: .believed)
        // And another time from the beginning.
        expect(doubts.refused(one, at: .second(1)), is: .again(after: .seconds(75)))
    }

    @Test func whatWasTakenBeforeSaysNothing() {
        var doubts = DoubtfulRefusals()
        doubts.accepted(other)
        for _ in 0..<20 { #expect(doubts.refused(one, at: 0) != .believed) }
    }

    @Test func theOldestIsForgottenWhenThereAreTooMany() {
        var doubts = DoubtfulRefusals()
        for number in 0...UInt64(DoubtfulRefusals.most) {
            _ = doubts.refused(NotificationID(high: 0, low: number), at: 0)
        }
        expect(doubts.refused(NotificationID(high: 0, low: 0), at: 0), is: .again(after: .seconds(75)))
        expect(doubts.refused(NotificationID(high: 0, low: 9), at: 0), is: .again(after: .seconds(150)))
    }
}

@Suite struct RelayPaceTests {
    @Test func allTogetherStayBelowTheLimitOfBisqsRelay() {
        var pace = RelayPace()
        var sent = 0
        var time: MonotonicTime = 0
        while time < 60_000_000_000 {
            if pace.room(upTo: 4, at: time) > 0,
                pace.take(for: DeviceToken("token-\(sent)"), at: time) == .zero
            {
                sent += 1
            } else {
                time = time + max(pace.delay(at: time), .nanoseconds(1))
            }
        }
        #expect(sent > 1200 && sent <= 60 * 20 + 41)
    }

    @Test func aDeviceGetsNoMoreThanTheirProxyLetsThrough() {
        var pace = RelayPace()
        let token = DeviceToken("token")
        for _ in 0..<4 { expect(pace.take(for: token, at: 0), is: .zero) }
        #expect(pace.take(for: token, at: 0) > .zero)
        expect(pace.take(for: DeviceToken("another"), at: 0), is: .zero)
        expect(pace.take(for: token, at: 1_000_000_000), is: .zero)
    }

    @Test func devicesWithoutNumberTakeNoMemoryWithoutEnd() {
        var pace = RelayPace()
        for number in 0..<3 * RelayPace.most { _ = pace.take(for: DeviceToken("\(number)"), at: 0) }
        #expect(pace.deviceCount <= RelayPace.most)
    }

    private func bound() throws -> BoundNotifications {
        BoundNotifications([try GatewayURL("http://127.0.0.1:1"), try GatewayURL("http://127.0.0.1:2")])
    }

    @Test func boundNotificationsAreForgottenOldestFirst() throws {
        var bound = try bound()
        for number in 0...UInt64(BoundNotifications.most) {
            let isNews = bound.bind(NotificationID(high: 0, low: number), to: 1)
            #expect(isNews)
        }
        #expect(bound[NotificationID(high: 0, low: 0)] == nil && bound.count == BoundNotifications.most)
        #expect(bound[NotificationID(high: 0, low: 1)] == 1)
        bound.ended(NotificationID(high: 0, low: 1))
        #expect(bound[NotificationID(high: 0, low: 1)] == nil)
        var read = try self.bound()
        read.read(bound.bytes)
        #expect(read.count == bound.count)
    }

    /// It takes nothing now; it may have taken it before.
    @Test func whatWasUnclearOnceStaysSo() throws {
        var bound = try bound()
        let (first, second) = (NotificationID(high: 0, low: 1), NotificationID(high: 0, low: 2))
        _ = bound.bind(first, to: 0)
        _ = bound.bind(second, to: 0)
        bound.unclear(first)
        bound.notTaken(first)
        bound.notTaken(second)
        #expect(bound[first] == 0 && bound[second] == nil)
        var read = try self.bound()
        read.read(bound.bytes)
        read.notTaken(first)
        #expect(read[first] == 0)
    }

    @Test func whatIsNoRecordIsLeftOut() throws {
        for bytes in [[], [UInt8](repeating: 7, count: 23), [UInt8](repeating: 7, count: 100_000)] {
            var bound = try bound()
            bound.read(bytes)
            #expect(bound.count == 0)
        }
    }
}
