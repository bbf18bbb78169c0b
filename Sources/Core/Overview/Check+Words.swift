import Figures
import Relay

extension Check {
    /// Says in a headline what the check means for those whom notifications are for.
    fileprivate func headline(in report: Report) -> String {
        let isFailing = level == .failing
        if report.isProving, Timeline.settlingChecks.contains(kind) {
            return "The node has just started: its address is published, and not proved by a call yet"
        }
        return switch kind {
        case .onion, .tor:
            report.uptime < .milliseconds(Timeline.settling) || report.onion.state.isOnItsWay
                ? "The node is getting ready: its address can't be reached yet"
                : "Senders cannot reach this node"
        case .selfDial: "Senders may not reach this node"
        case .front: "Senders may not reach the address that they use"
        case .outbox:
            isFailing ? "No new notifications are accepted" : "Soon no new notifications will be accepted"
        case .disk:
            isFailing
                ? "Soon no new notifications can be accepted: the disk"
                : report.isDelivering
                    ? "Notifications go out, but the disk is filling up" : "The disk is filling up"
        case .nodes: "Not all nodes of the database are well"
        case .database: "The database is slow"
        case .backlog: isFailing ? "Senders of one app are turned away" : "Much waits for one app"
        case .loop: isFailing ? "The node is too slow" : "The node is slow"
        case .connections:
            isFailing ? "New senders are turned away" : "Room for new senders is nearly used up"
        case .circuits: "Many connections of senders were cut"
        case .pushing:
            isFailing
                ? report.stalledHeadline ?? "Notifications do not go out"
                : "Nobody can be rung: no app has credentials"
        case .settings: "The settings in the file are not those in use"
        case .certificate:
            isFailing ? "\(kind.title) is about to end, or has ended" : "\(kind.title) ends soon"
        case .lane(let name):
            isFailing
                ? "Notifications for \(name) are not delivered" : "Notifications for \(name) may be late"
        }
    }
}

extension Report {
    /// The state of the node in a sentence: what it means for people.
    package var verdict: (level: Check.Level, word: String, sentence: String) {
        let worst = checks.level
        let bad = faults.filter { $0.level == worst }
        guard worst != .ok, let first = bad.min(by: { $0.kind.rank < $1.kind.rank }) else {
            return (.ok, "OK", wellSentence)
        }
        // One cause has several checks as a rule: what follows is read below.
        let more = bad.count - 1
        let rest = more == 0 ? "" : " (and \(more == 1 ? "one more thing" : "\(more) more things"))"
        return (worst, worst == .failing ? "Failing" : "Warning", first.headline(in: self) + rest)
    }

    /// Whether all that is wrong is what a start takes: tor is not there at once.
    var isStarting: Bool {
        uptime < .seconds(180) && checks.level != .ok
            && checks.allSatisfy {
                $0.level == .ok || $0.kind == .onion
                    || $0.level == .warning && Timeline.settlingChecks.contains($0.kind)
            }
    }

    /// Whether the node has started, with an address that is published and that no call has proved since: after a restart in
    /// place senders have it all the time.
    var isProving: Bool {
        isStarting && onion.state == .published
            && !checks.contains { $0.kind == .onion && $0.level == .failing }
    }

    /// The headline where no check is unwell. That all works is shown by a delivery of the last day, and by nothing else.
    private var wellSentence: String {
        guard let last = lastDelivery else {
            return "Nothing is known to be wrong; nothing was delivered since the start"
        }
        let age = age(of: last)
        return age <= .seconds(86_400)
            ? "Everything works"
            : "Nothing is known to be wrong; nothing was delivered for \(Words.time(age))"
    }

    /// Whether no check is unwell, and nothing was delivered in the last day, by this process or one before it.
    var isQuiet: Bool {
        checks.level == .ok && lastDelivery.map { age(of: $0) > .seconds(86_400) } ?? true
            && history.sum(ofLast: History.minutes).delivered == 0
    }

    /// Whether nothing is known that keeps notifications from going out.
    fileprivate var isDelivering: Bool {
        checks.allSatisfy { $0.level == .ok || !$0.kind.concernsDelivery }
    }

    /// The checks that are not well, the worst first. If two hosts of an app have the same words, they are said once.
    package var faults: [Check] {
        var faults: [Check] = []
        for check in checks where check.level != .ok {
            let twin = faults.firstIndex { other in
                app(of: check) != nil && app(of: check) == app(of: other)
                    && (check.level, check.state, check.advice) == (other.level, other.state, other.advice)
            }
            guard let twin else {
                faults.append(check)
                continue
            }
            if faults[twin].name.utf8.count > check.name.utf8.count { faults[twin] = check }
        }
        return faults.enumerated().sorted { ($1.element.level, $0.offset) < ($0.element.level, $1.offset) }
            .map(\.element)
    }

    /// Returns the app of a lane's check; `nil`: the check is not a lane's.
    private func app(of check: Check) -> String? { lanes.first { check.kind == .lane($0.name) }?.app }

    /// The lanes that are shown: those that were used or have something to say. An app for browsers has a
    /// lane for each of their makers.
    package var shownLanes: [Lane] {
        lanes.filter { lane in
            lane.host == .production || lane.host == .sandbox || lane.waiting > 0 || lane.gateway == nil
                || lane.figures != LaneFigures()
                || checks.contains { $0.kind == .lane(lane.name) && $0.level != .ok }
        }
    }

    fileprivate var stalledHeadline: String? {
        let oldest = lanes.filter { $0.oldestDueAge.map { $0 >= Report.stalledAfter } ?? false }
            .compactMap(\.oldestDueAge).max()
        return oldest.map { "Notifications have not gone out for \(Words.time($0))" }
    }
}
