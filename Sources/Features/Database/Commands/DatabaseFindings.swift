import DatabaseEndpoint
import Glibc
import Node
import Overview
import Terminal

/// The doctor's look at the database that is to hold all that the node promises to keep.
package enum DatabaseFindings {
    /// Seconds that a shard may be without an owner, and a little more.
    private static let patience = 12

    /// Asks the database that the settings want.
    package static func find(_ settings: Settings) -> [Finding] {
        guard let feature = settings.feature(DatabaseFeature.self), feature.isWanted else { return [] }
        do {
            var report = try DatabaseReport.read(at: feature.address())
            // A node that was killed or stopped just now: the others take what it had within 10 seconds.
            for _ in 0..<patience where report.withoutOwner > 0 && report.owner != nil {
                sleep(1)
                report = try DatabaseReport.read(at: feature.address())
            }
            return findings(about: report)
        } catch {
            return [
                .fail(
                    "storage", "the database of storage.url does not answer: \(error)",
                    "start PostgreSQL, or correct storage.url and storage.password_file")
            ]
        }
    }

    /// Returns the findings about what a database says of itself.
    static func findings(about report: DatabaseReport) -> [Finding] {
        var findings: [Finding] = []
        for (setting, isOn) in [("fsync", report.fsync), ("full_page_writes", report.fullPageWrites)]
        where !isOn {
            findings.append(
                .fail(
                    "storage.\(setting)",
                    "PostgreSQL's \(setting) is off: a loss of power loses notifications that senders were told are stored",
                    "set \(setting) = on in postgresql.conf, and reload PostgreSQL"))
        }
        if ["off", "local"].contains(report.synchronousCommit) {
            findings.append(
                .warn(
                    "storage.synchronous_commit",
                    "PostgreSQL's synchronous_commit is \(report.synchronousCommit); the node's own connections set it to on",
                    "set synchronous_commit = on for this database, so that it does not depend on that"))
        }
        if report.standbys > report.synchronousStandbys {
            findings.append(
                .warn(
                    "storage.standby",
                    "\(report.standbys - report.synchronousStandbys) of \(report.standbys) standby servers are asynchronous: what they have not got is lost if one of them takes over",
                    "name the standby that is to take over in synchronous_standby_names"))
        }
        if let holder = report.holder,
            holder.age >= manyTransactions || holder.time ?? .zero >= longTransaction
        {
            let time = holder.time.map { " for \(Words.time($0))" } ?? ""
            findings.append(
                .warn(
                    "storage.open_transaction",
                    "\(holder.name) holds a transaction open\(time), \(holder.age) transactions old: "
                        + "\(report.deadRows) rows that are gone (\(report.liveRows) are there) can't be cleared away, and slow the nodes down",
                    "let it end if it is a backup; a session that was forgotten ends with SELECT pg_terminate_backend(PROCESS)"
                ))
        } else if report.deadRows >= manyDeadRows, report.deadRows >= 10 * report.liveRows {
            findings.append(
                .warn(
                    "storage.dead_rows",
                    "\(report.deadRows) rows that are gone (\(report.liveRows) are there) are not cleared away, and slow the nodes down",
                    "see whether autovacuum is on, and VACUUM the tables of the schema onionbell"))
        }
        findings += nodes(report)
        guard findings.isEmpty else { return findings }
        let user = report.owner.map { ", used by the node on \($0)" } ?? ""
        return [
            .pass(
                "storage",
                "PostgreSQL \(report.version) answers\(user); fsync and full_page_writes are on, synchronous_commit is \(report.synchronousCommit)"
            )
        ]
    }

    /// Begun since another one, which is still open.
    private static let manyTransactions = 50_000
    private static let longTransaction = Duration.seconds(300)
    private static let manyDeadRows = 100_000

    /// The shortest time from a question to the answer of a slow database: one that is farther away makes
    /// each sender wait.
    private static let slowDatabase = Duration.milliseconds(50)
    /// The shortest time since an old lease was renewed: a node that works does so every 2 seconds.
    private static let oldLease = Duration.seconds(5)

    /// Returns the findings about who shares the database, and how far away it is.
    private static func nodes(_ report: DatabaseReport) -> [Finding] {
        var findings: [Finding] = []
        let living = report.nodes.filter(\.isAlive)
        if report.withoutOwner > 0, !living.isEmpty {
            findings.append(
                .warn(
                    "storage.shards",
                    "\(report.withoutOwner) of 256 shards have no owner: what is for their devices waits",
                    "see the nodes' logs: each takes what is free up to its part, as soon as it can commit"))
        }
        let versions = Set(living.map(\.version))
        if versions.count > 1 {
            findings.append(
                .warn(
                    "storage.versions",
                    "nodes of different versions share the database: \(versions.sorted().joined(separator: ", "))",
                    "end the upgrade: install the same version on all machines"))
        }
        for node in living where node.leaseAge >= oldLease {
            findings.append(
                .warn(
                    "storage.lease",
                    "node \(node.title) has not renewed its lease for \(Words.time(node.leaseAge))",
                    "see whether its machine stands still, or the way from it to the database is cut"))
        }
        let clocks =
            living.map { ("node \($0.title)", $0.clockAhead) } + [("this machine", report.clockAhead)]
        for (name, ahead) in clocks where max(ahead, .zero - ahead) >= Report.clockWarning {
            findings.append(
                .warn(
                    "storage.clock",
                    "the clock of \(name) is \(Words.time(max(ahead, .zero - ahead))) "
                        + "\(ahead > .zero ? "ahead of" : "behind") the database's",
                    "set the clocks of all machines by NTP: nodes read the times that others have written"))
        }
        if report.roundTrip >= slowDatabase {
            findings.append(
                .warn(
                    "storage.latency",
                    "the database takes \(Words.time(report.roundTrip)) to answer: no sender has its answer sooner",
                    "put the database nearer to the nodes, or see what else uses it"))
        }
        return findings
    }
}
