import Node
import Persistence
import PostgreSQL

extension Doctor {
    /// The database that is to hold all that the node promises to keep.
    func checkStorage() {
        guard !settings.storage.url.isEmpty else { return }
        do {
            for finding in Judgement.storage(try DatabaseReport.read(at: settings.storage.address())) {
                tell(finding)
            }
        } catch {
            tell(
                .fail(
                    "storage", "the database of storage.url does not answer: \(error)",
                    "start PostgreSQL, or mend storage.url and storage.password_file"))
        }
    }
}

extension Judgement {
    /// What a database says of itself.
    static func storage(_ report: DatabaseReport) -> [Finding] {
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
        guard findings.isEmpty else { return findings }
        let user = report.owner.map { ", used by the node on \($0)" } ?? ""
        return [.pass("storage", "PostgreSQL \(report.version) keeps what it is given\(user)")]
    }
}
