import Figures
import Relay

/// The drawing of the node's state: one HTML document that needs no script, readable without images, on a phone and in Tor
/// Browser at its safest level, in light and dark. The console shows a part of it, with its labels in six languages.
package struct StatusPage {
    /// The page's only style; the page's policy names its digest.
    package static var style: String { StatusStyle.page }
    /// The style of the part that the console shows.
    package static var partStyle: String { StatusStyle.part }
    /// The text of the page's script.
    package static var script: String { StatusScript.text }

    let report: Report
    /// Whether the console shows the drawing. Then labels name the console's words for them.
    let isPart: Bool

    package static func html(of report: Report) -> [UInt8] {
        Array(StatusPage(report: report, isPart: false).page.html.utf8)
    }

    /// Draws the console's part: the state in words, the last day, the ways to phones, the nodes, refusals and changes.
    package static func part(of report: Report) -> [UInt8] {
        let drawing = StatusPage(report: report, isPart: true)
        return Array(("\(drawing.summary)\(drawing.now)\(drawing.lists)" as Markup).html.utf8)
    }

    private var page: Markup {
        let verdict = report.verdict
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">\
            <meta name="viewport" content="width=device-width,initial-scale=1">\
            <link rel="icon" href="\(StatusDrawings.iconPath(verdict.level))"><title>\(verdict.word): Onionbell</title>
            <style>\(style)</style><script>\(script)</script></head>
            <body><header class="\(verdict.level.rawValue)">\(summary)</header>
            <main>
            \(now)
            \(address)
            <div class="cards">
            \(lists)
            \(services)
            \(latency)
            \(onion)
            \(node)
            </div>
            \(checks)
            </main>
            <footer>As of \(Words.date(report.now.milliseconds)). <a href="/">Refresh</a>. \
            For programs: <a href="/metrics">metrics</a>, <a href="/healthz">health</a>, \
            <a href="/readyz">readiness</a>, <a href="/status.json">all of this as JSON</a>.</footer></body></html>

            """
    }

    /// The style as markup. Like the script it is our own, and no text that has to be escaped.
    private var style: Markup { Markup(stringLiteral: StatusStyle.page) }
    private var script: Markup { Markup(stringLiteral: StatusScript.text) }

    /// Names the console's word for a label, and what stands in it; nothing on the page itself.
    func word(_ name: String, count: Int? = nil, time: Int64? = nil) -> Markup {
        guard isPart else { return "" }
        let count: Markup = count.map { " data-count=\"\($0)\"" } ?? ""
        return " data-word=\"\(name)\"\(count)\(self.time(time))"
    }

    /// Names the console's word for a check; nothing for a check of one app, which bears the app's name.
    func word(for kind: CheckKind) -> Markup { kind.isOfOneApp ? "" : word("check_\(kind.name)") }

    /// Returns the name of an event's check, in an element where the console has a word for it.
    func name(of kind: CheckKind) -> Markup {
        isPart && !kind.isOfOneApp ? "<span\(word(for: kind))>\(kind.title)</span>" : "\(kind.title)"
    }

    /// Names the console's word for a refusal's cause and what helps; nothing for a gateway's own reason.
    private func word(forRefusal code: String) -> Markup {
        Reason.own.contains { $0.code == code } ? word("refusal_\(code)") : ""
    }

    /// Names a time that the console writes in the reader's language and zone.
    func time(_ time: Int64?) -> Markup {
        isPart ? time.map { " data-time=\"\(String($0))\"" } ?? "" : ""
    }

    func title(_ text: String, _ name: String) -> Markup { "<h2\(word(name))>\(text)</h2>" }

    /// The state in a sentence, with its reasons and the last day.
    private var summary: Markup {
        let verdict = report.verdict
        let level = verdict.level.rawValue
        let name =
            report.isProving
            ? "now_proving"
            : report.isStarting ? "now_starting" : report.isQuiet ? "now_quiet" : "now_\(level)"
        let heading: Markup =
            isPart
            ? "<p class=\"verdict\" role=\"status\"\(word(name))>\(verdict.sentence)</p>"
            : "<h1>\(verdict.sentence)</h1>"
        return """
            <div class="words \(level)"><p><span\(word("now_version"))>Onionbell</span> \(report.version), \
            <span\(word("now_uptime"))>up for</span> \(bound(Words.time(report.uptime)))</p>\
            \(heading)\(verdict.level == .ok ? "" : reasons)\(strip)</div>
            """
    }

    /// How much there is, and how it went over the last day.
    private var now: Markup { "\(figures)\n\(plots)" }

    /// The ways to phones, the nodes of the database, the last changes, the refusals.
    private var lists: Markup { "\(gateways)\n\(shared)\n\(events)\n\(refusals)" }

    private var reasons: Markup {
        let items = report.faults.map { check -> Markup in
            let since: Markup =
                report.timeline.since(check.kind).map {
                    " <span class=\"soft\">since <span\(time($0))>\(moment($0))</span></span>"
                }
                ?? ""
            return """
                <li class="\(check.level.rawValue)"><b\(word(for: check.kind))>\(check.kind.title)</b>: \(check.state)\(since)\
                <p>\(check.advice ?? "")\(isPart ? "" : more(about: check.kind))</p></li>
                """
        }
        return "<ul>\(items)</ul>"
    }

    private func more(about kind: CheckKind) -> Markup {
        """
         (<a href="/docs/\(kind.article).md">more about it<span class="unseen">: \(kind.title)</span></a>)
        """
    }

    // MARK: At a glance

    private var figures: Markup {
        let (hour, day) = (report.history.sum(ofLast: 60), report.history.sum(ofLast: History.minutes))
        let oldest = report.oldestAge.map { ", the oldest for \(bound(Words.time($0)))" } ?? ""
        var tiles = [
            tile(Words.count(report.outbox.waiting), "waiting\(oldest)", word("now_waiting")),
            tile(Words.count(day.delivered), "delivered, \(covered(History.minutes))", word("now_delivered")),
            tile(
                Words.count(day.refused.total), "refused, \(covered(History.minutes))", word("now_refused")),
            tile(
                report.lastDelivery.map { Words.time(report.age(of: $0)) + " ago" }
                    ?? (day.delivered > 0 ? "before the start" : "none yet"),
                "last delivery", word("now_last")),
            tile(
                Words.count(report.peers.open), report.peers.open == 1 ? "peer connected" : "peers connected",
                word("now_peers")),
        ]
        // A young node has no more than that.
        if report.history.covered > 60 {
            tiles.insert(
                tile(Words.count(hour.delivered), "delivered, \(covered(60))", word("now_hour")), at: 1)
        }
        // What a watch from outside sends is neither delivered nor refused.
        let probes = report.lanes.reduce(0) { $0 + $1.figures.probes }
        if let last = report.lanes.compactMap(\.figures.lastProbe).max() {
            tiles.append(tile(Words.count(probes), "checks from outside", word("now_probes")))
            tiles.append(
                tile(
                    Words.time(report.age(of: last)) + " ago", "last check from outside",
                    word("now_last_probe")))
        }
        // In full rows, with two on a phone.
        let form: Markup = tiles.count > 6 ? "tiles four" : "tiles"
        return
            "<section><h2 class=\"unseen\">At a glance</h2><div class=\"\(form)\">\(tiles)</div></section>"
    }

    private func tile(_ figure: String, _ name: String, _ word: Markup) -> Markup {
        "<div><b>\(figure)</b><span\(word)>\(name)</span></div>"
    }

    /// Names the time that the last minutes of the history cover, as in `24 hours`.
    func covered(_ minutes: Int) -> String { bound(report.span(ofLast: minutes)) }

    /// Returns the text with no line break between a number and its unit.
    func bound(_ text: String) -> String {
        var result = ""
        for (index, character) in zip(text.indices, text) {
            let next = text[index...].dropFirst().first
            // Between a day and a time a line may end.
            let isBeforeUnit = result.last?.isNumber == true && next?.isNumber == false
            result.append(character == " " && isBeforeUnit ? "\u{a0}" : character)
        }
        return result
    }

    /// Returns a time of day as in `22:41`, with its day if that is not today: `11-20 22:41`.
    func moment(_ time: Int64) -> String {
        let isToday = time / 86_400_000 == report.now.milliseconds / 86_400_000
        let day = Words.date(time).prefix(10).dropFirst(5)
        return isToday ? Words.clock(time) : "\(day) \(Words.clock(time))"
    }

    private var address: Markup {
        let onion = report.onion
        guard let address = onion.address else {
            return "<section><h2>Onion address</h2><p class=\"soft\">\(onion.sentence)</p></section>"
        }
        let code = onion.qrCode.map { StatusDrawings.code($0, label: "QR code of the onion address") } ?? ""
        let text: Markup =
            onion.qrCode.map {
                "<details><summary>QR code as characters</summary><pre>\(preformatted($0))</pre></details>"
            } ?? ""
        let ports = onion.ports.map(String.init).joined(separator: ", ")
        let privacy: Markup = onion.privacy.map { "<p>\($0)</p>" } ?? ""
        let own: Markup =
            onion.isBehindFront
            ? onion.ownAddress.map { "<p class=\"soft\">of this node: <code>\($0)</code></p>" } ?? "" : ""
        return """
            <section><h2>Onion address</h2><div class="address"><div><code>\(address)</code>\
            <p>\(onion.sentence)</p><p class="soft">ports \(ports)</p>\(privacy)\(own)\(text)</div>\(code)</div></section>
            """
    }

    /// Returns the modules line by line: a line break in a text would be shown as `?`.
    private func preformatted(_ modules: Modules) -> [Markup] {
        StatusDrawings.codeAsText(modules).split(separator: "\n", omittingEmptySubsequences: false)
            .map { "\(String($0))\n" }
    }

    private var refusals: Markup {
        let (hour, day) = (report.history.sum(ofLast: 60), report.history.sum(ofLast: History.minutes))
        let codes = day.refused.counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(12)
        let rows = codes.map { code, count -> Markup in
            """
            <tr><td><b>\(code)</b><p class="soft"\(word(forRefusal: code))>\(RefusalHelp.text(of: code))</p></td>\
            \(cells(Words.count(hour.refused[code]), Words.count(count)))</tr>
            """
        }
        let last: [Markup] = [
            row("rejected (busy)", hour.busy, day.busy), row("expired", hour.expired, day.expired),
        ]
        return """
            <section id="refusals">\(title("Refused, and what helps", "now_refusals"))<table><thead><tr><th>reason</th>\
            \(cells(covered(60), covered(History.minutes), in: "th"))</tr></thead><tbody>\(rows)\(last)</tbody></table></section>
            """
    }

    /// Returns the cells for the last hour and the last day; one cell while the history covers less than
    /// both.
    private func cells(_ hour: String, _ day: String, in tag: Markup = "td") -> Markup {
        let isYoung = covered(60) == covered(History.minutes)
        return "\(isYoung ? "" : "<\(tag)>\(hour)</\(tag)>" as Markup)<\(tag)>\(day)</\(tag)>"
    }

    private func row(_ name: String, _ hour: Int, _ day: Int) -> Markup {
        "<tr><td class=\"soft\">\(name)</td>\(cells(Words.count(hour), Words.count(day)))</tr>"
    }

    // MARK: Gateways

    private var gateways: Markup {
        let lanes = report.shownLanes.map(lane)
        let none: Markup = "<p class=\"soft\">No app is configured.</p>"
        return "<section>\(title("Gateways", "now_gateways"))\(lanes.isEmpty ? none : "\(lanes)")</section>"
    }

    private func lane(_ lane: Report.Lane) -> Markup {
        let check = report.checks.first { $0.kind == .lane(lane.name) }
        let level = check?.level ?? .warning
        let state =
            lane.gateway == nil ? "off" : lane.blockedReason == nil ? (check?.state ?? "open") : "blocked"
        let delivered = lane.figures.delivered
        var facts = [
            fact("\(Words.count(delivered)) delivered", word("now_gateway_delivered", count: delivered)),
            fact("\(Words.count(lane.waiting)) waiting", word("now_gateway", count: lane.waiting)),
        ]
        if let age = lane.oldestAge { facts.append(fact("oldest \(Words.time(age))")) }
        if let gateway = lane.gateway {
            let count = gateway.connections
            facts.append(fact(count == 1 ? "1 connection" : "\(count) connections"))
            facts.append(fact("\(gateway.inFlight) being sent"))
        }
        if let last = lane.figures.lastDelivery {
            let age = report.age(of: last)
            let time = report.now.milliseconds - age.nanoseconds / 1_000_000
            facts.append(fact("last \(Words.time(age)) ago", word("now_gateway_last", time: time)))
        }
        if let certificate = report.certificates.first(where: { $0.app == lane.app }),
            lane.host == .production
        {
            let left = certificate.end - report.now.milliseconds / 1000
            facts.append(
                fact(left > 0 ? "certificate: \(left / 86_400) days left" : "certificate: expired"))
        }
        let reason: Markup =
            lane.blockedReason.map { "<p>\($0)</p>" } ?? lane.gateway?.lastError.map {
                "<p class=\"soft\">last error: \($0)</p>"
            } ?? ""
        if lane.figures.probes > 0 {
            facts.append(fact("\(Words.count(lane.figures.probes)) checks from outside"))
        }
        let short = state.utf8.count > 40 ? level.rawValue : state
        return """
            <div class="lane \(level.rawValue)"><p><b>\(lane.app)</b>\(lane.host == .production ? "" : " (\(lane.host))") \
            <span class="pill"\(lane.gateway == nil ? word("now_gateway_off") : "")>\(short)</span></p>\(reason)\
            <div class="facts">\(facts)</div></div>
            """
    }

    private func fact(_ text: String, _ word: Markup = "") -> Markup { "<span\(word)>\(bound(text))</span>" }

    private var latency: Markup {
        var rows = report.doors.map { ("answer at \($0.name)", $0.figures.receiptTime) }
        rows.append(("commit", report.outbox.commits.time))
        for lane in report.lanes {
            guard let gateway = lane.gateway else { continue }
            rows.append(("\(lane.name): request", gateway.answerTime))
            rows.append(("\(lane.name): delivery", lane.figures.deliveryTime))
        }
        let used = rows.filter { $0.1.count > 0 }.map { name, times -> Markup in
            """
            <tr><td>\(name)</td><td>\(Words.latency(times.quantile(0.5)))</td>\
            <td>\(Words.latency(times.quantile(0.99)))</td></tr>
            """
        }
        let none: Markup = "<tr><td class=\"soft\">nothing yet</td><td>–</td><td>–</td></tr>"
        return """
            <section><h2>How long it takes</h2><table><thead><tr><th>since the start</th><th>median</th>\
            <th>99 %</th></tr></thead><tbody>\(used.isEmpty ? [none] : used)</tbody></table></section>
            """
    }
}
