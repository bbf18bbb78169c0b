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
}
