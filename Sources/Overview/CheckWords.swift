/// What checks mean for people who don't know their names.
extension Check {
    /// What is checked, as a heading; an app's is its name.
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

    /// Where more stands about it.
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

    /// What it means for those whom notifications are for, as a headline.
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
                : "Notifications go out, but the disk is filling up"
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
        let bad = checks.filter { $0.level == worst }
        guard worst != .ok, let first = bad.min(by: { Report.rank($0) < Report.rank($1) }) else {
            return (.ok, "OK", "Everything works")
        }
        // One cause has several checks as a rule: what follows is read below.
        let more = bad.count - 1
        let rest = more == 0 ? "" : " (and \(more == 1 ? "one more thing" : "\(more) more things"))"
        return (worst, worst == .failing ? "Failing" : "Warning", first.headline(in: self) + rest)
    }

    /// The first one is what people notice most.
    private static func rank(_ check: Check) -> Int {
        let order = [
            "onion", "tor", "outbox", "pushing", "self_dial", "front", "disk", "backlog", "connections",
        ]
        return order.firstIndex(of: check.name) ?? order.count
    }

    fileprivate var stalledHeadline: String? {
        let oldest = lanes.filter { $0.oldestDueAge.map { $0 >= Report.stalledAfter } ?? false }
            .compactMap(\.oldestDueAge).max()
        return oldest.map { "Notifications have not gone out for \(Words.time($0))" }
    }
}
