import Metrics

/// The parts of the page that tell of the node itself.
extension StatusPage {
    var onion: Markup {
        let onion = report.onion
        var rows: [(String, String)] = [
            ("onion service", onion.isPublished ? "published" : onion.state),
            ("tor", onion.isConnected ? onion.version ?? "connected" : "not connected"),
            ("bootstrap", onion.isConnected ? onion.bootstrap.map { "\($0) %" } ?? "–" : "–"),
            ("circuit", words(onion.hasCircuit)), ("network alive", words(onion.isNetworkLive)),
            ("introduction points", "\(onion.introductionPoints)"),
            ("descriptor uploads", uploads),
            ("last upload", ago(onion.lastUpload)),
            ("client circuits", "\(onion.clientCircuits)"), ("last client", ago(onion.lastClient)),
            ("reached from outside", reached),
        ]
        if let skew = onion.clockSkew, skew != 0 { rows.append(("clock error, says tor", "\(skew) s")) }
        if !onion.losses.isEmpty { rows.append(("losses", onion.losses.inWords)) }
        if onion.torStarts > 1 { rows.append(("starts of tor", "\(onion.torStarts)")) }
        return "<section><h2>Tor</h2>\(list(rows))</section>"
    }

    private var uploads: String {
        let failures = report.onion.uploadFailures.total
        return "\(report.onion.uploads)" + (failures > 0 ? ", \(failures) refused" : "")
    }

    private var reached: String {
        let onion = report.onion
        guard let last = onion.lastSelfDial else { return onion.selfDialFailure ?? "not tried" }
        let time = onion.lastSelfDialTime.map { " in \(Words.time($0))" } ?? ""
        return ago(last) + time
    }

    private func ago(_ time: Int64?) -> String {
        time.map { Words.time(report.age(ofUnix: $0)) + " ago" } ?? "–"
    }
    private func words(_ fact: Bool?) -> String { fact.map { $0 ? "yes" : "no" } ?? "–" }

    var node: Markup {
        let process = report.process
        let rows: [(String, String)] = [
            ("memory", Words.bytes(process.residentBytes)),
            ("processor time", Words.time(process.processorTime)),
            ("loop late by", Words.time(max(report.loop.lag, report.loop.longestTurn))),
            ("open files", "\(Words.count(process.openFiles)) of \(Words.count(process.openFilesLimit))"),
            ("disk left", report.outbox.diskAvailable.map(Words.bytes) ?? "–"),
            (
                "waiting",
                "\(Words.count(report.outbox.waiting)) of \(Words.count(report.outbox.waitingLimit)), "
                    + Words.bytes(report.outbox.waitingBytes)
            ),
            ("dead devices known", Words.count(report.outbox.deadTokens)),
            ("peers", "\(Words.count(report.peers.open)) of \(Words.count(report.peers.limit))"),
            ("HTTP clients", "\(Words.count(report.http.open)) of \(Words.count(report.http.limit))"),
            ("limits hit", report.limitsHit.total == 0 ? "none" : report.limitsHit.inWords),
            ("started", Words.date(process.startedAt)),
        ]
        return "<section><h2>Node</h2>\(list(rows))</section>"
    }

    var checks: Markup {
        let items = report.checks.map { check -> Markup in
            """
            <li class="\(check.level.rawValue)"><span class="pill">\(check.level.rawValue)</span>\
            <span><b>\(check.name)</b>: \(check.state)</span></li>
            """
        }
        return "<section><h2>Checks</h2><ul class=\"checks\">\(items)</ul></section>"
    }

    private func list(_ rows: [(String, String)]) -> Markup {
        "<dl>\(rows.map { "<dt>\($0)</dt><dd>\($1)</dd>" as Markup })</dl>"
    }
}

extension WordCounts {
    /// `3 process, 1 suspended`.
    var inWords: String {
        words.joined(separator: ", ")
    }

    /// The same in lines of at most so many characters; none if nothing was counted.
    func inLines(upTo width: Int) -> [String] {
        words.reduce(into: []) { lines, word in
            if let last = lines.last, last.count + word.count + 2 <= width {
                lines[lines.count - 1] = last + ", " + word
            } else {
                lines.append(word)
            }
        }
    }

    private var words: [String] { sorted.filter { $0.count > 0 }.map { "\($0.count) \($0.word)" } }
}

extension Report {
    /// The state of the node in a sentence.
    package var verdict: (level: Check.Level, word: String, sentence: String) {
        let bad = checks.filter { $0.level == checks.level }.count
        switch checks.level {
        case .ok: return (.ok, "OK", "Everything works")
        case .warning:
            return (
                .warning, "Warning",
                "It works, with \(bad == 1 ? "one warning" : "\(bad) warnings")"
            )
        case .failing:
            return (.failing, "Failing", bad == 1 ? "One check fails" : "\(bad) checks fail")
        }
    }
}
