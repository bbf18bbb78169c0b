import Encodings
import HTTP1
import JSONCoding
import Relay

/// A request of a server of apps to a provider of UnifiedPush (UnifiedPush/specifications, `server.md`), at the paths and
/// with the answers of ntfy (binwiederhier/ntfy, docs/publish.md).
enum MailboxPush: Equatable {
    /// `/<topic>?up=1`
    case topic(String)
    /// `/_matrix/push/v1/notify`: a Matrix server says in the body which topic it means.
    case matrix

    static let mostBytes = 4096
    static let longestLife: Int64 = 28 * 86_400
    /// The life of what comes without a TTL, in seconds, as ntfy keeps it.
    static let usualLife: Int64 = 12 * 3600
    private static let lengths = 14...64
    private static let matrixPath = "/_matrix/push/v1/notify"

    /// Reads the topic or the Matrix server's push from a request; `nil`: the request is neither.
    init?(_ request: HTTPRequest) {
        if request.path.hasSameBytes(as: MailboxPush.matrixPath) {
            self = .matrix
        } else {
            guard let topic = MailboxPush.topic(inPath: request.path) else { return nil }
            self = .topic(topic)
        }
    }

    /// Whether a text is a name that readers make up: `up` and at least twelve characters of chance, as
    /// ntfy's app takes them.
    static func isTopic(_ text: String) -> Bool {
        lengths.contains(text.utf8.count) && text.hasPrefix("up")
            && text.consists {
                ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, "-") | ASCII.equal($0, "_")
            }
    }

    private static func topic(inPath path: String) -> String? {
        guard path.utf8.count <= lengths.upperBound + 1, path.hasPrefix("/") else { return nil }
        let topic = String(path.dropFirst())
        return isTopic(topic) ? topic : nil
    }

    var discovery: [UInt8] {
        switch self {
        case .topic: Array("{\"unifiedpush\":{\"version\":1}}\n".utf8)
        case .matrix: Array("{\"unifiedpush\":{\"gateway\":\"matrix\"}}\n".utf8)
        }
    }

    /// Reads the first key of a Matrix server's push, and the topic that the key names here.
    static func pushKey(in body: [UInt8]) -> (key: String, topic: String?)? {
        guard let json = try? JSON(body, maximumDepth: 16),
            let key = json["notification"]?["devices"]?.array?.first?["pushkey"]?.string
        else { return nil }
        // Which names this node has is not known to it: whoever has the topic may push.
        guard let query = key.utf8.lastIndex(of: UInt8(ascii: "?")),
            let slash = key[..<query].utf8.lastIndex(of: UInt8(ascii: "/"))
        else { return (key, nil) }
        return (key, topic(inPath: String(key[slash..<query])))
    }
}

/// One push to a topic, by the fields of RFC 8030.
struct MailboxPushMessage: Equatable {
    /// The life of the message in seconds.
    var life = MailboxPush.usualLife
    var isUrgent = false
    /// Whether the push comes as RFC 8030 asks, with a `TTL`: ntfy's own clients send none.
    private(set) var isOfWebPush = false
    /// The name by which the message replaces the one before with the same name.
    var replaces: String?

    init(_ fields: HTTPFields) throws(MailboxFault) {
        if let ttl = fields["ttl"] {
            guard ttl.consists(of: ASCII.digit), let seconds = Int64(ttl.prefix(18)) else {
                throw .badRequest
            }
            life = min(seconds, MailboxPush.longestLife)
            isOfWebPush = true
        }
        switch fields["urgency"].map({ $0.word() ?? "" }) {
        case nil, "very-low", "low", "normal": break
        case "high": isUrgent = true
        case _: throw .badRequest
        }
        guard let topic = fields["topic"] else { return }
        guard (1...32).contains(topic.utf8.count),
            topic.consists(of: {
                ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, "-") | ASCII.equal($0, "_")
            })
        else { throw .badRequest }
        replaces = topic
    }

    /// Returns the answer to a push that is stored: the message, as ntfy shows it.
    ///
    /// A push as RFC 8030 has it is answered as it asks, with 201 and where the message is, for whoever may
    /// read it. `ntfy publish`, which pushes without a TTL, takes 200 alone.
    func response(to line: MailboxLine) -> HTTPResponse {
        var response = HTTPResponse.mailbox(status: isOfWebPush ? 201 : 200, line.json + [UInt8(ascii: "\n")])
        if isOfWebPush {
            response.fields.append("location", "/\(line.topic)/json?poll=1&id=\(line.id)")
        }
        return response
    }
}
