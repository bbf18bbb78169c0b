import Clocks
import Figures

/// The parts of the page that tell of the node itself.
extension StatusPage {
    var onion: Markup {
        let onion = report.onion
        var rows: [(String, String)] = [
            ("onion service", onion.state.rawValue),
            ("tor", onion.isConnected ? onion.version ?? "connected" : "not connected"),
            ("bootstrap", onion.isConnected ? onion.bootstrap.map { "\($0) %" } ?? "–" : "–"),
            ("circuit", words(onion.hasCircuit)), ("network alive", words(onion.isNetworkLive)),
            ("introduction points", onion.isConnected ? "\(onion.introductionPoints)" : "–"),
            ("descriptor uploads", uploads),
            ("last upload", ago(onion.lastUpload)),
            ("client circuits", onion.isConnected ? "\(onion.clientCircuits)" : "–"),
            ("last client", ago(onion.lastClient)),
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

    private func ago(_ time: UnixTime?) -> String {
        time.map { Words.time(report.age(ofUnix: $0)) + " ago" } ?? "–"
    }
    private func words(_ fact: Bool?) -> String { fact.map { $0 ? "yes" : "no" } ?? "–" }

    var node: Markup {
        let process = report.process
        var rows: [(String, String)] = [
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
            ("started", Words.date(process.startedAt.milliseconds)),
        ]
        for watch in report.watches {
            rows.append(
                (
                    "watch \(watch.name)",
                    (watch.isSilent ? "silent, " : "") + "last answer \(ago(watch.lastAnswer))"
                ))
        }
        if let mailboxes = report.mailboxes {
            rows += [
                (
                    "mailboxes",
                    "\(Words.count(mailboxes.mailboxes)), with \(Words.count(mailboxes.messages)) messages"
                ),
                (
                    "readers",
                    "\(Words.count(mailboxes.readers)) of \(Words.count(mailboxes.readersLimit))"
                ),
            ]
        }
        return "<section><h2>Node</h2>\(list(rows))</section>"
    }

    var checks: Markup {
        let items = report.checks.map { check -> Markup in
            """
            <li class="\(check.level.rawValue)"><span class="pill">\(check.level.rawValue)</span>\
            <span><b>\(check.kind.title)</b>: \(check.state)</span></li>
            """
        }
        return "<section><h2>All checks</h2><ul class=\"checks\">\(items)</ul></section>"
    }

    /// The section about the last changes of the checks, the latest first.
    var events: Markup {
        let items = report.timeline.events.reversed().map { event -> Markup in
            let head: Markup = event.kind.map { "\(name(of: $0)): " } ?? ""
            return """
                <li class="\(event.level.rawValue)"><time\(time(event.at))>\(moment(event.at))</time>\
                <span class="pill">\(event.level.rawValue)</span> <span>\(head)\(event.words)</span></li>
                """
        }
        let none: Markup = "<p class=\"soft\">Nothing has changed yet.</p>"
        let list: Markup = items.isEmpty ? none : "<ul class=\"checks\">\(items)</ul>"
        return "<section id=\"events\">\(title("Last changes (UTC)", "events_title"))\(list)</section>"
    }

    /// The section about the doors by which notifications come in, and about those whom they are for.
    var services: Markup {
        let doors = report.doors.filter { $0.figures.submitted > 0 }.map { door in
            ("accepted by \(door.name)", Words.count(door.figures.stored))
        }
        let counts = [
            ("phones in the phone book", report.phones), ("mailboxes", report.mailboxes?.mailboxes),
        ]
        .compactMap { name, count in count.map { (name, Words.count($0)) } }
        guard !(doors + counts).isEmpty else { return "" }
        return "<section><h2>Services, since the start</h2>\(list(doors + counts))</section>"
    }

    private func list(_ rows: [(String, String)]) -> Markup {
        "<dl>\(rows.map { "<dt>\($0)</dt><dd>\(bound($1))</dd>" as Markup })</dl>"
    }
}

extension WordCounts {
    /// The counted words in one line, as in `3 process, 1 suspended`.
    var inWords: String {
        words.joined(separator: ", ")
    }

    /// Returns the counted words in lines of at most `width` characters; none if nothing was counted.
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
