import Terminal
import Testing
import Wire

@testable import Onionbell
@testable import Terminal

/// What a watch makes of a node's answers.
@Suite struct WatchTests {
    private func response(
        _ status: MobileNotificationResponse.Status, _ reason: String = ""
    ) -> MobileNotificationResponse {
        MobileNotificationResponse(requestUid: "u", status: status, reason: reason)
    }

    @Test(arguments: ["BadDeviceToken", "INVALID_ARGUMENT", "UNREGISTERED", "HTTP400"])
    func theGatewaysWordForNobodysTokenIsWell(word: String) {
        let result = WatchResult.judge(receipt: response(.stored), outcome: response(.refused, word))
        #expect(result.verdict == .well)
        #expect(result.exitStatus == 0)
    }

    @Test func theNodesOwnRefusalIsNot() {
        // The same word, and nothing was stored: the gateway was never asked.
        let result = WatchResult.judge(receipt: response(.refused, "BadDeviceToken"), outcome: nil)
        #expect(result.verdict == .failing)
        #expect(result.exitStatus == 1)
    }

    @Test func neitherIsAnythingElse() {
        for outcome in [nil, response(.expired, "Expired"), response(.refused, "PayloadTooLarge")] {
            #expect(WatchResult.judge(receipt: response(.stored), outcome: outcome).verdict == .failing)
        }
        #expect(WatchResult.judge(receipt: response(.busy, "Busy"), outcome: nil).exitStatus == 75)
    }

    @Test func anAlarmTakesSeveralFailuresAndEndsWithTheFirstSuccess() {
        var state = WatchState(failuresToAlarm: 2)
        func news(_ verdicts: [Bool]) -> [Bool] { verdicts.map { state.note(isWell: $0) } }
        #expect(news([true, true, false, true]) == [false, false, false, false])
        #expect(news([false, false, false]) == [false, true, false])
        #expect(news([true, true]) == [true, false])
    }

    @Test func aNodeThatNeverWorkedIsNews() {
        var state = WatchState(failuresToAlarm: 1)
        let news = state.note(isWell: false)
        #expect(news)
    }

    @Test func spansOfTimeHaveAUnitOrAreSeconds() {
        #expect(TimeSpan(argument: "5")?.duration == .seconds(5))
        #expect(TimeSpan(argument: "30s")?.duration == .seconds(30))
        #expect(TimeSpan(argument: "5m")?.duration == .seconds(300))
        #expect(TimeSpan(argument: "2h")?.duration == .seconds(7200))
        for other in ["", "m", "0", "0s", "-1s", "1d", "1.5h"] {
            #expect(TimeSpan(argument: other) == nil)
        }
    }
}
