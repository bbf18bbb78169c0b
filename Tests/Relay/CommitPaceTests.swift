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
        #expect(commits.wakeAt == 100 + CommitPace.gathering.nanoseconds)
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
