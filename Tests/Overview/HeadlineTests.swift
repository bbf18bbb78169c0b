import Clocks
import Testing

@testable import Overview

/// What stands at the top is true of the whole.
@Suite struct HeadlineTests {
    /// Nothing goes out, and the disk fills up.
    @Test func theHeadlineDoesNotSayThatNotificationsGoOutWhereTheyDoNot() {
        var report = Sample.good
        let disk = Check(.disk, level: .warning, state: "nearly full", advice: "y")
        report.checks = [disk]
        #expect(report.verdict.sentence == "Notifications go out, but the disk is filling up")
        report.checks.append(
            Check(.lane(report.lanes[0].name), level: .warning, state: "no connection", advice: "y"))
        #expect(
            report.verdict.sentence
                == "Notifications for \(report.lanes[0].name) may be late (and one more thing)")
        report.checks[1] = Check(.pushing, level: .warning, state: "x", advice: "y")
        #expect(report.verdict.sentence.hasPrefix("Nobody can be rung"))
    }

    /// After a restart in place tor has the service all the time: nobody waits for tor.
    @Test func aStartWithAPublishedAddressIsNotToldAsOneThatWaitsForTor() {
        var report = Sample.good
        report.process.startedAt = UnixTime(milliseconds: report.now.milliseconds - 10_000)
        report.checks = [
            Check(.selfDial, level: .warning, state: "not called yet", advice: "wait"),
            Check(.onion, level: .warning, state: "no sign yet", advice: "wait"), .ok(.outbox, "works"),
        ]
        func word() -> String? {
            String(decoding: StatusPage.part(of: report), as: UTF8.self)
                .firstMatch(of: /data-word="(now_(?:starting|proving|warning|failing))"/).map {
                    "\($0.output.1)"
                }
        }
        #expect(report.onion.state == .published)
        #expect(word() == "now_proving")
        #expect(report.verdict.sentence.hasPrefix("The node has just started: its address is published"))
        // An address that is known to be lost is none that was proved a moment ago.
        report.checks[1] = Check(.onion, level: .failing, state: "cut off", advice: "wait")
        #expect(word() == "now_starting")
        report.checks[1] = Check(.onion, level: .warning, state: "no sign yet", advice: "wait")
        report.onion.state = .publishing
        #expect(word() == "now_starting")
        #expect(report.verdict.sentence.hasPrefix("The node is getting ready"))
        report.onion.state = .published
        report.process.startedAt = UnixTime(milliseconds: report.now.milliseconds - 180_000)
        #expect(word() == "now_warning")
    }

    /// Apple's two hosts are away for one reason.
    @Test func whatIsSaidOfBothHostsOfAnAppIsSaidOnce() throws {
        var report = Sample.good
        let both = report.lanes.filter { lane in
            report.lanes.contains { $0.app == lane.app && $0.host != lane.host }
        }
        try #require(both.count == 2)
        func fault(_ lane: Report.Lane, _ state: String) -> Check {
            Check(.lane(lane.name), level: .warning, state: state, advice: "y")
        }
        report.checks = [fault(both[1], "no connection"), fault(both[0], "no connection")]
        #expect(report.faults.map(\.name) == [both[0].app])
        #expect(report.verdict.sentence == "Notifications for \(both[0].app) may be late")
        report.checks[0] = fault(both[1], "paused")
        #expect(report.faults.count == 2)
    }
}
