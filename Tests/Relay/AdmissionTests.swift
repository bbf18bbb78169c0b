import Testing

@testable import Relay

@Suite struct AdmissionTests {
    private var now = Sample.start
    private let one = Sample.digest("one")
    private let two = Sample.digest("two")

    private mutating func pass(_ time: Duration) { now.monotonicNanoseconds += time.nanoseconds }

    @Test func aTokenMayBurstFiveAndThenTwoASecond() {
        var test = AdmissionTests()
        var admission = Admission(limits: Admission.Limits())
        for _ in 0..<5 { #expect(admission.admit(token: test.one, size: 1, at: test.now) == nil) }
        #expect(
            admission.admit(token: test.one, size: 1, at: test.now) == .device(retryAfter: .milliseconds(500))
        )
        #expect(admission.admit(token: test.two, size: 1, at: test.now) == nil)
        test.pass(.nanoseconds(499_999_999))
        #expect(
            admission.admit(token: test.one, size: 1, at: test.now) == .device(retryAfter: .nanoseconds(1)))
        test.pass(.nanoseconds(1))
        #expect(admission.admit(token: test.one, size: 1, at: test.now) == nil)
        #expect(
            admission.admit(token: test.one, size: 1, at: test.now) == .device(retryAfter: .milliseconds(500))
        )
        test.pass(.seconds(3600))
        for _ in 0..<5 { #expect(admission.admit(token: test.one, size: 1, at: test.now) == nil) }
        #expect(admission.admit(token: test.one, size: 1, at: test.now) != nil)
    }

    @Test func whoeverComesWhenToldIsLetIn() throws {
        var test = AdmissionTests()
        var admission = Admission(limits: Admission.Limits())
        for _ in 0..<60 {
            if let wait = admission.admit(token: test.one, size: 1, at: test.now) {
                test.pass(wait.retryAfter)
                try #require(admission.admit(token: test.one, size: 1, at: test.now) == nil)
            }
        }
    }

    @Test func sixtyFourOfATokenMayWait() {
        var test = AdmissionTests()
        var admission = Admission(limits: Admission.Limits())
        for _ in 0..<64 {
            #expect(admission.admit(token: test.one, size: 1, at: test.now) == nil)
            test.pass(.seconds(1))
        }
        #expect(admission.admit(token: test.one, size: 1, at: test.now) == .device(retryAfter: .seconds(30)))
        #expect(admission.admit(token: test.two, size: 1, at: test.now) == nil)
        admission.release(token: test.one, size: 1)
        #expect(admission.admit(token: test.one, size: 1, at: test.now) == nil)
        #expect(admission.admit(token: test.one, size: 1, at: test.now) == .device(retryAfter: .seconds(30)))
    }

    @Test func theNodeHasRoomForSoManyNotifications() {
        var limits = Admission.Limits()
        limits.waiting = 2
        var admission = Admission(limits: limits)
        #expect(admission.admit(token: one, size: 1, at: now) == nil)
        #expect(admission.admit(token: two, size: 1, at: now) == nil)
        #expect(
            admission.admit(token: Sample.digest("three"), size: 1, at: now)
                == .node(retryAfter: .seconds(30)))
        #expect(admission.waiting == 2)
        admission.release(token: one, size: 1)
        #expect(admission.admit(token: Sample.digest("three"), size: 1, at: now) == nil)
    }

    @Test func theNodeHasRoomForSoManyBytes() {
        var limits = Admission.Limits()
        limits.waitingBytes = 100
        var admission = Admission(limits: limits)
        #expect(admission.admit(token: one, size: 60, at: now) == nil)
        #expect(admission.admit(token: two, size: 41, at: now) == .node(retryAfter: .seconds(30)))
        #expect(admission.admit(token: two, size: 40, at: now) == nil)
        #expect(admission.waitingBytes == 100)
        admission.release(token: one, size: 60)
        #expect(admission.waitingBytes == 40)
        #expect(admission.admit(token: one, size: 60, at: now) == nil)
    }

    @Test func soManyBytesMayBeOnTheirWayToTheDisk() {
        var limits = Admission.Limits()
        limits.storingBytes = 100
        var admission = Admission(limits: limits)
        #expect(admission.admit(token: one, size: 60, at: now) == nil)
        #expect(admission.admit(token: two, size: 41, at: now) == .node(retryAfter: .seconds(2)))
        #expect(admission.admit(token: two, size: 40, at: now) == nil)
        admission.settle(size: 60)
        #expect(admission.admit(token: two, size: 60, at: now) == nil)
    }

    @Test func whatIsRefusedTakesNoPlaceAndNoRate() {
        var limits = Admission.Limits()
        limits.waiting = 1
        var admission = Admission(limits: limits)
        #expect(admission.admit(token: one, size: 1, at: now) == nil)
        for _ in 0..<100 { #expect(admission.admit(token: two, size: 1, at: now) != nil) }
        #expect(admission.waiting == 1)
        #expect(admission.accountCount == 1)
        admission.release(token: one, size: 1)
        #expect(admission.admit(token: two, size: 1, at: now) == nil)
    }

    @Test func whatWasAcceptedBeforeTheStartIsTakenOverBeyondEveryLimit() {
        var limits = Admission.Limits()
        limits.waiting = 1
        var admission = Admission(limits: limits)
        for _ in 0..<100 { admission.restore(token: one, size: 7) }
        #expect(admission.waiting == 100)
        #expect(admission.waitingBytes == 700)
        #expect(admission.admit(token: two, size: 1, at: now) == .node(retryAfter: .seconds(30)))
        for _ in 0..<100 { admission.release(token: one, size: 7) }
        #expect(admission.waiting == 0)
        #expect(admission.waitingBytes == 0)
        #expect(admission.admit(token: one, size: 1, at: now) == nil)
    }

    @Test func tokensThatAreDoneWithAreForgotten() {
        var test = AdmissionTests()
        var admission = Admission(limits: Admission.Limits())
        for number in 0..<50_000 {
            let token = Digest(high: UInt64(number), low: 0)
            #expect(admission.admit(token: token, size: 1, at: test.now) == nil)
            admission.settle(size: 1)
            admission.release(token: token, size: 1)
            test.pass(.milliseconds(1))
        }
        // 500 are fresh at any time: the table is swept above 1,024.
        #expect(admission.accountCount <= 1025)
    }
}
