import Clocks
import Figures
import Foundation
import Relay
import Testing

@testable import Overview

@Suite struct StatusPageTests {
    private func html(_ report: Report) -> String {
        String(decoding: StatusPage.html(of: report), as: UTF8.self)
    }

    @Test func theStateStandsAtTheTopWithItsReasons() throws {
        let text = html(Sample.broken)
        let top = try #require(text.components(separatedBy: "</header>").first)
        #expect(top.contains("<h1>Senders cannot reach this node (and 2 more things)</h1>"))
        #expect(top.contains("<b>bisq-remote-ios</b>: blocked: InvalidProviderToken<p>key_file, key_id"))
        #expect(top.contains("<a href=\"/docs/ReasonCodes.md\">"))
        #expect(top.contains("no directory accepted its descriptor"))
        let well = html(Sample.good)
        #expect(well.contains("<h1>Everything works</h1><div class=\"strip\""))
        #expect(!well.components(separatedBy: "</header>")[0].contains("<li "))
    }

    /// Who runs a node with a console and one without see the same.
    @Test(arguments: [Sample.good, Sample.warned, Sample.broken, Report()])
    func theConsolesPartIsWhatThePageShows(report: Report) throws {
        let marks = /( data-(word|count|time)="[^"]*")+/
        let part = String(decoding: StatusPage.part(of: report), as: UTF8.self)
        let page = html(report)
        let sections = part.components(separatedBy: "<section").dropFirst()
        #expect(sections.count >= 6)
        for section in sections {
            let plain = section.replacing(/<span data-word="check_\w+">([^<]*)<\/span>/) { $0.output.1 }
            #expect(page.contains(plain.replacing(marks, with: "")), "\(section)")
        }
        #expect(part.contains("<p class=\"verdict\" role=\"status\" data-word=\"now_"))
        #expect(part.contains(report.verdict.sentence.replacing("'", with: "&#39;")))
        #expect(!page.contains(" data-word") && !page.contains(" data-time"))
        // The console has no manual, no code and no script of the page's.
        for word in ["/docs/", "<svg", "<script", "<style", "<h1"] { #expect(!part.contains(word)) }
        try checkElements(of: part)
    }

    /// A check of one app bears the app's name in each language.
    @Test func namesOfChecksHaveWordsInTheConsole() {
        let part = String(decoding: StatusPage.part(of: Sample.broken), as: UTF8.self)
        #expect(part.contains("<b data-word=\"check_onion\">Onion address</b>: "))
        #expect(part.contains("<b>bisq-remote-ios</b>: "))
        #expect(part.contains("<span data-word=\"check_"))
        #expect(!part.contains("check_bisq"))
    }

    /// A tor that is not there yet is no fault for the first minutes.
    @Test func aStartIsToldAsOneForThreeMinutes() {
        var report = Sample.good
        report.checks = [
            Check(.onion, level: .failing, state: "no descriptor", advice: "wait"),
            Check(.selfDial, level: .warning, state: "not tried", advice: "wait"), .ok(.outbox, "works"),
        ]
        let word = { (report: Report) in
            String(decoding: StatusPage.part(of: report), as: UTF8.self)
                .firstMatch(of: /data-word="(now_(?:starting|ok|warning|failing))"/)?.output.1
        }
        report.process.startedAt = UnixTime(milliseconds: report.now.milliseconds - 179_000)
        #expect(word(report) == "now_starting")
        report.process.startedAt = UnixTime(milliseconds: report.now.milliseconds - 180_000)
        #expect(word(report) == "now_failing")
        report.process.startedAt = UnixTime(milliseconds: report.now.milliseconds - 179_000)
        report.checks[2] = Check(.outbox, level: .warning, state: "slow", advice: "look")
        #expect(word(report) == "now_failing")
        report.checks = [.ok(.onion, "published")]
        #expect(word(report) == "now_ok")
    }

    @Test func aRefusalSaysItsCauseAndWhatHelps() {
        var report = Sample.good
        var totals = History.Totals()
        totals.refused.add("BadDeviceToken")
        report.history.read(totals, at: 1440)
        // The console has words of its own for the node's reasons, and a gateway's are its own.
        totals.refused.add("InvalidProviderToken")
        report.history.read(totals, at: 1439)
        let part = String(decoding: StatusPage.part(of: report), as: UTF8.self)
        #expect(part.contains("<p class=\"soft\" data-word=\"refusal_BadDeviceToken\">"))
        #expect(part.contains("<b>InvalidProviderToken</b><p class=\"soft\">"))
        for text in [html(report), part.replacing(" data-word=\"refusal_BadDeviceToken\"", with: "")] {
            #expect(text.contains("<b>BadDeviceToken</b><p class=\"soft\">not the form of a token"))
            #expect(text.contains("What helps: pair again"))
        }
    }

    /// Seen on a page: each was true only in part.
    @Test func thePageSaysNothingThatItsOtherPartsDeny() {
        var report = Sample.good
        for index in report.lanes.indices { report.lanes[index].figures.lastDelivery = nil }
        report.peers.open = 1
        report.onion.invited = 1
        var text = html(report)
        #expect(text.contains("<b>before the start</b><span>last delivery</span>"))
        #expect(text.contains("<b>1</b><span>peer connected</span>"))
        #expect(text.contains("<p>private: only 1 invited peer can reach it</p>"))
        #expect(String(decoding: StatusJSON.bytes(of: report), as: UTF8.self).contains("\"invited\":1"))
        let status = StatusText.text(of: report, coloured: false)
        #expect(status.contains(" 1 peer, "), "\(status)")
        #expect(status.contains("private: only 1 invited peer can reach it\n"))
        #expect(!html(Sample.good).contains("private:"))
        // A node without a past has no plot from 0 to 0.
        report.history = History(at: 7)
        text = html(report)
        #expect(text.contains("<b>none yet</b><span>last delivery</span>"))
        #expect(text.contains("<figcaption>By minute: nothing yet</figcaption></figure>"))
        #expect(!text.contains("<div class=\"y\"><span>0</span>"))
    }

    /// An app for browsers has a lane for each of their makers, used or not.
    @Test func unusedLanesOfBrowsersAreNotShown() {
        var report = Sample.good
        var lane = Report.Lane(
            app: "browsers", host: LaneHost("https://push.example.org"), service: "web_push")
        lane.gateway = GatewayFigures()
        report.lanes.append(lane)
        #expect(report.shownLanes.last?.name != lane.name)
        #expect(!html(report).contains("push.example.org"))
        #expect(!StatusText.text(of: report, coloured: false).contains("push.example.org"))
        report.checks.append(Check(.lane(lane.name), level: .warning, state: "away", advice: "y"))
        #expect(report.shownLanes.last?.name == lane.name)
        report.checks.removeLast()
        report.lanes[report.lanes.count - 1].figures.delivered = 1
        #expect(report.shownLanes.last?.name == lane.name)
    }

    /// A number stays with its unit, and a date is cut before its time, not at a hyphen.
    @Test func aLineEndsWhereItMay() {
        let text = html(Sample.good)
        #expect(text.contains(/<dd>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\u{a0}UTC</))
        #expect(text.contains("4\u{a0}min ago in 840\u{a0}ms"))
    }

    /// One column, not two that say the same.
    @Test func aNodeWithoutAPastHasOneColumnOfRefusals() {
        let heads = { (report: Report) in
            html(report).components(separatedBy: "<th>reason</th>")[1].components(separatedBy: "</tr>")[0]
                .components(separatedBy: "<th>").count - 1
        }
        #expect(heads(Sample.good) == 2)
        #expect(heads(Report()) == 1)
    }

    /// A tab in the back shows its state.
    @Test(arguments: [(Sample.good, Check.Level.ok), (Sample.broken, .failing)])
    func theIconIsThatOfTheState(report: Report, level: Check.Level) {
        #expect(html(report).contains("<link rel=\"icon\" href=\"\(StatusDrawings.iconPath(level))\">"))
        #expect(Set(Check.Level.allCases.map(StatusDrawings.icon)).count == 3)
        #expect(StatusPage.script.contains("\"link\""))
    }

    /// Nothing moves or closes what somebody reads, and without script nothing reloads at all.
    @Test func thePageReloadsNothingByItself() {
        #expect(!html(Sample.good).contains("http-equiv"))
        #expect(StatusPage.script.contains("details[open]"))
        #expect(html(Sample.good).contains("<script>\(StatusPage.script)</script>"))
    }

    @Test func theLastDayIsShownWithItsOutage() throws {
        let text = html(Sample.good)
        #expect(text.components(separatedBy: "<i class=\"failing\" title=\"").count > 2)
        #expect(text.contains("Onion address: no directory accepted its descriptor"))
        #expect(text.contains("Onion address: well again"))
        #expect(text.contains("a check failed in"))
        // Times and values of each bar, and ticks.
        #expect(
            text.firstMatch(of: /<i title="\d\d:\d\d–\d\d:\d\d: \d+ delivered, \d+ refused, \d+ expired">/)
                != nil)
        #expect(text.firstMatch(of: /<div class="axis"><span>\d\d:\d\d<\/span>/) != nil)
    }

    /// What is refused is no fault of the node, and a watch from outside is neither.
    @Test func refusedHasAColourOfItsOwnAndProbesAreTold() {
        let style = StatusPage.style
        #expect(style.contains(".refused{background:var(--refused)}"))
        #expect(html(Sample.good).contains("<b>288</b><span>checks from outside</span>"))
    }

    @Test func aNodeWithoutAPastSaysSinceWhen() {
        var report = Sample.good
        report.history = History(at: 7)
        report.history.read(History.Totals(), at: 19)
        #expect(html(report).components(separatedBy: "delivered, the last 12\u{a0}min").count == 2)
        #expect(html(Sample.good).contains("delivered, 24\u{a0}hours"))
    }

    /// Of what was before nobody knows: the strip does not say that nothing was broken then.
    @Test func theStripSaysSinceWhenItKnows() {
        var report = Sample.good
        report.timeline = Timeline()
        report.timeline.note([.ok(.outbox, "works")], at: report.now.milliseconds)
        let text = html(report)
        #expect(text.firstMatch(of: /<span>since \d\d:\d\d UTC: no check failed</) != nil)
        report.timeline = Timeline()
        for quarter in (0..<Int64(96)).reversed() {
            report.timeline.note([.ok(.outbox, "works")], at: report.now.milliseconds - quarter * 900_000)
        }
        #expect(html(report).contains("<span>last 24 hours (UTC): no check failed<"))
    }

    /// The page is one document of well-formed elements, and loads, runs and refers to nothing.
    @Test(arguments: [Sample.good, Sample.warned, Sample.broken, Report()])
    func nothingIsLoadedAndNothingRuns(report: Report) throws {
        let text = html(report)
            .replacing("<script>\(StatusPage.script)</script>", with: "")
        for word in [
            "<script", "javascript:", " src=", "url(", "@import", "http:", "https:", " style=", " on",
        ] {
            let found = text.range(of: word, options: .caseInsensitive)
            // Words of sentences may begin like an event handler's name.
            if word == " on" {
                #expect(text.range(of: " on[a-z]+=", options: .regularExpression) == nil)
            } else {
                #expect(found == nil, "\(word)")
            }
        }
        try checkElements(of: text)
    }

    /// Where SVG is switched off, a text or title in a drawing would be shown as text of the page.
    @Test func drawingsHoldNoText() {
        let drawings = html(Sample.good).components(separatedBy: "<svg").dropFirst()
            .map { $0.components(separatedBy: "</svg>")[0] }
        #expect(drawings.count == 1)
        for drawing in drawings { #expect(!drawing.contains("<text") && !drawing.contains("<title")) }
    }

    @Test func whateverIsShownIsText() {
        let evil = "</b><script>alert(1)</script>\"'&\u{1b}[31m"
        var report = Sample.broken
        report.version = evil
        report.onion.sentence = evil
        report.onion.address = evil
        report.onion.version = evil
        report.lanes = [Sample.lane(evil)]
        report.lanes[0].blockedReason = evil
        report.lanes[0].gateway?.lastError = evil
        report.doors = [Report.Door(name: evil, figures: report.doors[0].figures)]
        var totals = History.Totals()
        totals.refused.add(evil)
        report.history.read(totals, at: 1440)
        report.limitsHit.add(evil)
        report.checks = [Check(.lane(evil), level: .failing, state: evil, advice: evil)]
        report.timeline = Timeline(
            events: [.init(at: report.now.milliseconds, level: .failing, name: evil, words: evil)], worst: [:]
        )
        let page = html(report).replacing("<script>\(StatusPage.script)</script>", with: "")
        for text in [page, String(decoding: StatusPage.part(of: report), as: UTF8.self)] {
            #expect(!text.contains("<script") && !text.contains("\u{1b}"))
            #expect(text.contains("&lt;/b&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;?[31m"))
        }
    }

    /// As characters, for browsers without SVG, it is the same code.
    @Test func theCodeIsDrawnTwice() throws {
        let modules = Modules(width: 3, isDark: [true, false, true, false, true, false, true, true, true])
        let lines = StatusDrawings.codeAsText(modules).components(separatedBy: "\n")
        #expect(lines.count == 6)
        #expect(lines[2] == "    ▀▄▀    ")
        #expect(lines[3] == "    ▀▀▀    ")
        #expect(
            StatusDrawings.code(modules, label: "x").html.contains(
                "d=\"M0 0h1v1h-1zM2 0h1v1h-1zM1 1h1v1h-1zM0 2h3v1h-3z\""))
    }

    /// The smallest count beside the largest is still to be seen.
    @Test(
        arguments: [(1, 1_000_000, 2), (1_000_000, 1_000_000, 100), (1, 2, 50), (0, 0, 2)]
            as [(Int64, Int64, Int)])
    func everyBarIsSeen(value: Int64, highest: Int64, percent: Int) {
        #expect(StatusPage.height(value, of: highest) == percent)
        #expect(StatusPage.style.contains(".h\(percent){height:\(percent)%}"))
    }

    private func checkElements(of text: String) throws {
        let void = ["meta", "link", "!DOCTYPE"]
        var open: [Substring] = []
        for part in text.replacing("<script>\(StatusPage.script)</script>", with: "")
            .components(separatedBy: "<style>").map({
                $0.components(separatedBy: "</style>").last!
            })
            .joined().split(separator: "<").dropFirst(0)
        {
            guard let end = part.firstIndex(of: ">") else { continue }
            let tag = part[..<end]
            let name = tag.prefix { $0 != " " && $0 != "/" || tag.first == "/" && $0 == "/" }
            if tag.hasPrefix("/") {
                #expect(open.popLast() == name.dropFirst())
            } else if !tag.hasSuffix("/"), !void.contains(String(name)) {
                open.append(name)
            }
        }
        #expect(open.isEmpty, "\(open)")
    }
}
