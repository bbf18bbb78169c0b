import Figures
import Relay

/// Words for people who don't know the names of the checks.
extension Check {
    /// The subject of the check, as a heading; an app's is its name.
    package var title: String {
        if name.hasSuffix(Check.certificateSuffix) {
            return "Certificate of \(name.dropLast(Check.certificateSuffix.count))"
        }
        return switch name {
        case "onion": "Onion address"
        case "self_dial": "Address called from outside"
        case "front": "Address before several nodes"
        case "tor": "Tor"
        case "outbox": "Store of waiting notifications"
        case "backlog": "What waits for one app"
        case "nodes": "Nodes of the database"
        case "database": "Speed of the database"
        case "disk": "Disk"
        case "loop": "Speed of the node"
        case "connections": "Room for connections"
        case "circuits": "Tor connections cut"
        case "pushing": "Delivery"
        case Timeline.start: "Start"
        case _: name
        }
    }

    /// The article that says more about the check.
    package var article: String {
        if name.hasSuffix(Check.certificateSuffix) { return "WhenThingsBreak" }
        return switch name {
        case "connections", "circuits": "PrivateNodes"
        case "front", "nodes", "database": "SeveralNodes"
        case "onion", "self_dial", "tor", "outbox", "backlog", "disk", "loop", "pushing": "WhenThingsBreak"
        case _: "ReasonCodes"
        }
    }

    private static let certificateSuffix = ".certificate"

    /// Says in a headline what the check means for those whom notifications are for.
    fileprivate func headline(in report: Report) -> String {
        if name.hasSuffix(Check.certificateSuffix) {
            return level == .failing ? "\(title) is about to end, or has ended" : "\(title) ends soon"
        }
        let isFailing = level == .failing
        return switch name {
        case "onion", "tor":
            report.uptime < .milliseconds(Timeline.settling)
                || ["connecting", "bootstrapping", "publishing"].contains(report.onion.state)
                ? "The node is getting ready: its address can't be reached yet"
                : "Senders cannot reach this node"
        case "self_dial": "Senders may not reach this node"
        case "front": "Senders may not reach the address that they use"
        case "outbox":
            isFailing ? "No new notifications are accepted" : "Soon no new notifications will be accepted"
        case "disk":
            isFailing
                ? "Soon no new notifications can be accepted: the disk"
                : report.isDelivering
                    ? "Notifications go out, but the disk is filling up" : "The disk is filling up"
        case "nodes": "Not all nodes of the database are well"
        case "database": "The database is slow"
        case "backlog": isFailing ? "Senders of one app are turned away" : "Much waits for one app"
        case "loop": isFailing ? "The node is too slow" : "The node is slow"
        case "connections":
            isFailing ? "New senders are turned away" : "Room for new senders is nearly used up"
        case "circuits": "Many connections of senders were cut"
        case "pushing":
            isFailing
                ? report.stalledHeadline ?? "Notifications do not go out"
                : "Nobody can be rung: no app has credentials"
        case _:
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
        guard worst != .ok, let first = bad.min(by: { rank($0) < rank($1) }) else {
            return (.ok, "OK", "Everything works")
        }
        // One cause has several checks as a rule: what follows is read below.
        let more = bad.count - 1
        let rest = more == 0 ? "" : " (and \(more == 1 ? "one more thing" : "\(more) more things"))"
        return (worst, worst == .failing ? "Failing" : "Warning", first.headline(in: self) + rest)
    }

    /// Returns the rank of a check: the first is what people notice most. An app that
    /// gets nothing is noticed before a disk that fills up.
    private func rank(_ check: Check) -> Int {
        let order = [
            "onion", "tor", "outbox", "pushing", "self_dial", "front", "an app", "disk", "backlog",
            "connections",
        ]
        return order.firstIndex(of: isOfLane(check) ? "an app" : check.name) ?? order.count
    }

    private func isOfLane(_ check: Check) -> Bool { lanes.contains { $0.name == check.name } }

    /// Whether nothing is known that keeps notifications from going out.
    fileprivate var isDelivering: Bool {
        !checks.contains { $0.level != .ok && (isOfLane($0) || ["outbox", "pushing"].contains($0.name)) }
    }

    /// The checks that are not well, the worst first. If two hosts of an app have the same words, they are said once.
    package var faults: [Check] {
        var faults: [Check] = []
        for check in checks where check.level != .ok {
            let twin = faults.firstIndex { other in
                isOfLane(check) && isOfLane(other) && app(of: check) == app(of: other)
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

    private func app(of check: Check) -> String? { lanes.first { $0.name == check.name }?.app }

    /// The lanes that were used, or have something to say: an app for browsers has one for each of their
    /// makers.
    package var shownLanes: [Lane] {
        lanes.filter { lane in
            lane.host == .production || lane.host == .sandbox || lane.waiting > 0 || lane.gateway == nil
                || lane.figures != LaneFigures()
                || checks.contains { $0.name == lane.name && $0.level != .ok }
        }
    }

    fileprivate var stalledHeadline: String? {
        let oldest = lanes.filter { $0.oldestDueAge.map { $0 >= Report.stalledAfter } ?? false }
            .compactMap(\.oldestDueAge).max()
        return oldest.map { "Notifications have not gone out for \(Words.time($0))" }
    }
}
