import Clocks
import Testing
import Vectors

@testable import Tor

@Suite struct MendingTests {

    @Test func ourOwnTorIsStartedAnewAfterPublishingInVainAndThenEverRarer() {
        var mending = Mending(ownsTor: true, firstPause: .seconds(300))
        #expect(mending.next(at: 0, isTorAmiss: false) == .publishAgain)
        #expect(mending.next(at: .second(1), isTorAmiss: false) == .restartTor)
        var restarts: [Int64] = []
        for now in 2..<(6 * 3600)
        where mending.next(at: .second(now), isTorAmiss: false) == .restartTor {
            restarts.append(Int64(now))
        }
        #expect(restarts == [301, 901, 2101, 4501, 8101, 11701, 15301, 18901])
    }

    @Test func theSystemsTorIsNeverStartedAnew() {
        var mending = Mending(ownsTor: false, firstPause: .seconds(300))
        for now in 0..<(24 * 3600) {
            #expect(mending.next(at: .second(now), isTorAmiss: now.isMultiple(of: 2)) != .restartTor)
        }
    }

    @Test func whereOurOwnTorItselfIsAmissItIsStartedAnewAtOnceAndThenAsEver() {
        var mending = Mending(ownsTor: true, firstPause: .seconds(300))
        #expect(mending.next(at: 0, isTorAmiss: true) == .restartTor)
        #expect(mending.next(at: .second(299), isTorAmiss: true) == nil)
        #expect(mending.next(at: .second(300), isTorAmiss: true) == .restartTor)
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
