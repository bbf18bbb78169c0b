import Figures

/// The plots over time. The bars are boxes and no drawings: they are there where a browser shows no SVG too, and each
/// shows its values under the pointer.
extension StatusPage {
    /// The row of boxes that shows the health in each quarter of an hour of the last day.
    var strip: Markup {
        let slots = report.timeline.strip(at: report.now.milliseconds)
        let known = slots.compactMap(\.level)
        guard !known.isEmpty else { return "" }
        let boxes = slots.map { slot -> Markup in
            guard let level = slot.level else { return "<i></i>" }
            return
                "<i class=\"\(level.rawValue)\" title=\"\(Words.clock(slot.from)): \(StatusPage.words(level))\"></i>"
        }
        let bad = known.filter { $0 == .failing }.count
        let words =
            bad == 0
            ? "no check failed" : "a check failed in \(bad) of \(known.count) quarters of an hour"
        // What was before nobody knows.
        let first = slots.first { $0.level != nil }?.from ?? slots[0].from
        let span = first == slots[0].from ? "last 24 hours (UTC)" : "since \(Words.clock(first)) UTC"
        return """
            <div class="strip" role="img" aria-label="\(span): \(words)">\(boxes)</div>\
            <div class="axis"><span>\(Words.clock(slots[0].from))</span><span>\(span): \(words)</span>\
            <span>now</span></div>
            """
    }

    private static func words(_ level: Check.Level) -> String {
        switch level {
        case .ok: "no trouble known"
        case .warning: "a warning"
        case .failing: "a check failed"
        }
    }

    var plots: Markup {
        let hour = report.history.spans(of: 1, count: 60)
        let day = report.history.spans(of: 15, count: 96)
        let waiting = report.history.mostWaiting(of: 15, count: 96)
        return """
            <section>\(title("Deliveries and refusals", "now_day"))\
            \(figure("By minute", hour, minutes: 1))\
            \(figure("By quarter of an hour", day, minutes: 15))\
            <p class="soft note"><span class="key t1">delivered</span><span class="key t2">refused</span>\
            <span class="key t3">expired</span></p></section>
            <section>\(title("Waiting, and time to delivery", "now_wait"))\
            \(gauge("Most that waited", waiting.map(Int64.init)) { Words.count(Int($0)) })\
            \(gauge("Time to delivery, on average", day.map { $0.meanDelivery ?? 0 }) { bound(Words.latency($0)) })\
            </section>
            """
    }

    private func figure(_ title: String, _ spans: [History.Totals], minutes: Int) -> Markup {
        let highest = spans.map(\.ended).max() ?? 0
        let parts = spans.enumerated().map { index, span -> Markup in
            guard span.ended > 0 else { return "<i></i>" }
            let words = "\(times(index, of: spans.count, minutes: minutes)): \(span.inWords)"
            let boxes = [
                ("delivered", span.delivered), ("expired", span.expired), ("refused", span.refused.total),
            ].filter { $0.1 > 0 }.map { name, count -> Markup in
                "<b class=\"\(name) h\(StatusPage.height(Int64(count), of: Int64(highest)))\"></b>"
            }
            return "<i title=\"\(words)\">\(boxes)</i>"
        }
        let sum = spans.reduce(into: History.Totals()) { $0.add($1) }
        guard highest > 0 else { return empty(title) }
        return plot(
            "\(title): \(sum.inWords)", parts, top: Words.count(highest), half: half(highest),
            minutes: minutes)
    }

    private func gauge(_ title: String, _ values: [Int64], _ words: (Int64) -> String) -> Markup {
        let highest = values.max() ?? 0
        let parts = values.enumerated().map { index, value -> Markup in
            guard value > 0 else { return "<i></i>" }
            return """
                <i title="\(times(index, of: values.count, minutes: 15)): \(words(value))">\
                <b class="gauge h\(StatusPage.height(value, of: highest))"></b></i>
                """
        }
        guard highest > 0 else { return empty(title) }
        let top = words(highest)
        return plot(
            "\(title): at most \(top)", parts, top: top, half: highest > 1 ? words(highest / 2) : "",
            minutes: 15)
    }

    /// Returns a caption in place of a plot from 0 to 0, which would show nothing.
    private func empty(_ title: String) -> Markup {
        "<figure><figcaption>\(title): nothing yet</figcaption></figure>"
    }

    private func half(_ highest: Int) -> String {
        highest > 1 && highest % 2 == 0 ? Words.count(highest / 2) : ""
    }

    private func plot(_ title: String, _ bars: [Markup], top: String, half: String, minutes: Int) -> Markup {
        let ticks = (0...4).map { tick -> Markup in
            let ago = Int64(bars.count * minutes * (4 - tick) / 4) * 60_000
            return "<span>\(tick == 4 ? "now" : Words.clock(report.now.milliseconds - ago))</span>"
        }
        return """
            <figure><figcaption>\(title)</figcaption><div class="plot"><div class="y"><span>\(top)</span>\
            <span>\(half)</span><span>0</span></div><div class="bars" role="img" aria-label="\(title)">\(bars)</div>\
            <div class="axis">\(ticks)</div></div></figure>
            """
    }

    /// Returns the times of a bar, as in `10:15–10:30`; the last one ends now.
    private func times(_ index: Int, of count: Int, minutes: Int) -> String {
        let end = report.now.milliseconds - Int64((count - 1 - index) * minutes) * 60_000
        return "\(Words.clock(end - Int64(minutes) * 60_000))–\(Words.clock(end))"
    }

    /// Returns the height of a bar: percent in steps of two, at least 2. So what
    /// happened is seen, however little it is beside the rest.
    static func height(_ value: Int64, of highest: Int64) -> Int {
        let percent = Int((Double(value) * 100 / Double(max(1, highest))).rounded())
        return min(100, max(2, percent - percent % 2))
    }
}

extension History.Totals {
    /// The number of notifications that came to their end.
    var ended: Int { delivered + expired + refused.total }

    var inWords: String {
        "\(Words.count(delivered)) delivered, \(Words.count(refused.total)) refused, \(Words.count(expired)) expired"
    }
}
