import Encodings
import HTTP1
import Registrations

/// What a reader asks for: `GET /<topic>[,<topic>]/json`, in ntfy's words (binwiederhier/ntfy, docs/subscribe/api.md).
struct MailboxRequest: Equatable {
    enum Kind: String {
        case json, sse, raw, ws, auth
    }

    /// `token` "": there is something, and it is no token.
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

    /// An app asks for all that it reads on a node in one request.
    private static let mostTopics = Mailbox.mostPushTopics
    private static let longestTopic = 64
    private static let longestPath = (longestTopic + 1) * mostTopics + 6
    private static let longestToken = 100

    /// The topics and the kind of a path; `nil`: it is none of a reader's.
    static func path(_ path: String) -> (topics: [String], kind: Kind)? {
        let bytes = path.utf8.span
        guard bytes.count <= longestPath, bytes.count > 1, bytes[0] == UInt8(ascii: "/"),
            bytes.consists(of: { character($0) | ASCII.equal($0, "/") | ASCII.equal($0, ",") })
        else { return nil }
        let parts = path.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = Kind(rawValue: String(Substring(parts[1]))) else { return nil }
        let topics = parts[0].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard topics.count <= mostTopics,
            topics.allSatisfy({ (1...longestTopic).contains($0.utf8.count) })
        else { return nil }
        return (topics, kind)
    }

    private static func character(_ byte: UInt8) -> UInt8 {
        ASCII.letter(byte) | ASCII.digit(byte) | ASCII.equal(byte, "-") | ASCII.equal(byte, "_")
    }

    /// - Parameter now: Milliseconds since 1970.
    init(
        _ request: HTTPRequest, topics: [String], kind: Kind, at now: Int64
    ) throws(MailboxFault) {
        self.topics = topics
        self.kind = kind
        let query: HTTPQuery
        do throws(HTTPFault) {
            query = try HTTPQuery(request.query ?? "")
        } catch {
            throw .badRequest
        }
        /// A field of the head or a parameter, by any of its names.
        func parameter(_ names: String...) -> String? {
            for name in names {
                if let value = request.fields[name] ?? query[name], !value.isEmpty { return value }
            }
            return nil
        }
        if let poll = parameter("x-poll", "poll", "po")?.word() {
            isPoll = ["1", "yes", "true"].contains(poll)
        }
        let text = parameter("x-since", "since", "si")
        guard let since = text.map({ MailboxSince($0, at: now) }) ?? (isPoll ? .all : MailboxSince.none)
        else { throw .badSince }
        self.since = since
        filter = MailboxFilter(
            id: parameter("x-id", "id"), message: parameter("x-message", "message", "m"),
            title: parameter("x-title", "title", "t"),
            priorities: parameter("x-priority", "priority", "prio", "p"),
            tags: parameter("x-tags", "tags", "tag", "ta"))
        credentials = MailboxRequest.credentials(
            in: request.fields["authorization"]
                ?? query["auth"].flatMap { MailboxRequest.decoded($0, forURL: true) })
    }

    /// Basic (the password) and Bearer.
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

extension MailboxSince {
    /// - Parameter now: Milliseconds since 1970.
    init?(_ text: String, at now: Int64) {
        guard let text = text.name(limit: 32) else { return nil }
        switch text {
        case "all": self = .all
        case "none": self = .none
        case "latest": self = .latest
        case _
        where text.utf8.count == MailboxMessage.idLength
            && text.utf8.span.consists { ASCII.letter($0) | ASCII.digit($0) }:
            self = .message(text)
        case _:
            if text.utf8.span.consists(of: ASCII.digit) {
                guard let seconds = Int64(text), seconds < 1 << 40 else { return nil }
                self = .time(seconds * 1000)
            } else {
                guard let duration = MailboxSince.milliseconds(text) else { return nil }
                self = .time(now - duration)
            }
        }
    }

    /// `10m`, `1h30m`, `2d`.
    private static func milliseconds(_ text: String) -> Int64? {
        var (sum, number): (Int64, Int64?) = (0, nil)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                number = (number ?? 0) * 10 + Int64(byte - UInt8(ascii: "0"))
                guard number ?? 0 < 1 << 30 else { return nil }
            case _:
                let seconds: Int64? =
                    switch byte {
                    case UInt8(ascii: "s"): 1
                    case UInt8(ascii: "m"): 60
                    case UInt8(ascii: "h"): 3600
                    case UInt8(ascii: "d"): 86400
                    case _: nil
                    }
                guard let seconds, let value = number else { return nil }
                sum += value * seconds * 1000
                number = nil
            }
        }
        return number == nil ? sum : nil
    }
}

/// Which messages a reader wants; those that it does not get it has not acknowledged.
struct MailboxFilter: Equatable {
    private let id: String?
    private let message: String?
    private let title: String?
    private let priorities: [Int]?
    private let hasTags: Bool

    /// `nil`: there is none.
    init?(id: String?, message: String?, title: String?, priorities: String?, tags: String?) {
        guard id != nil || message != nil || title != nil || priorities != nil || tags != nil else {
            return nil
        }
        (self.id, self.message, self.title, hasTags) = (id, message, title, tags != nil)
        self.priorities = priorities.map { list in
            (list.word(limit: 100) ?? "").split(separator: ",").compactMap { MailboxFilter.priority($0) }
        }
    }

    private static func priority(_ word: Substring) -> Int? {
        switch word {
        case "min": 1
        case "low": 2
        case "default": 3
        case "high": 4
        case "max", "urgent": 5
        case _: Int(word)
        }
    }

    func takes(_ line: MailboxLine) -> Bool {
        // Ours have no tags.
        !hasTags && id.map { $0.hasSameBytes(as: line.id) } ?? true
            && message.map { $0.hasSameBytes(as: line.message) } ?? true
            && title.map { $0.hasSameBytes(as: line.title ?? "") } ?? true
            && priorities.map { $0.contains(line.priority) } ?? true
    }
}
