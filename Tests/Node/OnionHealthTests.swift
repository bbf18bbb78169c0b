import Clocks
import Doors
import Overview
import Testing
import Tor

@testable import Node

/// What `/healthz` says of tor and the onion service.
@Suite struct OnionHealthTests {
    private let now: UnixTime = 1_790_000_000_000
    private let instant: MonotonicTime = 7_000_000_000_000

    /// All was seen just now, unless it is changed.
    private func checks(
        _ state: OnionState, isCutOff: Bool = false, interval: Duration = .seconds(300),
        _ change: (inout TorFigures) -> Void = { _ in }
    ) -> [String: ManagementDoor.Check] {
        var figures = TorFigures()
        figures.isConnected = true
        figures.version = "0.4.9.11"
        figures.lastAnswer = instant
        figures.lastSign = instant
        figures.selfDial.lastSuccessInstant = instant
        change(&figures)
        let health = OnionHealth(
            state: state, figures: figures, isCutOff: isCutOff,
            times: .init(
                interval: interval, call: .seconds(30), upload: .seconds(180), heartbeat: .seconds(20)),
            begun: 0, instant: instant, now: now, clockOffset: 0)
        return Dictionary(uniqueKeysWithValues: health.checks.map { ($0.name, $0) })
    }

    private var published: OnionState { .published(uploads: 10, since: now.milliseconds) }

    @Test func allIsWellWhenTheOwnAddressAnswers() {
        let checks = checks(published) {
            $0.introductionPoints = 6
            $0.lastClient = now - .milliseconds(12_345)
            $0.selfDial.lastSuccess = now - .milliseconds(2_000)
        }
        #expect(checks.filter { !$0.value.isWell }.isEmpty)
        #expect(checks["onion"]?.state.hasSuffix(", 6 introduction points, last client 12 s ago") == true)
        #expect(checks["self_dial"]?.state == "the node's own address answered 2 s ago")
        #expect(checks.allSatisfy { $0.value.advice == nil })
        #expect(checks["tor"]?.state == "tor 0.4.9.11")
    }

    @Test func publishedAndCutOffIsNotWell() {
        let checks = checks(published, isCutOff: true) {
            $0.selfDial.failuresInARow = 2
            $0.selfDial.lastFailure = "port 9999: no answer through the SOCKS proxy in time"
            $0.selfDial.lastSuccess = now - .milliseconds(400_000)
        }
        #expect(checks["onion"]?.isWell == false)
        #expect(checks["self_dial"]?.isWell == false)
        #expect(
            checks["self_dial"]?.state
                == "the last 2 calls to the node's own address failed: port 9999: no answer through the SOCKS proxy in time; it answered 400 s ago"
        )
    }

    /// Tor said long ago that it had an introduction point: as long as an upload may take nobody can tell, then nobody comes.
    @Test(arguments: [(90, Check.Level.ok), (91, .warning), (180, .warning), (181, .failing)])
    func withoutACircuitOrAnIntroductionPointNobodyComes(seconds: Int, level: Check.Level) {
        let check = checks(published) { $0.lastSign = instant - .seconds(seconds) }["onion"]
        #expect(check?.level == level)
        #expect(check?.state.hasPrefix("not known since") == (level != .ok))
    }

    @Test(arguments: [(90, Check.Level.ok), (91, .warning), (180, .warning), (181, .failing)])
    func aTorThatDoesNotAnswerIsNotKnown(seconds: Int, level: Check.Level) {
        #expect(checks(published) { $0.lastAnswer = instant - .seconds(seconds) }["tor"]?.level == level)
    }

    @Test(arguments: [(720, Check.Level.ok), (721, .warning), (1440, .warning), (1441, .failing)])
    func anAnswerOfLongAgoIsNoAnswer(seconds: Int, level: Check.Level) {
        let checks = checks(published) {
            $0.selfDial.lastSuccessInstant = instant - .seconds(seconds)
            $0.selfDial.front = FrontFigures()
            $0.selfDial.front?.lastSuccessInstant = instant - .seconds(seconds * 2)
        }
        #expect(checks["self_dial"]?.level == level)
        #expect(
            checks["front"]?.level == .some(seconds % 720 == 0 ? level : seconds == 721 ? .warning : .failing)
        )
    }

    /// A call that nobody can make says nothing, and that is not well.
    @Test func aSelfDialThatCanNotDialIsAWarning() {
        let check = checks(published) { $0.selfDial.hasNoWay = true }["self_dial"]
        #expect(check?.level == .warning && check?.state.contains("can't call") == true)
        #expect(
            checks(published, isCutOff: true) { $0.selfDial.hasNoWay = true }["self_dial"]?.level == .failing)
    }

    @Test func aTorWithoutACircuitOrANetworkIsAWarning() {
        #expect(checks(published) { $0.hasCircuit = false }["tor"]?.level == .warning)
        #expect(checks(published) { $0.isNetworkLive = false }["tor"]?.level == .warning)
    }

    @Test func publishedOnAConnectionThatIsGoneIsNotWell() {
        #expect(checks(published) { $0.isConnected = false }["onion"]?.isWell == false)
    }

    @Test func oneFailedCallIsToldAndIsNoAlarmYet() {
        let check = checks(published) {
            $0.selfDial.failuresInARow = 1
            $0.selfDial.lastFailure = "x"
        }["self_dial"]
        #expect(check?.isWell == true)
        #expect(check?.state == "the last call to the node's own address failed: x")
    }

    @Test func aKeyInUseElsewhereIsAnAlarm() {
        let check = checks(published) { $0.selfDial.isAnsweredByAnother = true }["self_dial"]
        #expect(check?.isWell == false)
        #expect(check?.state.contains("another node") == true)
    }

    @Test func theAddressBeforeTheNodeIsToldIfThereIsOne() {
        #expect(checks(published)["front"] == nil)
        var front = FrontFigures()
        front.lastSuccess = now - .milliseconds(3_000)
        front.lastSuccessInstant = instant
        let well = checks(published) { $0.selfDial.front = front }
        #expect(well["front"]?.isWell == true)
        #expect(well["front"]?.state == "the address that clients use answered 3 s ago")
        front.failuresInARow = 2
        front.isFailing = true
        front.lastFailure = "x"
        let failing = checks(published) { $0.selfDial.front = front }
        #expect(failing["front"]?.isWell == false)
        #expect(
            failing["front"]?.state
                == "the last 2 calls to the address that clients use failed: x; it answered 3 s ago")
        #expect(failing["self_dial"]?.isWell == true && failing["onion"]?.isWell == true)
    }

    @Test func notPublishedIsNotWellWhateverWasAnsweredBefore() {
        let checks = checks(.publishing) { $0.selfDial.lastSuccess = now }
        #expect(checks["onion"]?.isWell == false)
        #expect(checks["self_dial"]?.isWell == true)
    }

    @Test func callsThatAreOffAreSaidToBe() {
        #expect(checks(published, interval: .zero)["self_dial"]?.state == "off")
    }

    @Test(arguments: [(60, true), (61, false), (-60, true), (-61, false)])
    func aWrongClockIsAnAlarm(skew: Int, isWell: Bool) {
        let check = checks(published) { $0.clockSkew = ClockSkew(reported: skew, offset: 0) }["tor"]
        #expect(check?.isWell == isWell)
        #expect(check?.state.contains(skew > 0 ? "61 s ahead" : "61 s behind") == !isWell)
    }

    @Test func whoeverHasJustStartedIsToldToWait() {
        let check = checks(.bootstrapping(progress: 10, summary: "x"))["onion"]
        #expect(check?.isWell == false)
        #expect(check?.advice?.contains("a minute or two") == true)
    }

    /// What was known of a tor that is gone says nothing.
    @Test(arguments: [
        (true, "tor is connected, bootstrap 10 %, network dead, no circuit"), (false, "not connected"),
    ])
    func whatTorSaysOfItsNetworkIsShown(isConnected: Bool, state: String) {
        let check = checks(.bootstrapping(progress: 10, summary: "x")) {
            $0.isConnected = isConnected
            $0.version = nil
            $0.isNetworkLive = false
            $0.hasCircuit = false
            $0.bootstrap = Bootstrap(progress: 10, tag: "conn_done", summary: "x")
        }["tor"]
        #expect(check?.isWell == isConnected)
        #expect(check?.state == state)
    }
}
