import Clocks
import Testing
import Vectors

@testable import Relay

/// What goes out before it is stored.
@Suite struct PipelineAtOnceTests {
    private static let window: Duration = .milliseconds(250)

    private static func node() -> Node {
        let node = Node(writeBehind: window)
        _ = node.pipeline.add(Node.android)
        return node
    }

    private static func patient(
        _ uid: String, token: String = Sample.androidToken, _ patience: Patience = .full
    )
        -> Submission
    {
        var submission = Sample.android(uid, token: token)
        submission.patience = patience
        return submission
    }

    /// Submits and sends.
    private static func send(_ submission: Submission, by node: Node) -> Pipeline.Handle? {
        guard case .storing = node.submit(submission, awaitsOutcome: true) else { return nil }
        return node.send()
    }

    private static func told(_ effects: [Effect]) -> [Receipt] {
        effects.compactMap { if case .tell(_, let receipt, _) = $0 { receipt } else { nil } }
    }

    private static func answer(_ handle: Pipeline.Handle, _ outcome: Outcome, by node: Node) -> [Receipt] {
        _ = node.takeEffects()
        node.pipeline.attemptEnded(handle, outcome, at: node.now, using: &node.random)
        return told(node.takeEffects())
    }

    @Test func whatIsDeliveredInTimeIsToldAtOnceAndItsIdentityIsWrittenLater() throws {
        let node = Self.node()
        let handle = try #require(Self.send(Self.patient("u1"), by: node))
        #expect(node.begin() == [])
        #expect(Self.answer(handle, .accepted, by: node) == [.ended(.delivered)])
        #expect(node.begin() == [])
        node.pass(Pipeline.longestUnwritten)
        node.pipeline.wake(at: node.now, clockOffset: 0)
        let written = node.take().contains { if case .remember = $0 { true } else { false } }
        #expect(written)
        #expect(node.stores.isEmpty)
        #expect(node.pipeline.waiting == 0)
        #expect(node.pipeline.bodyBytes == 0)
    }

    /// The last moment that is in time, and the first that is not.
    @Test(arguments: [(Patience.full, 250), (.short, 100)])
    func whatHasNoAnswerInTheWindowIsStored(patience: Patience, milliseconds: Int) throws {
        let node = Self.node()
        let handle = try #require(Self.send(Self.patient("u1", patience), by: node))
        node.pass(.milliseconds(milliseconds) - .nanoseconds(1))
        node.pipeline.wake(at: node.now, clockOffset: 0)
        #expect(node.begin() == [])
        node.pass(.nanoseconds(1))
        node.pipeline.wake(at: node.now, clockOffset: 0)
        #expect(node.begin().count == 1)
        #expect(node.commit([.stored(sequence: 1)]) == [.stored])
        // The gateway answers under the number that it was given.
        #expect(Self.answer(handle, .accepted, by: node) == [])
        #expect(node.begin() == [.finish(sequence: 1, .delivered)])
        #expect(node.commit() == [.ended(.delivered)])
    }

    @Test func anAnswerThatComesWhileItIsStoredIsToldWhenThatIsWrittenDown() throws {
        let node = Self.node()
        let handle = try #require(Self.send(Self.patient("u1"), by: node))
        node.pass(Self.window)
        node.pipeline.wake(at: node.now, clockOffset: 0)
        node.begin()
        #expect(Self.answer(handle, .accepted, by: node) == [])
        #expect(node.commit([.stored(sequence: 1)]) == [])
        #expect(node.begin() == [.finish(sequence: 1, .delivered)])
        #expect(node.commit() == [.ended(.delivered)])
    }

    @Test func whatIsRefusedOrPutOffIsStoredFirst() throws {
        let node = Self.node()
        let refused = try #require(Self.send(Self.patient("u1"), by: node))
        #expect(Self.answer(refused, .refused(reason: "BadPath"), by: node) == [])
        #expect(node.begin().count == 1)
        #expect(node.commit([.stored(sequence: 1)]) == [.stored])
        #expect(node.begin() == [.finish(sequence: 1, .refused(reason: .gateway("BadPath")))])
        #expect(node.commit() == [.ended(.refused(reason: .gateway("BadPath")))])

        let putOff = try #require(Self.send(Self.patient("u2", token: Sample.token(2)), by: node))
        #expect(Self.answer(putOff, .tooMany, by: node) == [])
        node.begin()
        #expect(node.commit([.stored(sequence: 2)]) == [.stored])
        let postpones = node.begin().contains {
            if case .postpone(2, attempts: 1, notBefore: _) = $0 { true } else { false }
        }
        #expect(postpones)
        node.commit()
        // It is sent again under the outbox's number.
        node.pass(.seconds(60))
        #expect(node.send()?.sequence == 2)
    }

    @Test func aRepetitionAndAllElseOfTheDeviceGoAfterItIntoTheOutbox() throws {
        let node = Self.node()
        let handle = try #require(Self.send(Self.patient("u1"), by: node))
        _ = node.submit(Self.patient("u1"), awaitsOutcome: true)
        let stores = node.begin().compactMap { if case .store(let request) = $0 { request } else { nil } }
        #expect(stores.count == 2)
        #expect(stores.first?.digests == stores.last?.digests)
        #expect(node.commit([.stored(sequence: 1), .alreadyWaiting(sequence: 1)]) == [.stored, .stored])
        #expect(Self.answer(handle, .accepted, by: node) == [])
        node.begin()
        #expect(node.commit() == [.ended(.delivered), .ended(.delivered)])
    }

    @Test func aRepetitionOfWhatWasDeliveredIsStoredFirstAndAfterTheIdentity() throws {
        let node = Self.node()
        let handle = try #require(Self.send(Self.patient("u1"), by: node))
        _ = Self.answer(handle, .accepted, by: node)
        guard case .storing(_, let id) = node.submit(Self.patient("u1"), awaitsOutcome: true) else {
            Issue.record("it is not looked up")
            return
        }
        #expect(node.pipeline.state(of: id) == .ended(.delivered))
        #expect(node.send() == nil)
        guard case .remember? = node.begin().first else {
            Issue.record("the identity does not come first")
            return
        }
        #expect(node.commit([.alreadyEnded(.delivered)]) == [.ended(.delivered)])
    }

    @Test func onlyWhoAwaitsTheOutcomeIsPatient() {
        let node = Self.node()
        _ = node.submit(Self.patient("u1"), awaitsOutcome: false)
        #expect(node.begin().count == 1)
        node.commit([.stored(sequence: 1)])
        _ = node.submit(Self.patient("u2", token: Sample.token(2), .none), awaitsOutcome: true)
        #expect(node.begin().count == 1)
    }

    @Test func withoutAGatewayOrBehindOthersItIsStoredFirst() {
        let node = Node(writeBehind: Self.window)
        _ = node.submit(Self.patient("u1"), awaitsOutcome: true)
        #expect(node.begin().count == 1)
        node.commit([.stored(sequence: 1)])
        _ = node.pipeline.add(Node.android)
        // The first still waits.
        _ = node.submit(Self.patient("u2"), awaitsOutcome: true)
        #expect(node.begin().count == 1)
    }

    @Test func aLaneThatMissesItsWindowsIsNotTriedSo() throws {
        let node = Self.node()
        _ = try #require(Self.send(Self.patient("u1"), by: node))
        node.pass(Self.window)
        node.pipeline.wake(at: node.now, clockOffset: 0)
        node.begin()
        node.commit([.stored(sequence: 1)])
        _ = node.submit(Self.patient("u9", token: Sample.token(9)), awaitsOutcome: true)
        #expect(node.begin().count == 1)
    }

    @Test func aStopStoresWhatIsOut() throws {
        let node = Self.node()
        _ = try #require(Self.send(Self.patient("u1"), by: node))
        node.pipeline.stop(at: node.now, deadline: node.now.monotonic + .seconds(1))
        #expect(node.begin().count == 1)
        #expect(node.commit([.stored(sequence: 1)]) == [.stored])
    }

    @Test func aDiskThatFailsIsTriedAgainWhileTheGatewayIsSilent() throws {
        let node = Self.node()
        let handle = try #require(Self.send(Self.patient("u1"), by: node))
        node.pass(Self.window)
        node.pipeline.wake(at: node.now, clockOffset: 0)
        node.begin()
        _ = node.takeEffects()
        node.pipeline.commitFailed(.full, at: node.now)
        #expect(Self.told(node.takeEffects()) == [])
        node.pass(Pipeline.retryCommit)
        node.pipeline.wake(at: node.now, clockOffset: 0)
        #expect(node.begin().count == 2)
        // The truth is told though the disk has not got it.
        #expect(Self.answer(handle, .accepted, by: node) == [])
        node.pipeline.commitFailed(.full, at: node.now)
        #expect(Self.told(node.takeEffects()) == [.ended(.delivered)])
        #expect(node.pipeline.waiting == 0)
    }

    /// Whoever takes half of what may be out and not stored leaves the other half, and each that comes then a share of it.
    @Test func aSenderThatHasMuchOutLeavesRoomForOthers() {
        func isSentFirst(_ number: Int, from sender: SenderID?, by node: Node) -> Bool {
            var submission = Self.patient("u\(number)", token: Sample.token(number))
            submission.sender = sender
            _ = node.submit(submission, awaitsOutcome: true)
            guard !node.begin().isEmpty else { return true }
            node.commit([.stored(sequence: node.number())])
            return false
        }
        func fill(_ size: Int, from sender: SenderID?, of node: Node) {
            let one = Unstored.One(
                digests: SubmissionDigests(
                    token: Sample.digest("t"), identity: Sample.digest("i"), content: Sample.digest("c")),
                sender: sender, patience: .full, door: 0, reply: ReplyID(index: 0))
            _ = node.pipeline.unstored.nextNumber()
            node.pipeline.unstored.add(one, size: size, slot: 0, dueAt: .max)
        }
        let node = Self.node()
        let (flooder, other) = (SenderID(1), SenderID(2))
        fill(Unstored.mostBytes / 2, from: flooder, of: node)
        #expect(!isSentFirst(1, from: flooder, by: node))
        #expect(isSentFirst(2, from: other, by: node))
        #expect(isSentFirst(3, from: nil, by: node))
        // Two senders have a third each, at most: more than that is stored first.
        fill(Unstored.mostBytes / 4, from: other, of: node)
        #expect(!isSentFirst(4, from: other, by: node))
        #expect(isSentFirst(5, from: SenderID(3), by: node))
    }

    @Test func theFilterForgetsNothingAndTakesFewForKnown() {
        var filter = IdentityFilter()
        var random = SeededRandom(state: 7)
        let digests = (0..<20_000).map { _ in Digest(high: random.next(), low: random.next()) }
        for digest in digests { filter.insert(digest, acceptedAt: 1) }
        #expect(digests.allSatisfy { filter.mayHold($0) })
        let others = (0..<20_000).count { _ in filter.mayHold(Digest(high: random.next(), low: random.next()))
        }
        #expect(others < 80)
    }

    /// A part of it goes by its own times, whatever came before it.
    @Test func oneTimeOfAClockThatWasAheadKeepsNoOtherPart() {
        var filter = IdentityFilter()
        var random = SeededRandom(state: 7)
        func insert(_ count: Int, acceptedAt: UnixTime) -> [Digest] {
            (0..<count).map { _ in
                let digest = Digest(high: random.next(), low: random.next())
                filter.insert(digest, acceptedAt: acceptedAt)
                return digest
            }
        }
        func held(_ digests: [Digest]) -> Int { digests.count { filter.mayHold($0) } }
        // The first two parts are full.
        let ahead = insert(1, acceptedAt: 1_000_000)
        let first = insert(4095, acceptedAt: 1)
        let second = insert(8192, acceptedAt: 1)
        let last = insert(10, acceptedAt: 100)
        filter.forget(acceptedBefore: 50, latest: 200)
        #expect(held(second) < 80)
        #expect(held(ahead + first + last) == 4106)
        // What was ahead counts from when that was seen.
        filter.forget(acceptedBefore: 200, latest: 400)
        #expect(held(first) == 4095)
        filter.forget(acceptedBefore: 201, latest: 401)
        #expect(held(ahead + first) < 80)
        #expect(held(last) == 10)
    }
}
