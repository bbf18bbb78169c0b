import Clocks
import Relay

extension Report {
    /// A database that several nodes can use.
    package struct Shared: Equatable, Sendable {
        /// The number of shards that are this node's.
        package var shards = 0
        /// The nodes that the database knows; empty: this one is alone.
        package var nodes: [SharedNode] = []
        package var withoutOwner = 0
        package var withoutOwnerFor: Duration?
        /// The number of times that shards were taken from a node that did not give them up.
        package var takeOvers = 0
        /// The most notifications that can have gone out twice: the node that lost their shards may have begun to
        /// send them.
        package var mayRepeat = 0
        /// The median time of a commit within the last minute; `nil`: there was none.
        package var medianCommit: Duration?
        package var longestCommit: Duration?

        package init() {}

        var alive: Int { max(1, nodes.count(where: \.isAlive)) }
    }

    /// Returns the age of the oldest notification that waits for a node; `nil`: nothing does.
    func oldestAge(of node: SharedNode) -> Duration? {
        node.waiting.oldestAcceptedAt.map { age(ofUnix: $0) }
    }

    /// The time without an owner at which shards are a warning. A lease ends after 8 seconds.
    static let ownerlessWarning = Duration.seconds(30)
    /// The age of a lease that is a warning. A node commits every 2 seconds at least, and sends nothing more
    /// after 6.
    static let leaseWarning = Duration.seconds(5)
    /// The median time of commits that is a warning: senders wait for commits.
    static let commitWarning = Duration.milliseconds(200)
    /// The longest time of a commit that is a warning. A node that has had none for 6 seconds sends nothing more.
    static let longestCommitWarning = Duration.seconds(2)
    /// The error of a clock that is a warning. Times that one node writes are read by another one: when a
    /// notification expires, and until when a device is spared.
    package static let clockWarning = Duration.seconds(30)

    var sharedChecks: [Check] {
        guard let shared else { return [] }
        return [nodesCheck(shared), databaseCheck(shared)]
    }

    private func nodesCheck(_ shared: Shared) -> Check {
        func warning(_ state: String, _ advice: String) -> Check {
            Check(.nodes, level: .warning, state: state, advice: advice)
        }
        if let time = shared.withoutOwnerFor, time >= Report.ownerlessWarning {
            return warning(
                "\(shared.withoutOwner) of 256 shards have had no owner for \(Words.time(time)): what is for their "
                    + "devices waits",
                "see the other nodes' logs: one of them takes no more, or this one can't")
        }
        if let node = shared.nodes.first(where: { $0.isAlive && $0.leaseAge >= Report.leaseWarning }) {
            return warning(
                "node \(node.title) has not renewed its lease for \(Words.time(node.leaseAge))",
                "see whether its machine stands still, or the way from it to the database is cut: the others take "
                    + "its shards when 8 s are over")
        }
        if let node = shared.nodes.first(where: { abs($0.clockAhead) >= Report.clockWarning }) {
            let error = Words.time(abs(node.clockAhead))
            return warning(
                node.clockAhead > .zero
                    ? "the clock of node \(node.title) is \(error) ahead of the database's"
                    : "the clock of node \(node.title) is \(error) behind the database's",
                "set the clocks of all machines by NTP: nodes read the times that others have written")
        }
        return .proven(
            .nodes,
            shared.alive == 1
                ? "this one alone, with \(shared.shards) of 256 shards"
                : "\(shared.alive) nodes, \(shared.shards) of 256 shards are this one's", commitAge)
    }

    private func databaseCheck(_ shared: Shared) -> Check {
        guard let median = shared.medianCommit, let longest = shared.longestCommit else {
            return .proven(.database, "no commit within the last minute", commitAge)
        }
        let state =
            "commits took \(Words.latency(median.nanoseconds)) in the middle and "
            + "\(Words.latency(longest.nanoseconds)) at most within a minute"
        guard median >= Report.commitWarning || longest >= Report.longestCommitWarning else {
            return .proven(.database, state, commitAge)
        }
        return Check(
            .database, level: .warning, state: state,
            advice:
                "see what else uses the database's disk, and how far it is: each commit takes one round trip "
                + "and one write to its disk, with a synchronous standby another one")
    }
}

private func abs(_ time: Duration) -> Duration { time < .zero ? .zero - time : time }

extension MetricsPage {
    mutating func addShared() {
        guard let shared = report.shared else { return }
        page.begin("onionbell_nodes_alive", .gauge, "Nodes of the database whose leases have not ended.")
        page.add(shared.alive)
        page.begin("onionbell_shards_owned", .gauge, "Shards of 256 that are this node's.")
        page.add(shared.shards)
        page.begin("onionbell_shards_without_owner", .gauge, "Shards of no node that is alive.")
        page.add(shared.withoutOwner)
        page.begin(
            "onionbell_take_overs_total", .counter,
            "Times that shards were taken from a node that did not give them up.")
        page.add(shared.takeOvers)
        page.begin(
            "onionbell_possible_repetitions_total", .counter,
            "Notifications that such a node may have begun to send: at most so many went out twice.")
        page.add(shared.mayRepeat)
        page.begin("onionbell_node_shards", .gauge, "Shards of each node of the database.")
        for node in shared.nodes { page.add(node.shards.count, [("node", "\(node.number)")]) }
        page.begin("onionbell_node_waiting_notifications", .gauge, "What waits for each node to send it.")
        for node in shared.nodes { page.add(node.waiting.waiting, [("node", "\(node.number)")]) }
        page.begin(
            "onionbell_node_oldest_age_seconds", .gauge,
            "Age of the oldest that waits for each node; 0: none.")
        for node in shared.nodes {
            page.add((report.oldestAge(of: node) ?? .zero).inSeconds, [("node", "\(node.number)")])
        }
        page.begin("onionbell_node_lease_age_seconds", .gauge, "Since each node renewed its lease.")
        for node in shared.nodes { page.add(node.leaseAge.inSeconds, [("node", "\(node.number)")]) }
        page.begin(
            "onionbell_node_clock_ahead_seconds", .gauge,
            "How far each node's clock is ahead of the database's.")
        for node in shared.nodes { page.add(node.clockAhead.inSeconds, [("node", "\(node.number)")]) }
    }
}

extension StatusPage {
    /// The section about the nodes that share the store; empty where the store is a file.
    var shared: Markup {
        guard let shared = report.shared else { return "" }
        let rows = shared.nodes.map { node -> Markup in
            let name = node.title + (node.isHere ? " (this one)" : node.isAlive ? "" : " (gone)")
            return """
                <tr><td>\(name)</td><td>\(node.shards.count)</td><td>\(Words.count(node.waiting.waiting))</td>\
                <td>\(report.oldestAge(of: node).map(Words.time) ?? "–")</td><td>\(Words.time(node.leaseAge))</td>\
                <td>\(node.version)</td></tr>
                """
        }
        let table: Markup =
            rows.isEmpty
            ? ""
            : """
            <table class="nodes"><thead><tr><th>node</th><th>shards</th><th>waiting</th><th>oldest</th><th>lease</th>\
            <th>version</th></tr></thead><tbody>\(rows)</tbody></table>
            """
        let facts = Words.facts(of: shared).map { "<dt>\($0)</dt><dd>\(bound($1))</dd>" as Markup }
        return "<section>\(title("Nodes of the database", "now_nodes"))\(table)<dl>\(facts)</dl></section>"
    }
}

extension Words {
    /// Returns the facts about a shared database, beside its nodes.
    static func facts(of shared: Report.Shared) -> [(String, String)] {
        var facts = [("own shards", "\(shared.shards) of 256")]
        if shared.withoutOwner > 0 {
            let time = shared.withoutOwnerFor.map { ", for \(Words.time($0))" } ?? ""
            facts.append(("shards without owner", "\(shared.withoutOwner)\(time)"))
        }
        if let median = shared.medianCommit, let longest = shared.longestCommit {
            facts.append(
                (
                    "commits, last minute",
                    "\(Words.latency(median.nanoseconds)) in the middle, "
                        + "\(Words.latency(longest.nanoseconds)) at most"
                ))
        }
        let repeated =
            shared.takeOvers == 0
            ? "none" : "\(shared.takeOvers); at most \(Words.count(shared.mayRepeat)) went out twice"
        facts.append(("taken over since the start", repeated))
        return facts
    }
}

extension SharedNode {
    /// The number and the name of the node, as in `2 at host`.
    var title: String { "\(number) at \(name)" }
}
