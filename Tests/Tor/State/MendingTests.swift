import Testing

@testable import Tor

@Suite struct MendingTests {
    private let second: Int64 = 1_000_000_000

    @Test func ourOwnTorIsStartedAnewAfterPublishingInVainAndThenEverRarer() {
        var mending = Mending(ownsTor: true, firstPause: .seconds(300))
        #expect(mending.next(at: 0, isTorAmiss: false) == .publishAgain)
        #expect(mending.next(at: 1 * second, isTorAmiss: false) == .restartTor)
        var restarts: [Int64] = []
        for now in 2..<(6 * 3600)
        where mending.next(at: Int64(now) * second, isTorAmiss: false) == .restartTor {
            restarts.append(Int64(now))
        }
        #expect(restarts == [301, 901, 2101, 4501, 8101, 11701, 15301, 18901])
    }

    @Test func theSystemsTorIsNeverStartedAnew() {
        var mending = Mending(ownsTor: false, firstPause: .seconds(300))
        for now in 0..<(24 * 3600) {
            #expect(mending.next(at: Int64(now) * second, isTorAmiss: now.isMultiple(of: 2)) != .restartTor)
        }
    }

    @Test func whereOurOwnTorItselfIsAmissItIsStartedAnewAtOnceAndThenAsEver() {
        var mending = Mending(ownsTor: true, firstPause: .seconds(300))
        #expect(mending.next(at: 0, isTorAmiss: true) == .restartTor)
        #expect(mending.next(at: 299 * second, isTorAmiss: true) == nil)
        #expect(mending.next(at: 300 * second, isTorAmiss: true) == .restartTor)
    }

    @Test func aSuccessBeginsFromTheFirstStep() {
        var mending = Mending(ownsTor: true, firstPause: .seconds(300))
        _ = mending.next(at: 0, isTorAmiss: false)
        _ = mending.next(at: 0, isTorAmiss: false)
        #expect(mending.next(at: 0, isTorAmiss: false) == nil)
        mending.succeeded()
        #expect(mending.next(at: 0, isTorAmiss: false) == .publishAgain)
    }
}
