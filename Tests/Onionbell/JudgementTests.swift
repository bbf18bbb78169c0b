import Gateways
import Terminal
import Testing
import Tor

@testable import Onionbell

/// What the doctor makes of what it sees.
@Suite struct JudgementTests {
    private let mebibyte: Int64 = 1 << 20

    /// What was not looked at is not called well.
    @Test func anAnswerOfSomethingElseIsNoNodes() {
        for status in [200, 404, 405] { #expect(Judgement.rootAnswer(status, at: 80).verdict == .pass) }
        for status in [301, 502] { #expect(Judgement.rootAnswer(status, at: 80).verdict == .warn) }
        #expect(Judgement.privateAddress(1, isSelfDialWell: true).verdict == .pass)
        #expect(Judgement.privateAddress(1, isSelfDialWell: false).verdict == .warn)
    }

    @Test func aDiskIsJudgedByWhatTheOutboxMayHold() {
        func verdict(_ free: Int64) -> Finding.Verdict {
            Judgement.disk("/state", free: free * mebibyte, wanted: 256 * mebibyte).verdict
        }
        #expect(verdict(63) == .fail)
        #expect(verdict(64) == .warn)
        #expect(verdict(767) == .warn)
        #expect(verdict(768) == .pass)
    }

    @Test func aStateDirectoryIsWritableAndTheNodesOwnWithAllThatIsInIt() {
        #expect(Judgement.state("/state", isReadOnly: false, foreign: []).verdict == .pass)
        #expect(Judgement.state("/state", isReadOnly: true, foreign: []).verdict == .fail)
        let foreign = Judgement.state("/state", isReadOnly: false, foreign: ["lock", "peers"])
        #expect(foreign.verdict == .fail)
        #expect(foreign.words == "/state/lock belongs to another user than /state")
    }

    @Test func tooFewFilesAreAWarning() {
        #expect(Judgement.files(limit: 100, wanted: 100, isOfNode: true).verdict == .pass)
        #expect(Judgement.files(limit: 99, wanted: 100, isOfNode: true).verdict == .warn)
    }

    @Test func aCertificateWarnsAMonthAheadAndFailsInItsLastWeek() {
        let day: Int64 = 86_400
        func verdict(_ left: Int64) -> Finding.Verdict {
            Judgement.certificate("app", end: 1000 * day + left, now: 1000 * day).verdict
        }
        #expect(verdict(30 * day) == .pass)
        #expect(verdict(30 * day - 1) == .warn)
        #expect(verdict(7 * day) == .warn)
        #expect(verdict(7 * day - 1) == .fail)
        #expect(verdict(0) == .fail)
    }

    @Test(arguments: [
        (GatewayProbe.Finding.taken("BadDeviceToken"), ["pass a.tls", "pass a.credentials"]),
        (.refused(reason: "InvalidProviderToken"), ["pass a.tls", "fail a.credentials"]),
        (.unclear(reason: "HTTP503"), ["pass a.tls", "warn a.credentials"]),
        (.untrusted(reason: "x"), ["fail a.tls"]), (.unreachable(reason: "x"), ["fail a.tls"]),
    ])
    func aGatewaysAnswerTellsOfTLSAndCredentials(finding: GatewayProbe.Finding, expected: [String]) {
        let findings = Judgement.gateway("a", host: "host", finding, advice: APNsApp.advice)
        #expect(findings.map { "\($0.verdict.rawValue) \($0.check)" } == expected)
        #expect(findings.allSatisfy { ($0.verdict == .pass) == ($0.advice == nil) })
    }

    /// A token of ntfy's that may write and nothing else is as it should be.
    @Test func aLoginThatMayNotReadIsNoFault() {
        let found = Judgement.gateway(
            "a", host: "host", .unclear(reason: "MayNotRead"), advice: NtfyApp.advice
        ).last
        #expect(found?.verdict == .warn)
        #expect(
            found?.advice?.hasPrefix("not known whether the node may write to the phones' topics") == true)
    }

    @Test(arguments: [
        (GatewayProbe.Finding.taken("HTTP400"), Finding.Verdict.pass), (.refused(reason: "HTTP404"), .fail),
        (.unclear(reason: "HTTP502"), .warn), (.untrusted(reason: "x"), .fail),
        (.unreachable(reason: "x"), .fail),
    ])
    func anotherRelaysAnswerTellsHowQuickItIs(finding: GatewayProbe.Finding, expected: Finding.Verdict) {
        let found = Judgement.relay(
            "a.relay", host: "x.onion", finding, after: .milliseconds(2100), advice: RelayApp.advice)
        #expect(found.verdict == expected && (found.verdict == .pass) == (found.advice == nil))
        #expect(found.words.contains("x.onion"))
        if expected == .pass { #expect(found.words.contains("2.100 s")) }
    }

    /// Without tor's view of the network nothing is known of the clock: that it was not objected to shows nothing.
    @Test func aClockOfWhichTorKnowsNothingIsNotCalledRight() {
        let found = Judgement.clock(ClockView(), now: 0)
        #expect(found.verdict == .warn && found.words.hasPrefix("not known"))
    }

    @Test func aFindingIsALineOrTwoOrAnObject() {
        let finding = Finding.fail("tor", "it is \"gone\"", "start it")
        #expect(finding.text(coloured: false) == "fail  tor: it is \"gone\"\n      -> start it")
        #expect(
            finding.json
                == #"{"check":"tor","verdict":"fail","words":"it is \"gone\"","advice":"start it"}"#)
        #expect(Finding.pass("tor", "here").json == #"{"check":"tor","verdict":"pass","words":"here"}"#)
    }
}
