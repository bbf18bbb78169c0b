import Clocks
import Encodings
import Figures
import Foundation
import Testing

@testable import Overview

@Suite struct CheckTests {
    private func check(_ kind: CheckKind, of report: Report) -> Check? {
        report.deliveryChecks.first { $0.kind == kind }
    }

    @Test func allIsWell() {
        #expect(Sample.good.deliveryChecks.level == .ok)
        #expect(Sample.good.verdict.sentence == "Everything works")
        #expect(
            Sample.warned.verdict.sentence
                == "Notifications for bisq-remote-android may be late (and 2 more things)")
        #expect(Sample.broken.verdict.sentence == "Senders cannot reach this node (and 2 more things)")
        #expect([Check]().level == .ok)
    }

    /// What nobody has seen is not said: a way that nothing was sent by may be shut.
    @Test func thatAllWorksIsShownByADelivery() {
        var report = Sample.good
        for index in report.lanes.indices { report.lanes[index].figures.lastDelivery = nil }
        #expect(
            report.verdict.sentence
                == "Nothing is known to be wrong; nothing was delivered since the start")
        #expect(report.verdict.level == .ok)
        report.lanes[0].figures.lastDelivery = report.monotonicNow - .seconds(86_401)
        #expect(report.verdict.sentence == "Nothing is known to be wrong; nothing was delivered for 24 h")
        report.lanes[0].figures.lastDelivery = report.monotonicNow - .seconds(86_400)
        #expect(report.verdict.sentence == "Everything works")

        report.lanes[0].figures.lastJudgement = nil
        let lane = report.lanes[0].name
        #expect(check(.lane(lane), of: report)?.state.hasPrefix("not known whether it works") == true)
        #expect(StatusText.text(of: report, coloured: false).contains("unused"))
    }

    /// What it means for people, not how many checks there are.
    @Test(arguments: [
        (CheckKind.pushing, "Notifications have not gone out for 6 min"),
        (.outbox, "No new notifications are accepted"),
        (.disk, "Soon no new notifications can be accepted: the disk"),
        (.certificate(of: "a"), "Certificate of a is about to end, or has ended"),
        (.lane("bisq-remote-ios"), "Notifications for bisq-remote-ios are not delivered"),
    ])
    func theHeadlineSaysWhatItMeans(kind: CheckKind, sentence: String) {
        var report = Sample.good
        report.lanes[0].oldestDueAge = .seconds(370)
        report.checks.append(Check(kind, level: .failing, state: "x", advice: "y"))
        report.checks.removeAll { $0.kind == kind && $0.level == .ok }
        #expect(report.verdict.sentence == sentence)
    }

    /// A store that was gone or empty at the start stops nothing, and is said for a day.
    @Test func aLostStoreIsSaidForADay() {
        var report = Sample.good
        report.outbox.wasMadeAnew = true
        report.process.startedAt = UnixTime(milliseconds: report.now.milliseconds - 86_399_000)
        #expect(check(.outbox, of: report)?.level == .warning)
        #expect(check(.outbox, of: report)?.advice?.contains("put it back") == true)
        report.process.startedAt = UnixTime(milliseconds: report.now.milliseconds - 86_400_000)
        #expect(check(.outbox, of: report)?.level == .ok)
        report.process.startedAt = UnixTime(milliseconds: report.now.milliseconds - 1_000)
        report.outbox.fault = "x"
        #expect(check(.outbox, of: report)?.level == .failing)
    }

    /// Each has a heading, a headline for either level, and an article that there is.
    @Test func eachCheckIsExplained() throws {
        let articles = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Programs/Onionbell/Onionbell.docc").standardized
        for kind in CheckKind.fixed + [.certificate(of: "a"), .lane("bisq-remote-ios")] {
            #expect(
                FileManager.default.fileExists(atPath: articles.appending(path: "\(kind.article).md").path))
            #expect(!kind.title.contains("_"))
            for level in Check.Trouble.allCases {
                var report = Sample.good
                report.checks = [Check(kind, level: level, state: "x", advice: "y")]
                #expect(!report.verdict.sentence.contains("_") && report.verdict.sentence.count > 10)
            }
        }
    }

    /// Metrics, scripts and the file of the history have them.
    @Test func theNamesOfChecksStay() {
        let kinds = CheckKind.fixed + [.certificate(of: "https"), .lane("a.sandbox")]
        #expect(
            kinds.map(\.name) == [
                "onion", "self_dial", "front", "tor", "outbox", "backlog", "nodes", "database", "disk",
                "loop", "connections", "circuits", "pushing", "settings", "https.certificate", "a.sandbox",
            ])
        for kind in kinds { #expect(CheckKind(name: kind.name) == kind) }
        let lanes = Sample.good.lanes.map { CheckKind.lane($0.name) }
        #expect(Sample.good.deliveryChecks.allSatisfy { (CheckKind.fixed + lanes).contains($0.kind) })
    }

    /// The last value that is well, and the first that is not.
    @Test func nodesOfADatabaseThatAreNotWellAreTold() {
        let cases: [(CheckKind, String?, (inout Report.Shared) -> Void)] = [
            (
                .nodes, nil,
                {
                    $0.withoutOwner = 9; $0.withoutOwnerFor = .seconds(29)
                }
            ),
            (
                .nodes, "9 of 256 shards",
                {
                    $0.withoutOwner = 9; $0.withoutOwnerFor = .seconds(30)
                }
            ),
            (.nodes, nil, { $0.nodes[1].leaseAge = .milliseconds(4999) }),
            (.nodes, "2 at host-b has not renewed", { $0.nodes[1].leaseAge = .seconds(5) }),
            (.nodes, nil, { $0.nodes[1].leaseAge = .seconds(9) }),
            (.nodes, nil, { $0.nodes[1].clockAhead = .milliseconds(-29_999) }),
            (.nodes, "30 s behind", { $0.nodes[1].clockAhead = .seconds(-30) }),
            (.nodes, "60 min ahead of", { $0.nodes[0].clockAhead = .seconds(3600) }),
            (.database, nil, { $0.medianCommit = .milliseconds(199) }),
            (.database, "200 ms in the middle", { $0.medianCommit = .milliseconds(200) }),
            (.database, nil, { $0.longestCommit = .milliseconds(1999) }),
            (.database, "2.0 s at most", { $0.longestCommit = .seconds(2) }),
            (.database, nil, { $0.longestCommit = nil }),
        ]
        for (kind, words, change) in cases {
            var report = Sample.good
            change(&report.shared!)
            let check = check(kind, of: report)
            #expect(check?.level == (words == nil ? .ok : .warning), "\(words ?? "")")
            if let words { #expect(check?.state.contains(words) == true, "\(check?.state ?? "")") }
        }
        // A file has neither.
        var report = Sample.good
        report.shared = nil
        #expect(check(.nodes, of: report) == nil && check(.database, of: report) == nil)
    }

    @Test(arguments: [
        ("HandshakeTimeout", true), ("Silent", true), ("connection refused", true),
        ("HTTP429", true), ("ServiceUnavailable", false),
        ("InvalidSomething", false),
    ])
    func aWordOfAConnectionHasItsAdvice(word: String, isKnown: Bool) {
        #expect((GatewayAdvice.text(for: word) != GatewayAdvice.article) == isKnown)
        var report = Sample.good
        report.lanes[0].isPaused = true
        report.lanes[0].gateway?.lastError = word
        #expect(check(.lane("bisq-remote-ios"), of: report)?.advice == GatewayAdvice.text(for: word))
        // Its service knows more of its own words.
        report.lanes[0].errorAdvice = "wait"
        #expect(check(.lane("bisq-remote-ios"), of: report)?.advice == "wait")
    }

    /// The oldest waits so long, and the gateway's last word on anything is so old.
    @Test(arguments: [
        (299, 299, false), (300, 299, false), (299, 300, false), (300, 300, true), (86_400, 4000, true),
    ])
    func pushingHasStoppedWhenNothingGoesForFiveMinutes(waits: Int, silent: Int, hasStopped: Bool) {
        var report = Sample.good
        report.lanes[0].oldestDueAge = .seconds(waits)
        report.lanes[0].figures.lastJudgement = report.monotonicNow - .seconds(silent)
        let pushing = check(.pushing, of: report)
        #expect(pushing?.isWell == !hasStopped)
        #expect((pushing?.advice == nil) == !hasStopped)
        if hasStopped {
            #expect(pushing?.state.hasPrefix("has stopped: 2 wait for bisq-remote-ios, ") == true)
        }
    }

    @Test func nothingWasEverAnswered() {
        var report = Sample.good
        report.lanes[0].oldestDueAge = .seconds(300)
        report.lanes[0].figures.lastJudgement = nil
        #expect(
            check(.pushing, of: report)?.state
                == "has stopped: 2 wait for bisq-remote-ios, the oldest for 5 min, there was no answer yet")
        // What waits from before a start has its time.
        report.process.startedAt = report.now - .milliseconds(299_000)
        #expect(check(.pushing, of: report)?.isWell == true)
    }

    @Test func aNodeThatCanRingNobodySaysSo() {
        var report = Sample.good
        report.hasNobodyToRing = true
        #expect(check(.pushing, of: report)?.level == .warning)
        report.checks = report.deliveryChecks
        #expect(report.verdict.sentence == "Nobody can be rung: no app has credentials")
    }

    @Test func nothingWaits() {
        var report = Sample.good
        for index in report.lanes.indices {
            report.lanes[index].oldestDueAge = nil
            report.lanes[index].figures.lastJudgement = nil
            report.lanes[index].figures.lastDelivery = nil
        }
        #expect(check(.pushing, of: report)?.state == "no delivery since the start")
    }

    @Test(arguments: [
        (Report.diskWarning, Check.Level.ok), (Report.diskWarning - 1, .warning),
        (Report.diskFailing, .warning),
        (Report.diskFailing - 1, .failing), (0, .failing),
    ])
    func theDiskIsToldBeforeItIsFull(bytes: Int, level: Check.Level) {
        var report = Sample.good
        report.outbox.diskAvailable = bytes
        #expect(check(.disk, of: report)?.level == level)
        #expect((check(.disk, of: report)?.advice == nil) == (level == .ok))
        #expect(check(.disk, of: report)?.state.hasPrefix("full: ") == (bytes == 0))
    }

    @Test(arguments: [(250, Check.Level.ok), (251, .warning), (2000, .warning), (2001, .failing)])
    func aLateLoopIsTold(milliseconds: Int, level: Check.Level) {
        for value in [\Report.loop.lag, \Report.loop.longestTurn] {
            var report = Sample.good
            report[keyPath: value] = .milliseconds(milliseconds)
            let loop = check(.loop, of: report)
            #expect(loop?.level == level && (loop?.advice == nil) == (level == .ok))
        }
    }

    @Test(arguments: [(79, Check.Level.ok), (80, .warning), (99, .warning), (100, .failing)])
    func takenPlacesAreTold(open: Int, level: Check.Level) {
        var report = Sample.good
        report.places = [
            .init("http", open: 0, limit: 10, heldByFew: 0),
            .init("peers", open: open, limit: 100, heldByFew: 64),
        ]
        let places = check(.connections, of: report)
        #expect(places?.level == level)
        if level != .ok { #expect(places?.advice?.hasPrefix("few hold most") == true) }
    }

    @Test func circuitsAndPeersThatGoInBulkAreTold() {
        var report = Sample.good
        report.closedCircuits = 9
        report.lostPeers = 100
        report.peers.open = 51
        #expect(check(.circuits, of: report)?.level == .ok)
        report.peers.open = 50
        #expect(check(.circuits, of: report)?.level == .failing)
        report.lostPeers = 0
        report.closedCircuits = 10
        #expect(
            check(.circuits, of: report)?.level == .failing && check(.circuits, of: report)?.advice != nil)
    }

    @Test func aDiskThatDoesNotAnswerFails() {
        var report = Sample.good
        report.outbox.diskSilence = .seconds(30)
        #expect(check(.disk, of: report)?.isWell == true)
        report.outbox.diskSilence = .seconds(31)
        #expect(check(.disk, of: report)?.isWell == false)
    }

    @Test func aDiskThatSaysNothingIsNotKnown() {
        var report = Sample.good
        (report.outbox.diskAvailable, report.outbox.diskAnsweredAt) = (nil, nil)
        #expect(check(.disk, of: report)?.level == .failing)
        report.begun = report.monotonicNow - .seconds(10)
        #expect(check(.disk, of: report)?.level == .warning)
        #expect(check(.disk, of: report)?.state.hasPrefix("not known since the start") == true)
    }

    @Test func anOutboxIsToldWhenItFailsAndWhenItIsNearlyFull() {
        var report = Sample.good
        report.lanes[1].waiting = 24_999
        #expect(check(.backlog, of: report)?.level == .ok)
        report.lanes[1].waiting = 25_000
        #expect(check(.backlog, of: report)?.level == .warning)
        // No more of it is taken.
        report.lanes[0].fullAge = .seconds(59)
        #expect(check(.backlog, of: report)?.level == .failing)
        report.lanes[0].fullAge = .seconds(61)
        #expect(check(.backlog, of: report)?.level == .warning)
        report.lanes[1].waiting = 0
        report.outbox.waiting = 79_999
        #expect(check(.outbox, of: report)?.level == .ok)
        report.outbox.waiting = 80_000
        #expect(check(.outbox, of: report)?.level == .warning)
        report.outbox.waiting = 1
        report.outbox.waitingBytes = report.outbox.waitingBytesLimit - 1
        #expect(check(.outbox, of: report)?.level == .warning)
        report.outbox.waitingBytes += 1
        let full = check(.outbox, of: report)
        #expect(full?.level == .failing && full?.advice != nil)
        report.outbox.fault = "no room left"
        let failing = check(.outbox, of: report)
        #expect(failing?.level == .failing && failing?.state == "no room left" && failing?.advice != nil)
    }

    @Test func aGatewayThatCanNotBeReachedIsToldBeforePushingHasStopped() {
        var report = Sample.good
        report.lanes[0].gateway?.connections = 0
        #expect(check(.lane("bisq-remote-ios"), of: report)?.level == .ok)
        report.lanes[0].gateway?.connectionFailures = 1
        report.lanes[0].gateway?.lastError = "connection refused"
        #expect(check(.lane("bisq-remote-ios"), of: report)?.state == "no connection: connection refused")
        // One that is opened when something waits.
        report.lanes[0].gateway?.isResting = true
        #expect(check(.lane("bisq-remote-ios"), of: report)?.state == "the last answer was 14 s ago")
        report.lanes[0].gateway?.isResting = false
        #expect(check(.lane("bisq-remote-ios"), of: report)?.level == .warning)
        // While it is tried again.
        report.lanes[0].gateway?.connections = 1
        report.lanes[0].oldestDueAge = .seconds(29)
        #expect(check(.lane("bisq-remote-ios"), of: report)?.level == .ok)
        report.lanes[0].oldestDueAge = .seconds(30)
        #expect(
            check(.lane("bisq-remote-ios"), of: report)?.state
                == "2 wait, and none is being sent: connection refused")
        report.lanes[0].gateway?.inFlight = 1
        #expect(check(.lane("bisq-remote-ios"), of: report)?.level == .ok)
    }

    /// Whatever a connection ended with before: what the push service asked for is why nothing goes.
    @Test func whatThePushServiceAskedForIsToldWithItsEnd() {
        var report = Sample.good
        report.lanes[0].isPaused = true
        report.lanes[0].gateway?.lastError = "closed by the peer"
        report.lanes[0].wishAdvice = "wait for the next day"
        report.lanes[0].gateway?.wish = GatewayFigures.Wish(
            reason: "Ntfy42908", until: report.monotonicNow + .seconds(3540))
        let paused = check(.lane("bisq-remote-ios"), of: report)
        #expect(paused?.state == "its push service wants nothing for 59 min: Ntfy42908")
        #expect(paused?.level == .warning && paused?.advice == "wait for the next day")
        // Also where one phone alone waits for it, and no longer than that.
        report.lanes[0].isPaused = false
        #expect(check(.lane("bisq-remote-ios"), of: report)?.level == .warning)
        report.lanes[0].waiting = 0
        #expect(check(.lane("bisq-remote-ios"), of: report)?.state == "open; the last answer was 14 s ago")
        report.lanes[0].waiting = 2
        report.lanes[0].gateway?.wish?.until = report.monotonicNow
        #expect(check(.lane("bisq-remote-ios"), of: report)?.state == "open; the last answer was 14 s ago")
    }

    /// Nothing was sent: a look at the start has shown it.
    @Test func aFaultIsToldBeforeSomethingIsBlockedByIt() {
        var report = Sample.good
        report.lanes[0].gateway?.fault = "BadCertificate"
        report.lanes[0].gateway?.isResting = true
        let check = check(.lane("bisq-remote-ios"), of: report)
        #expect(check?.level == .failing && check?.state == "blocked: BadCertificate")
    }

    @Test func gatewaysSayWhatIsWrongWithThem() {
        var report = Sample.good
        report.lanes[0].blockedReason = "InvalidProviderToken"
        report.lanes[0].blockedAdvice = "look at key_file"
        report.lanes[1].gateway?.refusedTokensInARow = 20
        report.lanes[2].credentialFault = "no PEM"
        let blocked = check(.lane("bisq-remote-ios"), of: report)
        #expect(blocked?.level == .failing && blocked?.state == "blocked: InvalidProviderToken")
        #expect(blocked?.advice == "look at key_file")
        // What was wrong with the connection says more than that something was.
        report.lanes[0].blockedReason = "TLS"
        report.lanes[0].gateway?.lastError = "certificate has expired"
        #expect(check(.lane("bisq-remote-ios"), of: report)?.state == "blocked: TLS: certificate has expired")
        #expect(check(.lane("bisq-remote-ios"), of: report)?.advice?.contains("clock") == true)
        #expect(check(.lane("bisq-remote-ios.sandbox"), of: report)?.level == .failing)
        #expect(check(.lane("bisq-remote-android"), of: report)?.level == .warning)
        report.lanes[2].gateway = nil
        #expect(check(.lane("bisq-remote-android"), of: report) == nil)
    }
}

@Suite struct WordsTests {
    @Test(
        arguments: [
            (.zero, "0 ms"), (.milliseconds(999), "999 ms"), (.seconds(1), "1 s"), (.seconds(119), "119 s"),
            (.seconds(120), "2 min"), (.seconds(7199), "119 min"), (.seconds(7200), "2 h"),
            (.seconds(172_799), "47 h"), (.seconds(172_800), "2 days"),
        ] as [(Duration, String)])
    func timesAreShort(time: Duration, words: String) { #expect(Words.time(time) == words) }

    @Test(
        arguments: [
            (nil, "–"), (350_000, "0.35 ms"), (4_200_000, "4.2 ms"), (180_000_000, "180 ms"),
            (2_500_000_000, "2.5 s"), (75_000_000_000, "75 s"),
        ] as [(Int64?, String)])
    func latenciesHaveTwoDigits(time: Int64?, words: String) { #expect(Words.latency(time) == words) }

    @Test(arguments: [
        (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (12 << 10, "12 KiB"), (3 << 29, "1.5 GiB"),
        (5 << 50, "5120 TiB"),
    ])
    func sizesHaveUnits(bytes: Int, words: String) { #expect(Words.bytes(bytes) == words) }

    @Test func largeNumbersAreGrouped() {
        #expect(Words.count(999) == "999")
        #expect(Words.count(1_234_567) == "1\u{202f}234\u{202f}567")
    }

    @Test func datesAreUTC() { #expect(Words.date(1_795_300_000_000) == "2026-11-21 22:26:40 UTC") }
}
