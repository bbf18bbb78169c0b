import Figures
import Relay

/// The status page: one HTML document that needs no script, readable without images, on a phone and in Tor Browser at its
/// safest level, in light and dark.
package struct StatusPage {
    /// The page's only style; the page's policy names its digest.
    package static var style: String { StatusStyle.css }
    /// The text of the page's script.
    package static var script: String { StatusScript.text }

    let report: Report

    package static func html(of report: Report) -> [UInt8] {
        Array(StatusPage(report: report).page.html.utf8)
    }

    private var page: Markup {
        let verdict = report.verdict
        let isWell = verdict.level == .ok
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">\
            <meta name="viewport" content="width=device-width,initial-scale=1">\
            <link rel="icon" href="\(StatusDrawings.iconPath(verdict.level))"><title>\(verdict.word): Onionbell</title>
            <style>\(style)</style><script>\(script)</script></head>
            <body><header class="\(verdict.level.rawValue)"><div>\
            <p>Onionbell \(report.version), up for \(bound(Words.time(report.uptime)))</p>\
            <h1>\(verdict.sentence)</h1>\(isWell ? "" : reasons)\(strip)</div></header>
            <main>
            \(figures)
            \(address)
            \(plots)
            <div class="cards">
            \(gateways)
            \(shared)
            \(events)
            \(services)
            \(refusals)
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
    private var style: Markup { Markup(stringLiteral: StatusStyle.css) }
    private var script: Markup { Markup(stringLiteral: StatusScript.text) }

    private var reasons: Markup {
        let items = report.faults.map { check -> Markup in
            let since: Markup =
                report.timeline.since(check.kind).map { " <span class=\"soft\">since \(moment($0))</span>" }
                ?? ""
            return """
                <li class="\(check.level.rawValue)"><b>\(check.kind.title)</b>: \(check.state)\(since)\
                <p>\(check.advice ?? "") (<a href="/docs/\(check.kind.article).md">more about it<span class="unseen">: \
                \(check.kind.title)</span></a>)</p></li>
                """
        }
        return "<ul>\(items)</ul>"
    }

    // MARK: At a glance

    private var figures: Markup {
        let (hour, day) = (report.history.sum(ofLast: 60), report.history.sum(ofLast: History.minutes))
        let oldest = report.oldestAge.map { ", the oldest for \(bound(Words.time($0)))" } ?? ""
        var tiles: [(String, String)] = [
            (Words.count(report.outbox.waiting), "waiting\(oldest)"),
            (Words.count(day.delivered), "delivered, \(covered(History.minutes))"),
            (Words.count(day.refused.total), "refused, \(covered(History.minutes))"),
            (
                report.lastDelivery.map { Words.time(report.age(of: $0)) + " ago" }
                    ?? (day.delivered > 0 ? "before the start" : "none yet"),
                "last delivery"
            ),
            (Words.count(report.peers.open), report.peers.open == 1 ? "peer connected" : "peers connected"),
        ]
        // A young node has no more than that.
        if report.history.covered > 60 {
            tiles.insert((Words.count(hour.delivered), "delivered, \(covered(60))"), at: 1)
        }
        // What a watch from outside sends is neither delivered nor refused.
        let probes = report.lanes.reduce(0) { $0 + $1.figures.probes }
        if let last = report.lanes.compactMap(\.figures.lastProbe).max() {
            tiles.append((Words.count(probes), "checks from outside"))
            tiles.append((Words.time(report.age(of: last)) + " ago", "last check from outside"))
        }
        // In full rows, with two on a phone.
        let form: Markup = tiles.count > 6 ? "tiles four" : "tiles"
        return
            "<section><h2 class=\"unseen\">At a glance</h2><div class=\"\(form)\">\(tiles.map(tile))</div></section>"
    }

    private func tile(_ figure: String, _ name: String) -> Markup {
        "<div><b>\(figure)</b><span>\(name)</span></div>"
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
        let words = day.refused.counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(12)
        let rows = words.map { word, count -> Markup in
            "<tr><td>\(word)</td>\(cells(Words.count(hour.refused[word]), Words.count(count)))</tr>"
        }
        let last: [Markup] = [
            row("rejected (busy)", hour.busy, day.busy), row("expired", hour.expired, day.expired),
        ]
        return """
            <section><h2>Refused, by reason</h2><table><thead><tr><th>reason</th>\
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
        return "<section><h2>Gateways</h2>\(lanes.isEmpty ? none : "\(lanes)")</section>"
    }

    private func lane(_ lane: Report.Lane) -> Markup {
        let check = report.checks.first { $0.kind == .lane(lane.name) }
        let level = check?.level ?? .warning
        let word =
            lane.gateway == nil ? "off" : lane.blockedReason == nil ? (check?.state ?? "open") : "blocked"
        var facts = [
            "\(Words.count(lane.figures.delivered)) delivered",
            "\(Words.count(lane.waiting)) waiting",
        ]
        if let age = lane.oldestAge { facts.append("oldest \(Words.time(age))") }
        if let gateway = lane.gateway {
            facts.append("\(gateway.connections) connection\(gateway.connections == 1 ? "" : "s")")
            facts.append("\(gateway.inFlight) being sent")
        }
        if let last = lane.figures.lastDelivery {
            facts.append("last \(Words.time(report.age(of: last))) ago")
        }
        if let certificate = report.certificates.first(where: { $0.app == lane.app }),
            lane.host == .production
        {
            let left = certificate.end - report.now.milliseconds / 1000
            facts.append(left > 0 ? "certificate: \(left / 86_400) days left" : "certificate: expired")
        }
        let reason: Markup =
            lane.blockedReason.map { "<p>\($0)</p>" } ?? lane.gateway?.lastError.map {
                "<p class=\"soft\">last error: \($0)</p>"
            } ?? ""
        if lane.figures.probes > 0 { facts.append("\(Words.count(lane.figures.probes)) checks from outside") }
        let items = facts.map { "<span>\(bound($0))</span>" as Markup }
        let short = word.utf8.count > 40 ? level.rawValue : word
        return """
            <div class="lane \(level.rawValue)"><p><b>\(lane.app)</b>\(lane.host == .production ? "" : " (\(lane.host))") \
            <span class="pill">\(short)</span></p>\(reason)<div class="facts">\(items)</div></div>
            """
    }

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
