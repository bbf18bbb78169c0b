import Clocks
import Testing

@testable import Relay

@Suite struct CommitPaceTests {
    @Test func theFirstCommitBeginsAtOnce() {
        #expect(CommitPace().rest(at: 5) == nil)
    }

    @Test func theNextOneRestsForAsLongAsTheLastTook() {
        var pace = CommitPace()
        pace.ended(begunAt: 1_000, at: 401_000)
        #expect(pace.rest(at: 401_000) == .nanoseconds(400_000))
        #expect(pace.rest(at: 800_999) == .nanoseconds(1))
        #expect(pace.rest(at: 801_000) == nil)
    }

    @Test func noRestIsLongerThanTwoMilliseconds() {
        var pace = CommitPace()
        pace.ended(begunAt: 0, at: 2_000_000)
        #expect(pace.rest(at: 2_000_000) == .milliseconds(2))
        pace.ended(begunAt: 0, at: 900_000_000)
        #expect(pace.rest(at: 900_000_000) == .milliseconds(2))
        #expect(pace.rest(at: 902_000_000) == nil)
    }

    // MARK: Ends that nobody awaits

    /// The first is written at once: a node that is killed a moment later sends it to nobody again.
    @Test func endsThatFollowOneAnotherGather() {
        var commits = Commits(mostLookups: 10)
        func end(_ sequence: Int64, at time: MonotonicTime) -> Bool {
            commits.append(.finish(sequence: sequence, .delivered))
            return commits.schedule(at: time, isStopping: false)
        }
        let first = end(1, at: 0)
        #expect(first)
        _ = commits.begin(at: 0)
        let commit = commits.committed().commit
        #expect(!commit.isAwaited)
        commits.rest(after: commit, at: 100)
        let second = end(2, at: 5_000)
        #expect(!second)
        #expect(commits.wakeAt == MonotonicTime(nanoseconds: 100) + CommitPace.gathering)
        // Whatever somebody waits for takes it along at once.
        commits.append(.buryToken(Digest(high: 1, low: 2), DeadToken(since: 5, buriedAt: 6)))
        let third = commits.schedule(at: 6_000, isStopping: false)
        #expect(third)
        let taken = commits.begin(at: 6_000)
        #expect(taken?.count == 2)
        #expect(commits.running?.isAwaited == true)
    }

    // MARK: Where nodes share a store

    /// Ends gather; what a sender waits for takes them along at once.
    @Test func endsGatherUntilSomethingIsStored() {
        var commits = Commits(mostLookups: 10)
        commits.share(true)
        commits.append(.finish(sequence: 1, .delivered))
        let first = commits.schedule(at: 100, isStopping: false)
        #expect(!first)
        commits.append(.finish(sequence: 2, .delivered))
        let second = commits.schedule(at: 200, isStopping: false)
        #expect(!second)
        #expect(commits.wakeAt == MonotonicTime(nanoseconds: 100) + CommitPace.gathering)
        let digest = Digest(high: 1, low: 2)
        commits.lookUp(
            SubmissionDigests(token: digest, identity: digest, content: digest),
            for: Pipeline.Ticket(
                purpose: .lookUp(refusal: .refused(.busy)), door: 0, submittedAt: 300,
                awaitsOutcome: false, reply: ReplyID(index: 1)))
        let third = commits.schedule(at: 300, isStopping: false)
        #expect(third)
        let taken = commits.begin(at: 300)
        #expect(taken?.count == 3)
    }

    private func store(_ destination: StoreRequest.Destination, in commits: inout Commits) {
        let submission = Sample.android()
        let recipient = Recipient(lane: Node.android, deviceToken: submission.deviceToken)
        let digests = Sample.digests(submission, to: recipient)
        let notification = Notification(
            id: NotificationID(digests), lane: Node.android, deviceToken: submission.deviceToken,
            content: submission.content, expiresAt: 2, acceptedAt: 1)
        commits.store(
            StoreRequest(notification: notification, digests: digests, destination: destination),
            for: Pipeline.Ticket(
                purpose: .store(0), door: 0, submittedAt: 300, awaitsOutcome: false,
                reply: ReplyID(index: 1)))
    }

    /// Its owner looks every 50 ms.
    @Test func whatAnotherNodeSendsGathersUntilSomethingOwnIsStored() {
        var commits = Commits(mostLookups: 10)
        commits.share(true)
        store(.elsewhere(room: 64), in: &commits)
        let first = commits.schedule(at: 100, isStopping: false)
        #expect(!first)
        #expect(commits.wakeAt == MonotonicTime(nanoseconds: 100) + CommitPace.gathering)
        store(.window, in: &commits)
        let second = commits.schedule(at: 200, isStopping: false)
        #expect(second)
        let taken = commits.begin(at: 200)
        #expect(taken?.count == 2)
        // The next commit is as patient as the first.
        _ = commits.committed()
        store(.elsewhere(room: 64), in: &commits)
        let third = commits.schedule(at: 300, isStopping: false)
        #expect(!third)
    }

    @Test func endsOfOneNodeAreWrittenAtOnce() {
        var commits = Commits(mostLookups: 10)
        commits.append(.finish(sequence: 1, .delivered))
        let isAsked = commits.schedule(at: 100, isStopping: false)
        #expect(isAsked)
    }

    @Test func aNodeThatStopsGathersNothing() {
        var commits = Commits(mostLookups: 10)
        commits.share(true)
        commits.append(.finish(sequence: 1, .delivered))
        let isAsked = commits.schedule(at: 100, isStopping: true)
        #expect(isAsked)
    }
}
