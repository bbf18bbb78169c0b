import Clocks
import Figures
import JSONCoding
import Testing

@testable import Overview

@Suite struct StatusTextTests {
    @Test func aTerminalShowsTheStateFirst() throws {
        let lines = StatusText.text(of: Sample.broken, coloured: false).split(separator: "\n")
        #expect(lines[0] == "Onionbell 0.1.0  Senders cannot reach this node (and 2 more things)")
        let reasons = lines[1...8].map { $0.drop { $0 == " " } }
        let blocked = try #require(reasons.firstIndex(of: "bisq-remote-ios: blocked: InvalidProviderToken"))
        #expect(reasons[blocked + 1].hasPrefix("-> key_file, key_id and team_id"))
        let text = StatusText.text(of: Sample.good, coloured: false)
        #expect(text.hasPrefix("Onionbell 0.1.0  Everything works\n"))
        #expect(text.contains("\(Sample.address)\n"))
        #expect(
            text.contains("\nbisq-remote-ios           open        2      48211        2    39    14 s\n"))
        #expect(text.contains("\npeer         31000        31     7      104\n"))
        #expect(text.contains("\nLimits hit       2 peer_frame_rate\n"))
    }

    @Test func coloursAreSetAndTakenBack() {
        let coloured = StatusText.text(of: Sample.broken, coloured: true)
        let plain = StatusText.text(of: Sample.broken, coloured: false)
        #expect(!plain.contains("\u{1b}"))
        #expect(coloured.contains("\u{1b}[31mSenders cannot reach this node (and 2 more things)\u{1b}[0m"))
        #expect(coloured.replacing(/\u{1b}\[\d*m/, with: "") == plain)
    }

    /// What the history covers, not what it would cover.
    @Test func aNodeWithoutAPastSaysSinceWhen() {
        #expect(StatusText.text(of: Sample.good, coloured: false).contains(" in the last hour ("))
        #expect(StatusText.text(of: Sample.good, coloured: false).contains(" in 24 hours\n"))
        var report = Sample.good
        report.history = History(at: 7)
        report.history.read(History.Totals(), at: 19)
        let text = StatusText.text(of: report, coloured: false)
        #expect(text.contains("0 in the last 12 min (0.0 a minute)\n"))
        #expect(text.contains("none in the last 12 min\n") && !text.contains("24 hours"))
        let new = StatusText.text(of: Report(), coloured: false)
        #expect(new.contains("0 in the last 60 s (0.0 a minute)\n"))
    }

    @Test func aNodeThatHasJustStartedHasAStatus() {
        #expect(StatusText.text(of: Report(), coloured: false).contains("not made yet"))
    }

    /// Clients use the front's; the node's own is for whoever sets that up.
    @Test func anAddressBeforeTheNodesOwnIsShownWithIt() throws {
        var report = Sample.good
        report.onion.ownAddress = report.onion.address
        let alone = [
            StatusText.text(of: report, coloured: false),
            String(decoding: StatusPage.html(of: report), as: UTF8.self),
        ]
        for text in alone { #expect(!text.contains("of this node")) }
        report.onion.ownAddress = "own.onion"
        #expect(StatusText.text(of: report, coloured: false).contains("of this node: own.onion\n"))
        #expect(
            String(decoding: StatusPage.html(of: report), as: UTF8.self).contains(
                "of this node: <code>own.onion</code>"))
        let json = try JSON(StatusJSON.bytes(of: report).dropLast())
        #expect(json["onion"]?["own_address"]?.string == "own.onion")
        #expect(json["onion"]?["address"]?.string == String(Sample.address))
    }

    @Test func theSameAsJSON() throws {
        let json = try JSON(StatusJSON.bytes(of: Sample.broken).dropLast())
        #expect(json["status"]?.string == "failing")
        #expect(json["onion"]?["address"]?.string == String(Sample.address))
        #expect(json["last_day"]?["refused"]?["BadMessage"]?.integer == 60)
        #expect(json["database"]?["shards"]?.integer == 128)
        #expect(json["database"]?["possible_repetitions"]?.integer == 37)
        #expect(json["database"]?["nodes"]?.array?.last?["name"]?.string == "host-b")
        #expect(json["database"]?["nodes"]?.array?.last?["here"]?.bool == false)
        let lane = json["gateways"]?.array?.first
        #expect(lane?["blocked"]?.string == "InvalidProviderToken")
        #expect(lane?["waiting"]?.integer == 1412)
        #expect(lane?["certificate_end"]?.integer == Sample.now / 1000 + 211 * 86_400)
        #expect(json["checks"]?.array?.count == Sample.broken.checks.count)
        var report = Sample.broken
        report.watches = [
            .init(
                name: "home", isSilent: true, lastAnswer: UnixTime(milliseconds: Sample.now), missed: 4,
                rings: 2),
            .init(name: "away", isSilent: false, lastAnswer: nil, missed: 1, rings: 0),
        ]
        let watches = try JSON(StatusJSON.bytes(of: report).dropLast())["watches"]?.array
        #expect(
            watches?.map(\.text) == [
                #"{"last_answer":\#(Sample.now / 1000),"missed":4,"name":"home","rings":2,"silent":true}"#,
                #"{"last_answer":null,"missed":1,"name":"away","rings":0,"silent":false}"#,
            ])
        _ = try JSON(StatusJSON.bytes(of: Report()).dropLast())
    }

    @Test func healthNamesEachCheck() throws {
        let report = Sample.warned
        let json = try JSON(HealthReport.json(of: report.checks).dropLast())
        #expect(json["status"]?.string == "warning")
        #expect(json["checks"]?["disk"]?["ok"]?.bool == true)
        #expect(json["checks"]?["disk"]?["level"]?.string == "warning")
        #expect(json["checks"]?["disk"]?["advice"]?.string?.hasPrefix("make room") == true)
        #expect(json["checks"]?["outbox"]?["advice"] == nil)
        #expect(json["checks"]?.object?.count == report.checks.count)
        #expect(Sample.broken.readinessChecks.map(\.name) == ["onion", "outbox"])
        #expect(Sample.broken.readinessChecks.level == .failing)
        #expect(Sample.warned.readinessChecks.level == .ok)
    }
}
