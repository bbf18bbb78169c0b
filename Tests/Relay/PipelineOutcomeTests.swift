import Clocks
import Testing

@testable import Relay

/// What an attempt's outcome means.
@Suite struct PipelineOutcomeTests {
    @Test func anAcceptedOneEndsDelivered() throws {
        let node = Node()
        node.accept(Sample.android())
        #expect(node.end(try #require(node.send()), .accepted) == [1: .delivered])
        #expect(node.take() == [.finish(sequence: 1, .delivered)])
        #expect(node.isWaiting(1) == false)
    }

    @Test func aRefusedOneEndsWithTheGatewaysWord() throws {
        let node = Node()
        node.accept(Sample.android())
        let refusal = Outcome.refused(reason: "INVALID_ARGUMENT", detail: "Not so.")
        let ending = Ending.refused(reason: "INVALID_ARGUMENT", detail: "Not so.")
        #expect(node.end(try #require(node.send()), refusal) == [1: ending])
        #expect(node.take() == [.finish(sequence: 1, ending)])
    }

    @Test func aDeadTokenEndsThoseBehindItAndIsRemembered() throws {
        let node = Node()
        for number in 1...3 { node.accept(Sample.android("\(number)")) }
        node.accept(Sample.android(token: Sample.token(4)))
        let since = node.now.unix - .milliseconds(5)
        let ending = Ending.tokenDead(reason: "Unregistered", detail: "Gone.")
        let ended = node.end(
            try #require(node.send()), .tokenDead(reason: "Unregistered", since: since, detail: "Gone."))
        #expect(ended == [1: ending, 2: ending, 3: ending])
        let token = Sample.digest("android", "production", Sample.androidToken)
        let changes = node.take()
        #expect(
            changes.first == .buryToken(token, DeadToken(since: since, buriedAt: node.now.unix)))
        #expect(changes.count == 4)
        #expect(node.sendAll() == [4])
        #expect(node.pipeline.waiting == 1)
    }

    /// A phone that registered after its token had died, as Apple says it, is not taken for dead.
    @Test(arguments: [(Int64(-1), true), (0, false), (1, false)])
    func whoeverRegisteredAfterTheDeathLives(since: Int64, lives: Bool) throws {
        let node = Node()
        var submission = Sample.android("1")
        submission.registeredAt = node.now.unix - .milliseconds(1000)
        node.accept(submission)
        submission.uid = "2"
        node.accept(submission)
        let ended = node.end(
            try #require(node.send()),
            .tokenDead(reason: "Unregistered", since: node.now.unix - .milliseconds(1000 - since)))
        #expect(ended[1] == (lives ? .refused(reason: "Unregistered") : .tokenDead(reason: "Unregistered")))
        #expect(ended[2] == (lives ? nil : .tokenDead(reason: "Unregistered")))
        #expect(node.pipeline.deadTokenCount == (lives ? 0 : 1))
        #expect(node.sendAll() == (lives ? [2] : []))
    }

    @Test func whatWasBeingStoredWhenItsTokenDiedEndsToo() throws {
        let node = Node()
        node.accept(Sample.android("1"))
        let first = try #require(node.send())
        _ = node.submit(Sample.android("2"))
        node.begin()
        node.end(first, .tokenDead(reason: "Unregistered", since: nil))
        let ending = Sample.deadSinceTheStart
        // Its sender is told when that is written down.
        #expect(node.commit([.stored(sequence: 2)]) == [])
        #expect(node.begin().contains(.finish(sequence: 2, ending)))
        #expect(node.commit() == [.ended(ending)])
        #expect(node.pipeline.waiting == 0)
    }

    /// A gateway's clock that is ahead, or a timestamp from nowhere, keeps no token dead for longer.
    @Test func aTokenIsForgottenWhenItsTimeIsOver() throws {
        let node = Node()
        node.accept(Sample.android())
        node.end(try #require(node.send()), .tokenDead(reason: "Unregistered", since: .max))
        let buried = node.now.unix
        node.pipeline.forget(acceptedBefore: 1, buriedBefore: buried)
        #expect(node.accept(Sample.android("again")) == 0)
        node.pipeline.forget(acceptedBefore: 1, buriedBefore: buried + .milliseconds(1))
        #expect(node.accept(Sample.android("again")) > 0)
        #expect(node.changes.contains(.forget(acceptedBefore: 1, buriedBefore: buried + .milliseconds(1))))
    }

    @Test func attemptsAreCountedAndKept() throws {
        let node = Node()
        node.accept(Sample.android())
        for attempt in 1...5 {
            let wish = Deferral(reason: "TooManyRequests", scope: .device, retryAfter: .seconds(1000))
            node.end(try #require(node.send()), .deferred(wish))
            let notBefore = node.now.unix + .milliseconds(1_000_000)
            #expect(node.take().last == .postpone(sequence: 1, attempts: attempt, notBefore: notBefore))
            node.pass(.seconds(1000))
        }
    }

    @Test func aGatewayThatThreePhonesFindOverloadedPausesItsLaneAndTriesWithAFew() throws {
        let node = Node()
        for number in 1...9 { node.accept(Sample.android(token: Sample.token(number))) }
        var handles: [Pipeline.Handle] = []
        for _ in 1...4 { handles.append(try #require(node.send())) }
        node.end(handles[0], .overloaded)
        node.end(handles[1], .overloaded)
        #expect(node.condition() == .open)
        node.end(handles[2], .overloaded)
        guard case .paused(let until) = node.condition() else { return #expect(Bool(false)) }
        #expect(node.next() == .wait(until: until))
        #expect(
            node.take().dropLast() == [1, 2, 3].map { .postpone(sequence: $0, attempts: 1, notBefore: 0) })
        node.pass(.seconds(1))
        // The fourth, which is still on its way, began before the pause, and is none of them.
        let tries = [try #require(node.send()), try #require(node.send()), try #require(node.send())]
        #expect(node.next() == .idle)
        node.end(tries[0], .accepted)
        #expect(node.condition() == .open)
        node.end(tries[1], .accepted)
        #expect(!node.sendAll().isEmpty)
    }

    @Test func aRefusalIsAnAnswerToo() throws {
        let node = Node()
        for number in 1...4 { node.accept(Sample.android(token: Sample.token(number))) }
        for _ in 1...3 { node.end(try #require(node.send()), .overloaded) }
        #expect(node.condition() != .open)
        node.pass(.seconds(1))
        node.end(try #require(node.send()), .refused(reason: "BadPath"))
        #expect(node.condition() == .open)
    }

    @Test func aGatewaysWishForAnAppIsObeyed() throws {
        let node = Node()
        node.accept(Sample.android())
        let wish = Deferral(reason: "ServiceUnavailable", scope: .host, retryAfter: .seconds(3600))
        node.end(try #require(node.send()), .deferred(wish))
        node.pass(.seconds(3599))
        #expect(node.send() == nil)
        node.pass(.seconds(1))
        #expect(node.send() != nil)
    }

    @Test func anAbsurdWishIsCutToADay() throws {
        let node = Node()
        for number in 1...3 { node.accept(Sample.android(token: Sample.token(number))) }
        let handles = (1...3).compactMap { _ in node.send() }
        for (handle, scope) in zip(handles, [Deferral.Scope.host, .app, .device]) {
            let wish = Deferral(reason: "r", scope: scope, retryAfter: .seconds(Int64.max))
            node.end(handle, .deferred(wish))
        }
        node.pass(.seconds(86400))
        let again = try #require(node.send())
        node.end(again, .accepted)
        #expect(([again.sequence] + node.sendAll()).sorted() == [1, 2, 3])
    }

    @Test func aBlockedGatewayKeepsItsQueueTellsTheOperatorAndTriesAgain() throws {
        let node = Node()
        for number in 1...3 { node.accept(Sample.android(token: Sample.token(number))) }
        for number in 1...3 {
            #expect(node.blockedReason() == nil)
            #expect(node.end(try #require(node.send()), .blocked(reason: "HTTP403")) == [:])
            #expect(node.pipeline.lanes[0].suspended.count == number)
        }
        #expect(node.blockedReason() == "HTTP403")
        guard case .lane(Node.android, let record?) = node.take().first else {
            return #expect(Bool(false))
        }
        #expect(record.block?.reason == "HTTP403")
        #expect(node.send() == nil)
        node.pass(.seconds(2))
        #expect(node.send() != nil)
        #expect(node.blockedReason() == "HTTP403")
        #expect(node.pipeline.waiting == 3)
    }

    /// Nobody else is there to fail: the operator hears of it when it has failed twice.
    @Test func theOnlyPhoneOfAnAppIsEnoughToTellTheOperator() throws {
        let node = Node()
        node.accept(Sample.android())
        node.end(try #require(node.send()), .blocked(reason: "HTTP403"))
        #expect(node.blockedReason() == nil)
        node.pass(.seconds(1))
        node.end(try #require(node.send()), .blocked(reason: "HTTP403"))
        #expect(node.blockedReason() == "HTTP403")
        #expect(node.condition() == .open, "a phone that comes now is tried at once")
        node.accept(Sample.android(token: Sample.token(2)))
        node.end(try #require(node.send()), .accepted)
        #expect(node.blockedReason() == nil)
    }

    /// What is read as the gateway's fault may be that of one notification: it must not stop the others.
    @Test(arguments: [Outcome.blocked(reason: "THIRD_PARTY_AUTH_ERROR"), .overloaded])
    func oneThatAloneFailsHoldsUpNoOthers(failure: Outcome) throws {
        let node = Node()
        for number in 1...2 { node.accept(Sample.android(token: Sample.token(number))) }
        node.end(try #require(node.send()), failure)
        node.end(try #require(node.send()), .accepted)
        // It may have been the gateway, which works now: it is tried again at once.
        let again = try #require(node.send())
        #expect(again.sequence == 1)
        _ = node.take()
        node.end(again, failure)
        // It waits by itself now, counted as its own attempt, and those that come meanwhile pass it.
        #expect(node.blockedReason() == nil && node.condition() == .open)
        guard case .postpone(sequence: 1, _, let notBefore)? = node.take().first else {
            return #expect(Bool(false))
        }
        #expect(notBefore > 0)
        node.accept(Sample.android(token: Sample.token(4)))
        let next = try #require(node.send())
        #expect(next.sequence == 3)
        node.end(next, .accepted)
        #expect(node.pipeline.waiting == 1)
        node.pass(.seconds(15 * 60))
        #expect(node.sendAll() == [1])
    }

    /// Senders hear what holds for their own notification.
    @Test func onlyTheSenderOfABlockedOneHearsOfIt() throws {
        let node = Node()
        var told: [(ReplyID, Receipt)] = []
        func take() {
            for case .tell(let id, let receipt, _) in node.takeEffects() { told.append((id, receipt)) }
        }
        var replies: [ReplyID] = []
        for number in 1...4 {
            let submitted = node.submit(Sample.android(token: Sample.token(number)), awaitsOutcome: true)
            guard case .storing(let reply, _) = submitted else { return #expect(Bool(false)) }
            replies.append(reply)
            node.begin()
            node.commit([.stored(sequence: node.number())])
        }
        var tried: [ReplyID] = []
        for _ in 1...3 {
            let handle = try #require(node.send())
            tried.append(replies[Int(handle.sequence) - 1])
            take()
            node.pipeline.attemptEnded(handle, .blocked(reason: "HTTP403"), at: node.now, using: &node.random)
        }
        take()
        #expect(node.blockedReason() == "HTTP403")
        #expect(told.map(\.0) == tried)
        #expect(told.allSatisfy { $0.1 == .held(reason: "HTTP403") })
        // Nor does who comes now, as long as it was not tried itself.
        _ = node.submit(Sample.android(token: Sample.token(5)), awaitsOutcome: true)
        node.begin()
        #expect(node.commit([.stored(sequence: node.number())]) == [.stored])
    }

    /// As congestion control does it.
    @Test func afterAFailureHalfAsManyAreOnTheirWay() throws {
        let node = Node()
        for number in 1...20 { node.accept(Sample.android(token: Sample.token(number))) }
        var handles: [Pipeline.Handle] = []
        for _ in 1...10 { handles.append(try #require(node.send())) }
        node.end(handles.removeLast(), .overloaded)
        #expect(node.condition() == .open)
        #expect(node.send() == nil)
    }

    /// Who tried in vain during an outage waits behind nobody once it is over.
    @Test func theOldestUrgentOneIsFirstAgainAfterAnOutage() throws {
        let node = Node()
        node.accept(Sample.android(token: Sample.token(1), isUrgent: true))
        for number in 2...12 { node.accept(Sample.android(token: Sample.token(number))) }
        for _ in 1...3 { node.end(try #require(node.send()), .overloaded) }
        #expect(node.condition() != .open)
        node.pass(.milliseconds(1000))
        var trials: [Pipeline.Handle] = []
        while let handle = node.send() { trials.append(handle) }
        let last = try #require(trials.last)
        trials.removeLast()
        for handle in trials { node.end(handle, .overloaded) }
        node.end(last, .accepted)
        #expect(node.condition() == .open)
        #expect(node.sendAll().first == (last.sequence == 1 ? 2 : 1))
    }

    /// What concerns an app pauses it at all of its hosts; what concerns a host leaves the others in peace.
    @Test(arguments: [(Deferral.Scope.host, [Int64(4)]), (.app, [])])
    func aDeferralReachesAsFarAsItsScope(scope: Deferral.Scope, sent: [Int64]) throws {
        let node = Node()
        var sandbox = Sample.ios()
        sandbox.platform = .iosDev
        for number in 1...3 {
            node.accept(Sample.ios(token: "\(number)\(number)" + Sample.iosToken.dropFirst(2)))
        }
        node.accept(sandbox)
        for _ in 1...3 {
            let one = try #require(node.send(Node.ios))
            node.end(one, .deferred(Deferral(reason: "r", scope: scope, retryAfter: .seconds(60))))
        }
        #expect(node.send(Node.ios) == nil)
        #expect(node.sendAll(LaneID(app: "ios", host: .sandbox)) == sent)
    }

    /// Firebase's quota is of a project or of one device: the first alone waits, and with the second all do.
    @Test func twoDevicesAreEnoughWhereTheGatewaySaysSo() throws {
        let node = Node()
        for number in 1...3 { node.accept(Sample.android(token: Sample.token(number))) }
        let quota = Deferral(reason: "QUOTA_EXCEEDED", scope: .host, retryAfter: .seconds(60), witnesses: 2)
        node.end(try #require(node.send()), .deferred(quota))
        #expect(node.condition() == .open)
        node.end(try #require(node.send()), .deferred(quota))
        #expect(node.send() == nil)
        node.pass(.seconds(60))
        #expect(node.sendAll().sorted() == [1, 2, 3])
    }

    @Test func newCredentialsAreTriedAtOnce() throws {
        let node = Node()
        for number in 1...4 { node.accept(Sample.android(token: Sample.token(number))) }
        for _ in 1...3 { node.end(try #require(node.send()), .blocked(reason: "InvalidProviderToken")) }
        #expect(node.send() == nil)
        node.pipeline.resume(Node.android, at: node.now)
        let trial = try #require(node.send())
        node.end(trial, .accepted)
        #expect(node.blockedReason() == nil)
        #expect(([trial.sequence] + node.sendAll()).sorted() == [1, 2, 3, 4])
    }

    /// A connection that goes away gives back what it had: sent again at once, not counted, but not for ever.
    @Test func whatComesBackUnharmedIsSentAgainAtOnceUpToEightTimes() throws {
        let node = Node()
        node.accept(Sample.android())
        for _ in 1...8 {
            node.end(try #require(node.send()), .goneAway)
            #expect(node.condition() == .open)
            #expect(node.take() == [])
        }
        node.end(try #require(node.send()), .goneAway)
        #expect(node.take() == [.postpone(sequence: 1, attempts: 1, notBefore: 0)])
        #expect(node.send() == nil)
        node.pass(.seconds(1))
        node.end(try #require(node.send()), .goneAway)
        #expect(node.take() == [])
    }
}
