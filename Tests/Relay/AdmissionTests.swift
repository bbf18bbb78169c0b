import Clocks
import Testing

@testable import Relay

@Suite struct AdmissionTests {
    private var now = Sample.start
    private let one = Sample.digest("one")
    private let two = Sample.digest("two")

    private mutating func pass(_ time: Duration) { now.monotonic = now.monotonic + time }

    @Test func aTokenMayBurstFiveAndThenTwoASecond() {
        var test = AdmissionTests()
        var admission = Admission(limits: Admission.Limits())
        for _ in 0..<5 { #expect(admission.admit(token: test.one, size: 1, at: test.now) == nil) }
        #expect(admission.admit(token: test.one, size: 1, at: test.now) == .device(retryAfter: .seconds(1)))
        #expect(admission.admit(token: test.two, size: 1, at: test.now) == nil)
        test.pass(.nanoseconds(999_999_999))
        #expect(
            admission.admit(token: test.one, size: 1, at: test.now) == .device(retryAfter: .nanoseconds(1)))
        test.pass(.nanoseconds(1))
        for _ in 0..<2 { #expect(admission.admit(token: test.one, size: 1, at: test.now) == nil) }
        #expect(admission.admit(token: test.one, size: 1, at: test.now) == .device(retryAfter: .seconds(1)))
        test.pass(.seconds(3600))
        for _ in 0..<5 { #expect(admission.admit(token: test.one, size: 1, at: test.now) == nil) }
        #expect(admission.admit(token: test.one, size: 1, at: test.now) != nil)
    }

    private static let stranger = SenderID("stranger")
    private static let friend = SenderID("friend")

    /// Two made-up messages a second by one circuit leave room for whoever else sends to the phone.
    @Test func whoSendsAllTheTimeSilencesNobody() {
        var test = AdmissionTests()
        var limits = Admission.Limits()
        limits.waitingPerToken = 10_000
        var admission = Admission(limits: limits)
        var admitted = 0
        for step in 0..<6000 {
            if admission.admit(token: test.one, size: 1, from: Self.stranger, at: test.now) == nil {
                admitted += 1
            }
            if step % 1200 == 1199 {
                let friend = SenderID(step)
                #expect(admission.admit(token: test.one, size: 1, from: friend, at: test.now) == nil)
            }
            test.pass(.milliseconds(100))
        }
        #expect((1190...1206).contains(admitted), "\(admitted) in ten minutes")
    }

    /// A new circuit for each message gets the kept half of the rate, and leaves the other.
    @Test func newCircuitsAloneDoNotLiftTheLimit() {
        var test = AdmissionTests()
        var limits = Admission.Limits()
        limits.waitingPerToken = 10_000
        var admission = Admission(limits: limits)
        #expect(admission.admit(token: test.one, size: 1, from: Self.friend, at: test.now) == nil)
        var admitted = 0
        for number in 0..<1000 {
            if admission.admit(token: test.one, size: 1, from: SenderID(number), at: test.now) == nil {
                admitted += 1
            }
            if number % 10 == 9 {
                #expect(admission.admit(token: test.one, size: 1, from: Self.friend, at: test.now) == nil)
            }
            test.pass(.milliseconds(100))
        }
        #expect((95...105).contains(admitted), "\(admitted) in a hundred seconds")
    }

    @Test func afterTenMinutesASenderIsNewAgain() {
        var recent = RecentSenders()
        func second(_ number: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: number * 1_000_000_000) }
        recent.insert(Self.friend, to: one, at: second(600))
        recent.insert(Self.stranger, to: one, at: second(1199))
        #expect(recent.contains(Self.friend, to: one) && !recent.contains(Self.friend, to: two))
        recent.insert(Self.stranger, to: two, at: second(1200))
        #expect(recent.contains(Self.stranger, to: one))
        recent.insert(Self.stranger, to: two, at: second(1800))
        #expect(!recent.contains(Self.friend, to: one))
        for number in 0..<100_000 {
            recent.insert(SenderID(number), to: one, at: second(1800))
        }
        #expect(!recent.contains(Self.stranger, to: two))
    }

    /// The last quarter of a phone's places is for newcomers too.
    @Test func whoSendsAllTheTimeLeavesPlaces() {
        var test = AdmissionTests()
        var admission = Admission(limits: Admission.Limits())
        var waiting = 0
        for _ in 0..<200 {
            if admission.admit(token: test.one, size: 1, from: Self.stranger, at: test.now) == nil {
                waiting += 1
            }
            test.pass(.seconds(1))
        }
        #expect(waiting == 48)
        #expect(admission.admit(token: test.one, size: 1, from: Self.friend, at: test.now) == nil)
    }

    /// Nobody empties the memory of identities for all.
    @Test func aSenderGetsAShareOfTheIdentities() {
        var limits = Admission.Limits()
        limits.identities = 1600
        var test = AdmissionTests()
        var admission = Admission(limits: limits)
        func store(_ number: Int, from sender: SenderID?) -> Bool {
            let token = Digest(high: UInt64(number), low: 9)
            guard admission.admit(token: token, size: 1, from: sender, at: test.now) == nil else {
                return false
            }
            admission.settle(size: 1)
            admission.remembered(from: sender, at: test.now.monotonic)
            admission.release(token: token, size: 1)
            return true
        }
        var admitted = 0
        for number in 0..<5000 where store(number, from: Self.stranger) { admitted += 1 }
        #expect(admitted == 800, "half of it while nobody else is there")
        for number in 0..<99 { #expect(store(10_000 + number, from: Self.friend)) }
        #expect(store(1, from: nil))
        for number in 0..<1000 { #expect(store(20_000 + number, from: SenderID(number))) }
        #expect(!store(2, from: Self.stranger))
        test.pass(.seconds(24 * 3600))
        _ = store(3, from: Self.friend)
        #expect(store(4, from: Self.stranger))
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
        for number in 0..<10_000 {
            let token = Digest(high: UInt64(number), low: 0)
            #expect(admission.admit(token: token, size: 1, at: test.now) == nil)
            admission.settle(size: 1)
            admission.release(token: token, size: 1)
            test.pass(.milliseconds(1))
        }
        // 1,000 are fresh at any time: the table is swept when it has doubled.
        #expect(admission.accountCount <= 2050)
    }

    /// After an outage: what waited on disk goes out through memory, and nobody sends meanwhile.
    @Test func devicesOfABacklogAreForgottenWhenItIsDrained() {
        var test = AdmissionTests()
        var admission = Admission(limits: Admission.Limits())
        admission.restore(
            LaneBacklog(
                lane: LaneID(app: "a", host: .production), waiting: 20_000, bytes: 20_000,
                oldestAcceptedAt: test.now.unix))
        var largest = 0
        for page in 0..<20 {
            let tokens = (0..<1000).map { Digest(high: UInt64(page), low: UInt64($0)) }
            for token in tokens { admission.claim(token: token, at: test.now.monotonic) }
            largest = max(largest, admission.accountCount)
            for token in tokens { admission.release(token: token, size: 1, isShelved: true) }
            test.pass(.seconds(1))
        }
        #expect(largest <= 4000)
        admission.tidy(at: test.now.monotonic)
        // So few are not looked through.
        #expect(admission.accountCount <= 1024 && admission.waiting == 0)
    }

    // MARK: Those that may wait

    /// Bisq 1's nine messages within two seconds, and more: none is lost, and they go out at the pace.
    @Test func whatMayWaitWaitsForTheRate() {
        let test = AdmissionTests()
        var admission = Admission(limits: Admission.Limits())
        for _ in 0..<5 {
            #expect(admission.admit(token: test.one, size: 1, from: Self.friend, at: test.now) == nil)
        }
        let start = test.now.monotonic
        var times: [Int64] = []
        for _ in 0..<16 {
            #expect(admission.admit(token: test.one, size: 1, from: Self.friend, at: test.now) != nil)
            let due = admission.admitLater(token: test.one, size: 1, from: Self.friend, at: test.now)
            times.append(((due ?? 0) - start).milliseconds)
        }
        #expect(times == (1...16).map { Int64($0) * 1000 })
        // A quarter of the places for one sender.
        #expect(admission.admitLater(token: test.one, size: 1, from: Self.friend, at: test.now) == nil)
        #expect(admission.waiting(of: test.one) == 21)
        // What is kept for newcomers is.
        for number in 0..<2 {
            let newcomer = SenderID("new \(number)")
            #expect(admission.admit(token: test.one, size: 1, from: newcomer, at: test.now) == nil)
        }
        #expect(admission.admit(token: test.two, size: 1, from: Self.friend, at: test.now) == nil)
    }

    /// However many circuits flood one device, a quarter of its places is for newcomers, and no other device's are taken.
    @Test func whatMayWaitTakesNobodyElsesPlaces() {
        var test = AdmissionTests()
        var admission = Admission(limits: Admission.Limits())
        for number in 0..<1000 {
            let sender = SenderID(number % 20)
            if admission.admit(token: test.one, size: 1, from: sender, at: test.now) != nil {
                _ = admission.admitLater(token: test.one, size: 1, from: sender, at: test.now)
            }
        }
        #expect(admission.waiting(of: test.one) == 48)
        test.pass(.seconds(60))
        #expect(admission.admit(token: test.one, size: 1, from: SenderID("new"), at: test.now) == nil)
    }
}
