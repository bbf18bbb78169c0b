import Figures

/// The report for a terminal of 80 columns: what `onionbell status` shows.
package struct StatusText {
    /// The most reasons of refusals with a line about what helps.
    private static let explained = 3
    private let report: Report
    private let isColoured: Bool
    private var text = ""

    package static func text(of report: Report, coloured: Bool) -> String {
        var text = StatusText(report, coloured: coloured)
        text.addVerdict()
        text.addOnion()
        text.addOutbox()
        text.addShared()
        text.addGateways()
        text.addTraffic()
        text.addLatency()
        return text.text
    }

    private init(_ report: Report, coloured: Bool) {
        self.report = report
        isColoured = coloured
    }

    private mutating func addVerdict() {
        let verdict = report.verdict
        line(painted(verdict.sentence, verdict.level), in: "Onionbell \(report.version)")
        for check in report.faults {
            line(painted("\(check.name): \(check.state)", check.level), in: "")
            if let advice = check.advice { line("-> \(advice)", in: "") }
        }
        line(
            "up for \(Words.time(report.uptime)), \(Words.bytes(report.process.residentBytes)) of memory",
            in: "")
    }

    private mutating func addOnion() {
        let onion = report.onion
        gap()
        line(onion.address ?? "not made yet", in: "Address")
        if onion.address != nil {
            line("ports " + onion.ports.map(String.init).joined(separator: ", "), in: "")
        }
        if onion.isBehindFront, let own = onion.ownAddress { line("of this node: \(own)", in: "") }
        if let privacy = onion.privacy { line(privacy, in: "") }
        line(onion.sentence, in: "Tor")
        var facts = [onion.isConnected ? onion.version.map { "tor \($0)" } ?? "connected" : "not connected"]
        if onion.isConnected, let bootstrap = onion.bootstrap {
            facts.append("\(bootstrap) % in the network")
        }
        if let upload = onion.lastUpload {
            facts.append("last upload \(Words.time(report.age(ofUnix: upload))) ago")
        }
        if let dial = onion.lastSelfDial {
            facts.append("reached \(Words.time(report.age(ofUnix: dial))) ago")
        }
        line(facts.joined(separator: ", "), in: "")
    }

    private mutating func addOutbox() {
        let outbox = report.outbox
        gap()
        let age = report.oldestAge.map { ", the oldest for \(Words.time($0))" } ?? ""
        line("\(outbox.waiting) of \(outbox.waitingLimit)\(age)", in: "Waiting")
        let hour = report.history.sum(ofLast: 60)
        let day = report.history.sum(ofLast: History.minutes)
        let perMinute = Double(hour.delivered) / Double(min(60, max(1, report.history.covered)))
        let rate = Int((perMinute * 10).rounded())
        let ofHour = "\(hour.delivered) \(within(60)) (\(rate / 10).\(rate % 10) a minute)"
        // A node that just started knows of one span only.
        let ofDay =
            within(60) == within(History.minutes) ? "" : ", \(day.delivered) \(within(History.minutes))"
        line(ofHour + ofDay, in: "Delivered")
        let refused = day.refused.isEmpty ? "none" : day.refused.inWords
        line("\(refused) \(within(History.minutes))", in: "Refused")
        let most = day.refused.sorted.sorted { $0.count > $1.count }.prefix(StatusText.explained)
        for (code, _) in most { line("-> \(code): \(RefusalHelp.text(of: code))", in: "") }
        if day.expired + day.busy > 0 {
            line("\(day.expired) expired, \(day.busy) rejected (busy) \(within(History.minutes))", in: "")
        }
    }

    /// Names the time that the last minutes of the history cover, as in `in 24 hours`.
    private func within(_ minutes: Int) -> String {
        let span = report.span(ofLast: minutes)
        return span == "1 hour" ? "in the last hour" : "in \(span)"
    }

    private mutating func addShared() {
        guard let shared = report.shared else { return }
        gap()
        if !shared.nodes.isEmpty {
            table(
                ["Node", "shards", "waiting", "oldest", "lease", "version"],
                shared.nodes.map { node in
                    (
                        [
                            node.title + (node.isHere ? ", this one" : node.isAlive ? "" : ", gone"),
                            "\(node.shards.count)", "\(node.waiting.waiting)",
                            report.oldestAge(of: node).map(Words.time) ?? "-",
                            Words.time(node.leaseAge), node.version,
                        ], node.isAlive ? .ok : .warning
                    )
                })
        }
        for (index, fact) in Words.facts(of: shared).enumerated() {
            line("\(fact.0): \(fact.1)", in: index == 0 ? "Database" : "")
        }
    }

    private mutating func addGateways() {
        gap()
        table(
            ["Gateway", "state", "waiting", "delivered", "refused", "dead", "last"],
            report.shownLanes.map { lane in
                let check = report.checks.first { $0.kind == .lane(lane.name) }
                let state =
                    lane.gateway == nil
                    ? "off"
                    : lane.blockedReason != nil
                        ? "blocked"
                        : lane.isPaused ? "paused" : lane.figures.lastJudgement == nil ? "unused" : "open"
                let last = lane.figures.lastDelivery.map { Words.time(report.age(of: $0)) } ?? "-"
                return (
                    [
                        lane.name, state, "\(lane.waiting)", "\(lane.figures.delivered)",
                        "\(lane.figures.refused.total)", "\(lane.figures.tokensDead.total)", last,
                    ], check?.level ?? .ok
                )
            })
    }

    private mutating func addTraffic() {
        gap()
        table(
            ["Endpoint", "accepted", "repeated", "busy", "refused"],
            report.doors.map { door in
                let figures = door.figures
                return (
                    [
                        door.name, "\(figures.accepted)", "\(figures.duplicates)",
                        "\(figures.busyDevice + figures.busyNode)", "\(figures.refused.total)",
                    ], .ok
                )
            })
        line(
            "\(Words.count(report.peers.open, of: "peer")), \(Words.count(report.http.open, of: "HTTP client"))",
            in: "Connected")
        for (index, words) in report.limitsHit.inLines(upTo: 60).enumerated() {
            line(words, in: index == 0 ? "Limits hit" : "")
        }
    }

    private mutating func addLatency() {
        var rows = report.doors.map { ("answer at \($0.name)", $0.figures.receiptTime) }
        rows.append(("commit", report.outbox.commits.time))
        rows += report.lanes.compactMap { lane in
            lane.gateway.map { ("request to \(lane.name)", $0.answerTime) }
        }
        rows += report.lanes.map { ("delivery to \($0.name)", $0.figures.deliveryTime) }
        rows = rows.filter { $0.1.count > 0 }
        guard !rows.isEmpty else { return }
        gap()
        table(
            ["Latency", "median", "99 %"],
            rows.map { name, times in
                ([name, Words.latency(times.quantile(0.5)), Words.latency(times.quantile(0.99))], .ok)
            })
    }

    // MARK: Lines

    private mutating func gap() { text += "\n" }

    private mutating func line(_ words: String, in column: String) {
        text +=
            (column + String(repeating: " ", count: max(1, 17 - column.count)) + words).trimmingBlanks + "\n"
    }

    /// Adds a table. The first column stands left, the others right.
    private mutating func table(_ head: [String], _ rows: [(cells: [String], level: Check.Level)]) {
        let lines = [head] + rows.map(\.cells)
        let widths = head.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        for (index, cells) in lines.enumerated() {
            let words = cells.enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + blanks : blanks + cell
            }.joined(separator: "  ")
            let level = index == 0 ? .ok : rows[index - 1].level
            text += (level == .ok ? words.trimmingBlanks : painted(words.trimmingBlanks, level)) + "\n"
        }
    }

    private func painted(_ words: String, _ level: Check.Level) -> String {
        guard isColoured else { return words }
        let colour =
            switch level {
            case .ok: "32"
            case .warning: "33"
            case .failing: "31"
            }
        return "\u{1b}[\(colour)m\(words)\u{1b}[0m"
    }
}

extension String {
    fileprivate var trimmingBlanks: String { String(reversed().drop { $0 == " " }.reversed()) }
}
