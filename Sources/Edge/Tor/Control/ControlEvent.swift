/// An event that tor reports without being asked, as far as the node acts on it or shows it.
package enum ControlEvent: Equatable, Sendable {
    case bootstrap(Bootstrap)
    case circuitEstablished
    case circuitNotEstablished
    case networkLiveness(isUp: Bool)
    /// Seconds by which our clock is ahead of what tor compares it with (negative: behind); at most a century.
    case clockSkew(seconds: Int)
    case descriptor(DescriptorEvent)
    /// Tor has read its configuration anew: what was set on a control connection is gone.
    case reloaded
    /// A line of tor's log: its severity (`WARN`, `ERR`, …) and words, which may hold addresses.
    case log(severity: String, words: String)
    /// The name of an event that SETEVENTS asks for, and that is of no use here.
    case unused(String)

    /// The events that this type can tell apart.
    package static let useful = [
        "STATUS_CLIENT", "STATUS_GENERAL", "HS_DESC", "NETWORK_LIVENESS", "SIGNAL", "WARN", "ERR",
    ]

    /// Reads an event.
    ///
    /// - Throws: ``ControlSyntaxError`` for an event of a known kind in an unknown form.
    package init(_ reply: ControlReply) throws(ControlSyntaxError) {
        let text = reply.lines[0].text
        let name = String(text.prefix { $0 != " " })
        switch name {
        case "STATUS_CLIENT", "STATUS_GENERAL":
            self = try Self.status(ReplyFields(text), kind: name)
        case "HS_DESC":
            self = .descriptor(try DescriptorEvent(ReplyFields(text)))
        case "SIGNAL" where text == "SIGNAL RELOAD":
            self = .reloaded
        case "NETWORK_LIVENESS":
            self = .networkLiveness(isUp: text.hasSuffix(" UP"))
        case "DEBUG", "INFO", "NOTICE", "WARN", "ERR":
            // A message of several lines comes as data.
            let words = reply.lines[0].data ?? String(text.dropFirst(name.count + 1))
            self = .log(severity: name, words: words)
        default:
            self = .unused(ControlRefusal.printable(name))
        }
    }

    private static let largestSkew = 100 * 366 * 86_400

    private static func status(_ words: ReplyFields, kind: String) throws(ControlSyntaxError) -> ControlEvent
    {
        switch words[2] {
        case "BOOTSTRAP":
            guard let bootstrap = Bootstrap(words) else { throw .unreadableReply(to: kind) }
            return .bootstrap(bootstrap)
        case "CIRCUIT_ESTABLISHED": return .circuitEstablished
        case "CIRCUIT_NOT_ESTABLISHED": return .circuitNotEstablished
        case "CLOCK_SKEW":
            guard let seconds = words["SKEW"].flatMap({ Int($0) }) else { throw .unreadableReply(to: kind) }
            return .clockSkew(seconds: min(max(seconds, -Self.largestSkew), Self.largestSkew))
        default: return .unused(kind)
        }
    }
}

/// The progress of tor in joining the network: `NOTICE BOOTSTRAP PROGRESS=100 TAG=done SUMMARY="Done"`.
///
/// 100 says nothing later: it stays for ever, also when the network is gone.
package struct Bootstrap: Equatable, Sendable {
    /// Percent.
    package var progress: Int
    /// A stable word: `conn`, `done`.
    package var tag: String
    package var summary: String
    /// The hindrance of tor, in its words.
    package var warning: String?

    package init(progress: Int, tag: String, summary: String, warning: String? = nil) {
        self.progress = progress
        self.tag = tag
        self.summary = summary
        self.warning = warning
    }

    init?(_ words: ReplyFields) {
        guard let progress = words["PROGRESS"].flatMap({ Int($0) }), (0...100).contains(progress) else {
            return nil
        }
        self.init(
            progress: progress,
            tag: ControlRefusal.printable(words["TAG"] ?? ""),
            summary: ControlRefusal.printable(words["SUMMARY"] ?? ""),
            warning: words["WARNING"].map(ControlRefusal.printable))
    }

    /// Reads the value of `GETINFO status/bootstrap-phase`.
    package init?(phase: String) {
        guard let words = try? ReplyFields(phase), words[1] == "BOOTSTRAP" else { return nil }
        self.init(words)
    }
}

/// HS_DESC: one step in the life of an onion service's descriptor.
package struct DescriptorEvent: Equatable, Sendable {
    package enum Action: Equatable, Sendable {
        /// The descriptor was made; there is one for this time period and one for the next.
        case created
        /// The descriptor was sent to one directory.
        case upload
        /// The directory has taken the descriptor.
        case uploaded
        /// Client side.
        case requested
        /// Client side.
        case received
        /// The upload or fetch failed; tor does not report it when a directory could not be reached at all.
        case failed(reason: String)
        /// `IGNORE` and such.
        case unused(String)
    }

    package var action: Action
    /// 56 characters, or `UNKNOWN`.
    package var serviceID: String
    /// `$<fingerprint>~<name>` or `UNKNOWN`.
    package var directory: String

    init(_ words: ReplyFields) throws(ControlSyntaxError) {
        guard let action = words[1], let serviceID = words[2], let directory = words[4] else {
            throw .unreadableReply(to: "HS_DESC")
        }
        self.serviceID = serviceID
        self.directory = directory
        self.action =
            switch action {
            case "CREATED": .created
            case "UPLOAD": .upload
            case "UPLOADED": .uploaded
            case "REQUESTED": .requested
            case "RECEIVED": .received
            case "FAILED": .failed(reason: ControlRefusal.printable(words["REASON"] ?? "UNKNOWN"))
            default: .unused(ControlRefusal.printable(action))
            }
    }
}
