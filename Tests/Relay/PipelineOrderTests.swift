import Clocks
import Testing

@testable import Relay

/// Which is sent next.
@Suite struct PipelineOrderTests {
    @Test func theOldestGoesFirstAcrossTokens() {
        let node = Node()
        for number in 0..<30 { node.accept(Sample.android(token: Sample.token(number % 29))) }
        #expect(node.sendAll() == Array(1...29))
    }

    @Test func anUrgentOneGoesBeforeOlderOnesOfOtherTokens() {
        let node = Node()
        for number in 1...6 {
            node.accept(Sample.android(token: Sample.token(number), isUrgent: number == 3 || number == 5))
        }
        #expect(node.sendAll() == [3, 5, 1, 2, 4, 6])
    }

    @Test func oneOfATokenIsUnderWayAtATimeAndTheyGoInOrder() throws {
        let node = Node()
        for number in 1...4 { node.accept(Sample.android("\(number)", isUrgent: number == 4)) }
        for number in 1...4 {
            let handle = try #require(node.send())
            #expect(handle.sequence == Int64(number))
            #expect(node.send() == nil)
            node.end(handle, .accepted)
        }
        #expect(node.next() == .idle)
    }

    @Test(arguments: [Outcome.tooMany, .overloaded, .goneAway, .blocked(reason: "BadTopic")])
    func theOrderOfATokenOutlastsDeferral(outcome: Outcome) throws {
        let node = Node()
        for number in 1...3 { node.accept(Sample.android("\(number)")) }
        var delivered: [Int64] = []
        var attempt = 0
        while node.pipeline.waiting > 0 {
            guard let handle = node.send() else {
                node.pass(.seconds(30))
                continue
            }
            attempt += 1
            if attempt % 4 == 0 { delivered.append(handle.sequence) }
            node.end(handle, attempt % 4 == 0 ? .accepted : outcome)
        }
        #expect(delivered == [1, 2, 3])
        #expect(attempt == 12)
    }

    @Test func aDeviceThatIsSparedHoldsUpNoOther() throws {
        let node = Node()
        node.accept(Sample.android("1"))
        node.accept(Sample.android("2"))
        node.accept(Sample.android("3", token: Sample.token(3)))
        let wish = Deferral(reason: "TooManyRequests", scope: .device, retryAfter: .seconds(100))
        node.end(try #require(node.send()), .deferred(wish))
        #expect(node.sendAll() == [3])
        #expect(node.next() == .wait(until: node.now.monotonic + .seconds(100)))
        node.pass(.nanoseconds(99_999_999_999))
        #expect(node.send() == nil)
        node.pass(.nanoseconds(1))
        #expect(node.sendAll() == [1])
    }

    /// What waits because its phone gets too much is no sign that pushing has stopped; what waits otherwise is.
    @Test(arguments: [true, false])
    func theOldestThatIsDueIsForNoDeviceThatIsSpared(isThrottle: Bool) throws {
        let node = Node()
        let first = node.now.monotonic
        node.accept(Sample.android("1"))
        node.pass(.seconds(1))
        node.accept(Sample.android("2"))
        let wish = Deferral(
            reason: "Word", scope: .device, retryAfter: .seconds(100), isThrottle: isThrottle)
        node.end(try #require(node.send()), .deferred(wish))
        let lane = node.pipeline.lane(Node.android)
        #expect(node.pipeline.queues()[lane].waiting == 2)
        #expect(node.pipeline.queues()[lane].oldestSubmittedAt == first)
        #expect(node.pipeline.queues()[lane].oldestDueSubmittedAt == (isThrottle ? nil : first))
        node.pass(.seconds(1))
        node.accept(Sample.android("3", token: Sample.token(3)))
        let due = isThrottle ? node.now.monotonic : first
        #expect(node.pipeline.queues()[lane].oldestDueSubmittedAt == due)
        // While it is tried it is due again.
        node.pass(.seconds(100))
        #expect(node.send() != nil)
        #expect(node.pipeline.queues()[lane].oldestDueSubmittedAt == first)
    }

    /// The head expires while its device is spared: the one behind it doesn't go sooner than the gateway asked.
    @Test func theWishForADeviceHoldsForThoseBehindToo() throws {
        let node = Node()
        node.accept(Sample.android("1", expiresAt: node.now.unix + .milliseconds(10_000)))
        node.accept(Sample.android("2"))
        let wish = Deferral(reason: "TooManyRequests", scope: .device, retryAfter: .seconds(100))
        node.end(try #require(node.send()), .deferred(wish))
        node.pass(.seconds(10))
        #expect(node.expire().map(\.sequence) == [1])
        #expect(node.next() == .wait(until: node.now.monotonic + .seconds(90)))
        node.pass(.seconds(90))
        #expect(node.sendAll() == [2])
    }

    @Test func whatExpiresInTheMiddleLeavesTheOthersInOrder() throws {
        let node = Node()
        let soon = node.now.unix + .milliseconds(1000)
        for number in 1...5 {
            node.accept(Sample.android("\(number)", expiresAt: number == 3 || number == 5 ? soon : 0))
        }
        let first = try #require(node.send())
        node.pass(.seconds(1))
        #expect(node.expire().map(\.sequence).sorted() == [3, 5])
        node.accept(Sample.android("6"))
        node.end(first, .accepted)
        var sent: [Int64] = []
        while let handle = node.send() {
            sent.append(handle.sequence)
            node.end(handle, .accepted)
        }
        #expect(sent == [2, 4, 6])
    }

    @Test func aLaneThatIsPausedHoldsUpNoOther() throws {
        let node = Node()
        node.accept(Sample.android())
        node.accept(Sample.ios())
        var sandbox = Sample.ios()
        sandbox.platform = .iosDev
        node.accept(sandbox)
        node.end(try #require(node.send()), .blocked(reason: "THIRD_PARTY_AUTH_ERROR"))
        #expect(node.send() == nil)
        let production = try #require(node.send(Node.ios))
        node.end(production, .overloaded)
        #expect(node.sendAll(Node.ios) == [])
        #expect(node.sendAll(LaneID(app: "ios", host: .sandbox)) == [3])
    }

    @Test(arguments: [Deferral.Scope.device, .host, .app])
    func aDeferralHoldsUpWhatItConcerns(scope: Deferral.Scope) throws {
        let node = Node()
        let (first, second) = (Sample.iosToken, String(repeating: "0b", count: 32))
        var sandbox = Sample.ios()
        sandbox.platform = .iosDev
        for submission in [Sample.ios(token: first), Sample.ios(token: second), sandbox, Sample.android()] {
            node.accept(submission)
        }
        node.end(
            try #require(node.send(Node.ios)), .deferred(Deferral(reason: "r", scope: scope, witnesses: 1)))
        #expect(node.sendAll(Node.ios) == (scope == .device ? [2] : []))
        #expect(node.sendAll(LaneID(app: "ios", host: .sandbox)) == (scope == .app ? [] : [3]))
        #expect(node.sendAll() == [4])
    }

    @Test func oneTokenAtTwoHostsIsTwoDevices() throws {
        let node = Node()
        var sandbox = Sample.ios()
        sandbox.platform = .iosDev
        node.accept(Sample.ios())
        node.accept(sandbox)
        node.end(try #require(node.send(Node.ios)), .tokenDead(reason: "Unregistered", since: nil))
        #expect(node.isWaiting(2) == true)
        #expect(node.sendAll(LaneID(app: "ios", host: .sandbox)) == [2])
    }
}
