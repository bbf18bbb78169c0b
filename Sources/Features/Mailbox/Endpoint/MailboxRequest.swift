import Encodings
import HTTP1
import Relay

/// A reader's request: `GET /<topic>[,<topic>]/json`, in ntfy's words (binwiederhier/ntfy, docs/subscribe/api.md).
struct MailboxRequest: Equatable {
    enum Kind: String {
        case json, sse, raw, ws, auth
    }

    /// The token and the user that a client shows. An empty token: there is something, and it is no token.
    struct Credentials: Equatable {
        let token: String
        /// The user of Basic, if it is not empty.
        var user: String?
    }

    let topics: [String]
    let kind: Kind
    var isPoll = false
    var since = MailboxSince.none
    var filter: MailboxFilter?
    var credentials: Credentials?
    /// The circuit, address or connection by which the request came.
    let sender: Int

    /// The most topics of a request: an app asks for all that it reads on a node in one request.
    private static let mostTopics = Mailbox.mostPushTopics
    private static let longestTopic = 64
    private static let longestPath = (longestTopic + 1) * mostTopics + 6
    private static let longestToken = 100

    /// Reads the topics and the kind from a path; `nil`: the path is none of a reader's.
    static func path(_ path: String) -> (topics: [String], kind: Kind)? {
        guard path.utf8.count <= longestPath, path.utf8.count > 1, path.utf8.first == UInt8(ascii: "/"),
            path.consists(of: { character($0) | ASCII.equal($0, "/") | ASCII.equal($0, ",") })
        else { return nil }
        let parts = path.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = Kind(rawValue: String(Substring(parts[1]))) else { return nil }
        let named = parts[0].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard named.count <= mostTopics, named.allSatisfy({ (1...longestTopic).contains($0.utf8.count) })
        else { return nil }
        // One that is named many times is read once.
        var topics: [String] = []
        for topic in named where !topics.contains(where: { $0.hasSameBytes(as: topic) }) {
            topics.append(topic)
        }
        return (topics, kind)
    }

    /// Whether a topic may have this name.
    static func isTopic(_ text: String) -> Bool {
        (1...longestTopic).contains(text.utf8.count) && text.consists(of: character)
    }

    private static func character(_ byte: UInt8) -> UInt8 {
        ASCII.letter(byte) | ASCII.digit(byte) | ASCII.equal(byte, "-") | ASCII.equal(byte, "_")
    }

    /// Reads the request of a reader.
    ///
    /// - Parameter now: Milliseconds since 1970.
    init(
        _ request: HTTPRequest, topics: [String], kind: Kind, at now: Int64
    ) throws(MailboxFault) {
        self.topics = topics
        self.kind = kind
        sender = request.sender
        let parameters = try MailboxParameters(request)
        isPoll = parameters.isSet(["x-poll", "poll", "po"])
        let text = parameters[["x-since", "since", "si"]]
        guard let since = text.map({ MailboxSince($0, at: now) }) ?? (isPoll ? .all : MailboxSince.none)
        else { throw .badSince }
        self.since = since
        filter = try MailboxFilter(
            id: parameters[["x-id", "id"]], message: parameters[["x-message", "message", "m"]],
            title: parameters[["x-title", "title", "t"]],
            priorities: parameters[["x-priority", "priority", "prio", "p"]],
            tags: parameters[["x-tags", "tags", "tag", "ta"]])
        credentials = MailboxRequest.credentials(of: request, parameters)
    }

    /// Returns the credentials in the head, or as ntfy has them in the query.
    static func credentials(of request: HTTPRequest, _ parameters: MailboxParameters) -> Credentials? {
        credentials(
            in: request.fields["authorization"]
                ?? parameters.inQuery(["authorization", "auth"]).flatMap {
                    // The blanks were plus signs.
                    decoded($0.replacingBlanks(by: "+"), forURL: true)
                })
    }

    /// Reads credentials: Basic (the password) and Bearer.
    static func credentials(in authorization: String?) -> Credentials? {
        guard let authorization else { return nil }
        guard let text = authorization.name(limit: 300) else { return Credentials(token: "") }
        let parts = text.split(separator: " ")
        guard parts.count == 2 else { return Credentials(token: "") }
        switch parts[0].lowercased() {
        case "bearer" where parts[1].utf8.count <= longestToken: return Credentials(token: String(parts[1]))
        case "basic":
            guard let pair = decoded(String(parts[1]), forURL: false), let colon = pair.firstIndex(of: ":")
            else { return Credentials(token: "") }
            let (user, token) = (String(pair[..<colon]), String(pair[colon...].dropFirst()))
            return Credentials(
                token: token.utf8.count <= longestToken ? token : "", user: user.isEmpty ? nil : user)
        case _: return Credentials(token: "")
        }
    }

    private static func decoded(_ text: String, forURL isForURL: Bool) -> String? {
        guard text.utf8.count <= 400 else { return nil }
        let bytes =
            isForURL ? Base64.decodeFromURL(text) ?? Base64.decode(text) : Base64.decode(text)
        return bytes.flatMap { String(validating: $0, as: UTF8.self)?.name(limit: 300) }
    }
}

extension String {
    /// Returns the text with each blank replaced by a character of ASCII.
    fileprivate func replacingBlanks(by other: Unicode.Scalar) -> String {
        String(decoding: utf8.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: other) : $0 }, as: UTF8.self)
    }
}
