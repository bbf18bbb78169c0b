import Encodings
import JSONCoding

/// The services whose webhooks ntfy knows by the name of a template of its own (binwiederhier/ntfy, `server/templates`):
/// their JSON becomes a title and a message that a person reads.
enum PublishedTemplate: String {
    case alertmanager
    case grafana
    case github

    /// Returns the title and the message of a webhook's body; `nil`: the body is not the service's.
    func text(of body: JSON) -> (title: String, message: String)? {
        switch self {
        case .alertmanager: PublishedTemplate.alertmanagers(body)
        case .grafana: PublishedTemplate.grafanas(body)
        case .github: PublishedTemplate.githubs(body)
        }
    }

    private static func lines(_ pairs: [(name: String, value: String?)]) -> String {
        pairs.compactMap { pair in pair.value.flatMap { $0.isEmpty ? nil : "\(pair.name): \($0)" } }
            .joined(separator: "\n")
    }

    private static func heading(_ status: String, _ words: String) -> String {
        status == "resolved" ? "✅ Resolved: \(words)" : "🚨 Alert: \(words)"
    }

    private static func alertmanagers(_ body: JSON) -> (title: String, message: String)? {
        guard let status = body["status"]?.string, let alerts = body["alerts"]?.array else { return nil }
        let name = alerts.first?["labels"]?["alertname"]?.string ?? body["groupKey"]?.string ?? "?"
        let head = lines([("Status", status), ("Receiver", body["receiver"]?.string)])
        var text = head
        for (index, alert) in alerts.enumerated() {
            let part = lines([
                ("Alert", alert["labels"]?["alertname"]?.string),
                ("Instance", alert["labels"]?["instance"]?.string),
                ("Severity", alert["labels"]?["severity"]?.string),
                ("Summary", alert["annotations"]?["summary"]?.string),
                ("Description", alert["annotations"]?["description"]?.string),
                ("Starts at", alert["startsAt"]?.string),
                ("Ends at", alert["status"]?.string == "resolved" ? alert["endsAt"]?.string : nil),
            ])
            guard index == 0 || text.utf8.count + part.utf8.count < PublishedText.longestMessage - 40 else {
                text += "\n\n… (\(alerts.count - index) more alerts)"
                break
            }
            if !part.isEmpty { text += text.isEmpty ? part : "\n\n" + part }
        }
        return (heading(status, name), text)
    }

    private static func grafanas(_ body: JSON) -> (title: String, message: String)? {
        guard let status = body["status"]?.string, let title = body["title"]?.string else { return nil }
        return (heading(status, title), body["message"]?.string ?? "")
    }

    private static func githubs(_ body: JSON) -> (title: String, message: String)? {
        guard let place = body["repository"]?["full_name"]?.string ?? body["organization"]?["login"]?.string
        else { return nil }
        let action = body["action"]?.string ?? ""
        var (what, url): (String, String?) = (action, nil)
        for (member, word) in [
            ("pull_request", "Pull request"), ("issue", "Issue"), ("release", "Release"),
            ("workflow_run", "Workflow"), ("check_run", "Check"), ("discussion", "Discussion"),
        ] {
            guard let subject = body[member], subject.object != nil else { continue }
            let number = subject["number"]?.integer.map { " #\($0)" } ?? ""
            let name = subject["title"]?.string ?? subject["name"]?.string ?? subject["tag_name"]?.string
            let end = subject["conclusion"]?.string ?? action
            let isComment = body["comment"]?.object != nil
            what = "\(isComment ? "Comment on " : "")\(word)\(number) \(end)" + (name.map { ": \($0)" } ?? "")
            url = (isComment ? body["comment"] : subject)?["html_url"]?.string
            break
        }
        if let commits = body["commits"]?.array {
            what = "\(commits.count) commits pushed to \(body["ref"]?.string ?? "?")"
            url = body["compare"]?.string
        }
        let text = lines([
            ("By", body["sender"]?["login"]?.string),
            ("Comment", body["comment"]?["body"]?.string), ("Link", url),
        ])
        let messages = (body["commits"]?.array ?? []).prefix(100).compactMap { $0["message"]?.string }
        return (
            "[\(place)] \(what.isEmpty ? "event" : what)",
            ([text] + messages).filter { !$0.isEmpty }.joined(separator: "\n")
        )
    }
}
