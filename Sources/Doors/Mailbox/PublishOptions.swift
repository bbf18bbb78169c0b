import Encodings
import HTTP1

/// What ntfy's publishing has beside the message (binwiederhier/ntfy, docs/publish.md), each with the names by which fields of
/// the head and parameters of the query say it. A topic of UnifiedPush has none of it: what an app's server pushes goes to
/// the app as it is. So whoever asks for one is told, rather than left to believe that it was obeyed.
enum PublishOptions {
    private static let valued: [(name: String, names: [String])] = [
        ("title", ["x-title", "title", "ti", "t"]),
        ("message beside the body", ["x-message", "message", "m"]),
        ("priority", ["x-priority", "priority", "prio", "p"]),
        ("tags", ["x-tags", "tags", "tag", "ta"]),
        ("delay", ["x-delay", "delay", "x-at", "at", "x-in", "in"]),
        ("email", ["x-email", "x-e-mail", "email", "e-mail", "mail", "e"]),
        ("call", ["x-call", "call"]),
        ("attach", ["x-attach", "attach", "a"]),
        ("filename", ["x-filename", "filename", "file", "f"]),
        ("actions", ["x-actions", "actions", "action"]),
        ("icon", ["x-icon", "icon"]),
        ("click", ["x-click", "click"]),
        ("template", ["x-template", "template", "tpl"]),
        ("sequence id", ["x-sequence-id", "sequence-id", "sid"]),
    ]

    /// - Throws: ``MailboxFault/option(_:)`` for the first that is asked for.
    static func refuse(in request: HTTPRequest) throws(MailboxFault) {
        let parameters = try MailboxParameters(request)
        for option in valued where parameters[option.names] != nil { throw .option(option.name) }
        if parameters.isSet(["x-markdown", "markdown", "md"]) { throw .option("markdown") }
        let cache = ["x-cache", "cache"]
        if parameters[cache] != nil, !parameters.isSet(cache) { throw .option("no-cache") }
        if let type = request.fields["content-type"]?.word(limit: 100), type.hasPrefix("text/markdown") {
            throw .option("markdown")
        }
    }
}
