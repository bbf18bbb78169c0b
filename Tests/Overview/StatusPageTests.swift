import Foundation
import Metrics
import Testing

@testable import Overview

@Suite struct StatusPageTests {
    private func html(_ report: Report) -> String {
        String(decoding: StatusPage.html(of: report), as: UTF8.self)
    }

    @Test func theStateStandsAtTheTopWithItsReasons() throws {
        let text = html(Sample.broken)
        let top = try #require(text.components(separatedBy: "</header>").first)
        #expect(top.contains("3 checks fail"))
        #expect(top.contains("<b>bisq-remote-ios</b>: blocked: InvalidProviderToken<p>key_file, key_id"))
        #expect(top.contains("no directory accepted its descriptor"))
        #expect(html(Sample.good).contains("<h1>Everything works</h1></div></header>"))
    }

    /// The page is one document of well-formed elements, and loads, runs and refers to nothing.
    @Test(arguments: [Sample.good, Sample.warned, Sample.broken, Report()])
    func nothingIsLoadedAndNothingRuns(report: Report) throws {
        let text = html(report)
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
        #expect(drawings.count == 3)
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
        report.checks = [Check(name: evil, level: .failing, state: evil)]
        let text = html(report)
        #expect(!text.contains("<script") && !text.contains("\u{1b}"))
        #expect(text.contains("&lt;/b&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;?[31m"))
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
    @Test func everyBarIsSeen() {
        var (many, one) = (History.Totals(), History.Totals())
        many.delivered = 1_000_000
        one.refused.add("BadMessage")
        let svg = StatusDrawings.bars([many, one], label: "x").html
        #expect(svg.contains("<rect class=\"delivered\" x=\"72\" y=\"0\" width=\"456\" height=\"100\"/>"))
        #expect(svg.contains("<rect class=\"refused\" x=\"672\" y=\"98\" width=\"456\" height=\"2\"/>"))
    }

    private func checkElements(of text: String) throws {
        let void = ["meta", "!DOCTYPE"]
        var open: [Substring] = []
        for part in text.components(separatedBy: "<style>").map({
            $0.components(separatedBy: "</style>").last!
        })
        .joined().split(separator: "<").dropFirst(0) {
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
