import Metrics
import Relay

/// The status page: one HTML document without script, readable without images, on a phone and in Tor Browser at its
/// safest level, in light and dark.
package struct StatusPage {
    /// Its only style; the page's policy names its digest.
    package static var style: String { StatusStyle.css }

    let report: Report

    package static func html(of report: Report) -> [UInt8] {
        Array(StatusPage(report: report).page.html.utf8)
    }

    private var page: Markup {
        let verdict = report.verdict
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">\
            <meta name="viewport" content="width=device-width,initial-scale=1">\
            <meta http-equiv="refresh" content="30"><title>\(verdict.word): Onionbell</title>
            <style>\(style)</style></head>
            <body><header class="\(verdict.level.rawValue)"><div>\
            <p>Onionbell \(report.version), up for \(Words.time(report.uptime))</p>\
            <h1>\(verdict.sentence)</h1>\(reasons)</div></header>
            <main>
            \(figures)
            \(address)
            \(plots)
            <div class="cards">
            \(gateways)
            \(refusals)
            \(latency)
            \(onion)
            \(node)
            </div>
            \(checks)
            </main>
            <footer>As of \(Words.date(report.now)); this page reloads every 30 seconds. \
            For programs: <a href="/metrics">metrics</a>, <a href="/healthz">health</a>, \
            <a href="/readyz">readiness</a>, <a href="/status.json">all of this as JSON</a>.</footer></body></html>

            """
    }

    /// Not text but CSS, and our own.
    private var style: Markup { Markup(stringLiteral: StatusStyle.css) }

    private var reasons: Markup {
        let bad = report.checks.filter { $0.level != .ok }.sorted { $0.level > $1.level }
        guard !bad.isEmpty else { return "" }
        let items = bad.map { check -> Markup in
            let advice: Markup = check.advice.map { "<p>\($0)</p>" } ?? ""
            return
                "<li class=\"\(check.level.rawValue)\"><b>\(check.name)</b>: \(check.state)\(advice)</li>"
        }
        return "<ul>\(items)</ul>"
    }

    // MARK: At a glance

    private var figures: Markup {
        let (hour, day) = (report.history.sum(ofLast: 60), report.history.sum(ofLast: History.minutes))
        let tiles: [(String, String)] = [
            (Words.count(report.outbox.waiting), "waiting"),
            (report.oldestAge.map(Words.time) ?? "–", "oldest waits for"),
            (Words.count(hour.delivered), "delivered, 1 hour"),
            (Words.count(day.delivered), "delivered, 24 hours"),
            (Words.count(day.refused.total), "refused, 24 hours"),
            (report.lastDelivery.map { Words.time(report.age(of: $0)) + " ago" } ?? "–", "last delivery"),
            (Words.count(report.peers.open), "peers connected"),
        ]
        return "<section><div class=\"tiles\">\(tiles.map(tile))</div></section>"
    }

    private func tile(_ figure: String, _ name: String) -> Markup {
        "<div><b>\(figure)</b><span>\(name)</span></div>"
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
        return """
            <section><h2>Onion address</h2><div class="address"><div><code>\(address)</code>\
            <p>\(onion.sentence)</p><p class="soft">ports \(ports)</p>\(text)</div>\(code)</div></section>
            """
    }

    /// Line by line: a line break in a text would be shown as `?`.
    private func preformatted(_ modules: Modules) -> [Markup] {
        StatusDrawings.codeAsText(modules).split(separator: "\n", omittingEmptySubsequences: false)
            .map { "\(String($0))\n" }
    }

    // MARK: Plots

    private var plots: Markup {
        let hour = report.history.spans(of: 1, count: 60)
        let day = report.history.spans(of: 15, count: 96)
        return """
            <section><h2>Deliveries and refusals</h2>\
            \(figure("Last hour, by minute", hour, "1 hour ago", unit: "minute"))\
            \(figure("Last 24 hours, by quarter of an hour", day, "24 hours ago", unit: "quarter"))\
            <p class="soft note"><span class="key t1">delivered</span><span class="key t2">refused</span>\
            <span class="key t3">expired</span></p></section>
            """
    }

    private func figure(_ title: String, _ spans: [History.Totals], _ start: String, unit: String) -> Markup {
        let highest = spans.map(StatusDrawings.total).max() ?? 0
        let sum = spans.reduce(into: (0, 0, 0)) { sum, span in
            sum.0 += span.delivered
            sum.1 += span.refused.total
            sum.2 += span.expired
        }
        let words =
            "\(Words.count(sum.0)) delivered, \(Words.count(sum.1)) refused, \(Words.count(sum.2)) expired"
        return """
            <figure><figcaption><span>\(title): \(words)</span>\
            <span>top: \(Words.count(highest)) a \(unit)</span></figcaption>\
            \(StatusDrawings.bars(spans, label: title))\
            <div class="axis"><span>\(start)</span><span>now</span></div></figure>
            """
    }

    private var refusals: Markup {
        let (hour, day) = (report.history.sum(ofLast: 60), report.history.sum(ofLast: History.minutes))
        let words = day.refused.counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(12)
        let rows = words.map { word, count -> Markup in
            "<tr><td>\(word)</td><td>\(Words.count(hour.refused[word]))</td><td>\(Words.count(count))</td></tr>"
        }
        let last: [Markup] = [
            row("rejected (busy)", hour.busy, day.busy), row("expired", hour.expired, day.expired),
        ]
        return """
            <section><h2>Refused, by reason</h2><table><thead><tr><th>reason</th><th>1 hour</th><th>24 hours</th>\
            </tr></thead><tbody>\(rows)\(last)</tbody></table></section>
            """
    }

    private func row(_ name: String, _ hour: Int, _ day: Int) -> Markup {
        "<tr><td class=\"soft\">\(name)</td><td>\(Words.count(hour))</td><td>\(Words.count(day))</td></tr>"
    }

    // MARK: Gateways

    private var gateways: Markup {
        let lanes = report.lanes.map(lane)
        let none: Markup = "<p class=\"soft\">No app is configured.</p>"
        return "<section><h2>Gateways</h2>\(lanes.isEmpty ? none : "\(lanes)")</section>"
    }

    private func lane(_ lane: Report.Lane) -> Markup {
        let check = report.checks.first { $0.name == lane.name }
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
            let left = certificate.end - report.now / 1000
            facts.append(left > 0 ? "certificate: \(left / 86_400) days left" : "certificate: expired")
        }
        let reason: Markup =
            lane.blockedReason.map { "<p>\($0)</p>" } ?? lane.gateway?.lastError.map {
                "<p class=\"soft\">last error: \($0)</p>"
            } ?? ""
        let items = facts.map { "<span>\($0)</span>" as Markup }
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
            <section><h2>Latency</h2><table><thead><tr><th>since the start</th><th>median</th>\
            <th>99 %</th></tr></thead><tbody>\(used.isEmpty ? [none] : used)</tbody></table></section>
            """
    }
}
