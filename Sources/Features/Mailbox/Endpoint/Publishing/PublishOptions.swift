import Encodings
import HTTP1

/// The options of ntfy's publishing beside the message (binwiederhier/ntfy, docs/publish.md), each with the names of its
/// fields of the head and parameters of the query. A topic of UnifiedPush has none of it: what an app's server pushes goes
/// to the app as it is. A mailbox has those that are text, and none for which a node or a server of ntfy's would fetch or
/// send something. Who asks for such a one gets an error, and does not have to believe that it was obeyed.
enum PublishOptions {
    /// The options of a mailbox.
    static let ofMailbox = [
        "title", "message beside the body", "priority", "tags", "icon", "click", "markdown", "delay",
        "sequence id", "template", "actions",
    ]

    static let actions = ["x-actions", "actions", "action"]
    static let template = ["x-template", "template", "tpl"]
    static let delay = ["x-delay", "delay", "x-at", "at", "x-in", "in"]
    static let sequence = ["x-sequence-id", "sequence-id", "sid"]

    private static let valued: [(name: String, names: [String])] = [
        ("title", ["x-title", "title", "ti", "t"]),
        ("message beside the body", ["x-message", "message", "m"]),
        ("priority", ["x-priority", "priority", "prio", "p"]),
        ("tags", ["x-tags", "tags", "tag", "ta"]),
        ("delay", delay),
        ("email", ["x-email", "x-e-mail", "email", "e-mail", "mail", "e"]),
        ("call", ["x-call", "call"]),
        ("attach", ["x-attach", "attach", "a"]),
        ("filename", ["x-filename", "filename", "file", "f"]),
        ("actions", actions),
        ("icon", ["x-icon", "icon"]),
        ("click", ["x-click", "click"]),
        ("template", template),
        ("sequence id", sequence),
    ]

    /// Refuses a request that asks for an option which is not taken here.
    ///
    /// - Parameter taken: The names of the options that are taken here.
    /// - Throws: ``MailboxFault/option(_:)`` for the first other option that is asked for.
    static func refuse(in request: HTTPRequest, but taken: [String] = []) throws(MailboxFault) {
        let parameters = try MailboxParameters(request)
        for option in valued where !taken.contains(option.name) && parameters[option.names] != nil {
            throw .option(option.name)
        }
        if !taken.contains("markdown"), isMarkdown(request, parameters) { throw .option("markdown") }
        let cache = ["x-cache", "cache"]
        if parameters[cache] != nil, !parameters.isSet(cache) { throw .option("no-cache") }
    }

    static func isMarkdown(_ request: HTTPRequest, _ parameters: MailboxParameters) -> Bool {
        parameters.isSet(["x-markdown", "markdown", "md"])
            || request.fields["content-type"]?.word(limit: 100)?.hasPrefix("text/markdown") == true
    }
}
