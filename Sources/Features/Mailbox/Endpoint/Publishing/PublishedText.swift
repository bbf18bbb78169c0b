import Encodings
import HTTP1
import JSONCoding
import Relay

/// A text of the owner's own, which a publisher puts into a mailbox, with what ntfy's publishing says beside it
/// (binwiederhier/ntfy, docs/publish.md).
struct PublishedText: Equatable {
    /// The kind of the text: a message, or what is to become of one.
    private(set) var event = MailboxLine.Event.message
    private(set) var title = ""
    private(set) var message = ""
    /// The priority, 1 to 5.
    private(set) var priority = 3
    private(set) var tags: [String] = []
    /// The address that is opened when somebody taps the text.
    private(set) var click = ""
    private(set) var icon = ""
    private(set) var isMarkdown = false
    /// The publisher's name for the text and those that stand for it later; empty: its id.
    private(set) var sequence = ""
    /// The time at which the text is to be published, in milliseconds since 1970; `nil`: now.
    private(set) var due: Int64?
    /// The publisher with whose token the text came.
    var publisher = ""

    /// The most bytes of a message, as in ntfy.
    static let longestMessage = 4096
    /// The most bytes of a title that a template has made.
    private static let longestTitle = 250
    /// The most bytes of all that is beside the message.
    private static let longestRest = 2000
    private static let mostTags = 20
    /// The life of a text in milliseconds.
    static let life: Int64 = 72 * 3_600_000

    /// Reads the fields of a request's head and the parameters beside the message.
    private init(
        beside request: HTTPRequest, _ parameters: MailboxParameters, at now: Int64
    ) throws(MailboxFault) {
        try PublishOptions.refuse(in: request, but: PublishOptions.ofMailbox)
        title = parameters[["x-title", "title", "ti", "t"]] ?? ""
        if let priority = parameters[["x-priority", "priority", "prio", "p"]] {
            let values = try MailboxFilter.priorities(priority)
            guard values.count == 1 else { throw .badPriority }
            self.priority = values[0]
        }
        tags = (parameters[["x-tags", "tags", "tag", "ta"]] ?? "").utf8.split(separator: UInt8(ascii: ","))
            .map { Substring($0).blankless }
        click = parameters[["x-click", "click"]] ?? ""
        icon = parameters[["x-icon", "icon"]] ?? ""
        if let actions = parameters[PublishOptions.actions] {
            guard click.isEmpty, let url = PublishedText.view(inField: actions) else {
                throw .option("actions")
            }
            click = url
        }
        isMarkdown = PublishOptions.isMarkdown(request, parameters)
        sequence = parameters[PublishOptions.sequence] ?? ""
        if let delay = parameters[PublishOptions.delay] { due = try PublishDelay.due(delay, at: now) }
    }

    /// Reads a request whose body is the message.
    ///
    /// - Parameters:
    ///   - sequence: The text's name in the path; empty: none.
    ///   - now: Milliseconds since 1970.
    init(_ request: HTTPRequest, sequence: String = "", at now: Int64) throws(MailboxFault) {
        let parameters = try MailboxParameters(request)
        try self.init(beside: request, parameters, at: now)
        if !sequence.isEmpty { self.sequence = sequence }
        let beside = parameters[["x-message", "message", "m"]]
        guard beside == nil || request.body.isEmpty else { throw .option("message beside the body") }
        guard let text = beside?.unescaped ?? String(validating: request.body, as: UTF8.self) else {
            throw .badText
        }
        message = text
        if let name = parameters[PublishOptions.template] { try take(name, of: request.body) }
        try check()
    }

    /// Takes title and message from a webhook's body. A template of the sender's own (`yes`) would be a program.
    private mutating func take(_ template: String, of body: [UInt8]) throws(MailboxFault) {
        guard let template = template.word().flatMap({ PublishedTemplate(rawValue: $0) }) else {
            throw .option("template but alertmanager, grafana and github")
        }
        guard let json = try? JSON(body), let made = template.text(of: json) else { throw .badMessage }
        message = made.message
        if title.isEmpty { title = PublishedText.cut(made.title, to: PublishedText.longestTitle) }
    }

    /// Reads a request whose body is JSON: its members go before the fields of the head.
    init(_ body: JSON.Object, in request: HTTPRequest, at now: Int64) throws(MailboxFault) {
        let parameters = try MailboxParameters(request)
        guard parameters[PublishOptions.template] == nil else { throw .option("template") }
        try self.init(beside: request, parameters, at: now)
        try take(body)
        if click.isEmpty, let url = PublishedText.view(in: body["actions"]) {
            click = url
        } else if case .array(let list) = body["actions"], !list.isEmpty {
            throw .option("actions")
        }
        if let delay = body["delay"]?.string, !delay.isEmpty { due = try PublishDelay.due(delay, at: now) }
        try check()
    }

    /// Makes the text that says that no more is shown of the message of a name, or kept.
    init(_ event: MailboxLine.Event, of sequence: String) {
        (self.event, self.sequence) = (event, sequence)
    }

    /// Returns the address that the only button opens, for texts without another address: Uptime Kuma sends the watched
    /// address so. A tap opens that address then. Buttons can do more than a reader is asked to do here.
    private static func view(in actions: JSON?) -> String? {
        guard case .array(let list) = actions, list.count == 1, list[0]["action"]?.string?.word() == "view",
            let url = list[0]["url"]?.string, !url.isEmpty
        else { return nil }
        return url
    }

    /// Returns the same of a field of the head in ntfy's short form: `view, LABEL, ADDRESS`.
    private static func view(inField actions: String) -> String? {
        let parts = actions.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { Substring($0).blankless }
        return parts.count == 3 && parts[0].word() == "view" && isAddress(parts[2]) ? parts[2] : nil
    }

    static func isAddress(_ text: String) -> Bool {
        text.utf8.starts(with: "https://".utf8) || text.utf8.starts(with: "http://".utf8)
    }

    /// Takes the members of a body. One that is `null`, empty or `false` is not asked for: libraries send all members.
    private mutating func take(_ body: JSON.Object) throws(MailboxFault) {
        for (key, name) in [
            ("attach", "attach"), ("filename", "filename"), ("email", "email"), ("call", "call"),
            ("template", "template"),
        ] {
            switch body[key] {
            case nil, .null, .bool(false), .string(""): continue
            case .array(let list) where list.isEmpty: continue
            case _: throw .option(name)
            }
        }
        func text(_ key: String, else text: String) throws(MailboxFault) -> String {
            switch body[key] {
            case nil, .null, .string(""): return text
            case .string(let text): return text
            case _: throw .badMessage
            }
        }
        message = try text("message", else: "")
        title = try text("title", else: title)
        sequence = try text("sequence_id", else: sequence)
        (click, icon) = (try text("click", else: click), try text("icon", else: icon))
        switch body["priority"] {
        case nil, .null, .integer(0): break
        case .integer(let value) where (1...5).contains(value): priority = Int(value)
        case _: throw .badPriority
        }
        switch body["tags"] {
        case nil, .null: break
        case .array(let list) where list.isEmpty: break
        case .array(let list):
            tags = []
            for tag in list {
                guard let tag = tag.string else { throw .badMessage }
                tags.append(tag)
            }
        case _: throw .badMessage
        }
        switch body["markdown"] {
        case nil, .null: break
        case .bool(let value): isMarkdown = isMarkdown || value
        case _: throw .badMessage
        }
    }

    /// The message of a text that has none, as ntfy calls it.
    private static let empty = "triggered"
    private static let reserved = ["BisqMessageAndroid|", "BisqMessageiOS|", Notice.prefix]

    private mutating func check() throws(MailboxFault) {
        guard sequence.isEmpty || MailboxRequest.isTopic(sequence) else { throw .badSequence }
        // No alarm is lost for its length: it is cut, and says so.
        message = PublishedText.cut(message, to: PublishedText.longestMessage)
        shorten()
        (message, title) = (PublishedText.harmless(message), PublishedText.harmless(title))
        tags = tags.map(PublishedText.harmless)
        guard icon.isEmpty || PublishedText.mayBeFetched(icon) else { throw .badIcon }
        guard click.isEmpty || PublishedText.mayBeOpened(click) else { throw .option("such click address") }
        if message.isEmpty { message = PublishedText.empty }
        for prefix in PublishedText.reserved where message.hasPrefix(prefix) {
            throw .reserved
        }
    }

    /// Cuts the title, and leaves out what is too long beside it. The message says so.
    private mutating func shorten() {
        let rest = tags.reduce(title.utf8.count + click.utf8.count + icon.utf8.count) { $0 + $1.utf8.count }
        guard rest > PublishedText.longestRest || tags.count > PublishedText.mostTags else { return }
        title = PublishedText.cut(title, to: PublishedText.longestTitle)
        var room = PublishedText.longestRest - title.utf8.count
        var missing: [String] = []
        func fit(_ text: inout String, _ name: String) {
            if text.utf8.count > room {
                (text, missing) = ("", missing + [name])
            }
            room -= text.utf8.count
        }
        fit(&click, "click")
        fit(&icon, "icon")
        let all = tags.count
        tags = Array(
            tags.prefix(PublishedText.mostTags).prefix { tag in
                room -= tag.utf8.count
                return room >= 0
            })
        if tags.count < all { missing.append("\(all - tags.count) tags") }
        guard !missing.isEmpty else { return }
        let words = " … (too long, left out: \(missing.joined(separator: ", ")))"
        message = PublishedText.cut(message, to: PublishedText.longestMessage - words.utf8.count) + words
    }

    /// Returns a text of at most so many bytes: of a longer one the beginning, and how much is missing.
    static func cut(_ text: String, to limit: Int) -> String {
        let count = text.utf8.count
        guard count > limit else { return text }
        var end = limit - 40
        let bytes = Array(text.utf8)
        // Not within a character.
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self) + " … (\(count - end) more bytes were cut off)"
    }

    /// Returns the name that the text shares with the texts that it replaces. A message and its deletion replace all before
    /// them; of clearings the last one counts.
    func name(id: String) -> String {
        "\(event == .clear ? "clear" : "text")\0\(sequence.isEmpty ? id : sequence)"
    }

    // MARK: At rest

    var json: JSON {
        [
            "title": .string(title), "message": .string(message), "priority": .integer(Int64(priority)),
            "tags": .array(tags.map { .string($0) }), "click": .string(click), "icon": .string(icon),
            "markdown": .bool(isMarkdown), "publisher": .string(publisher),
            "sequence_id": .string(sequence), "event": .string(event.rawValue),
        ]
    }

    /// Reads a text that was kept.
    init?(kept json: JSON) {
        guard let body = json.object, (try? take(body)) != nil else { return nil }
        publisher = body["publisher"]?.string ?? ""
        event = body["event"]?.string?.word().flatMap { MailboxLine.Event(rawValue: $0) } ?? .message
    }
}

extension String {
    /// The text with ends of lines for what fields of a head write in their place.
    fileprivate var unescaped: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for byte in utf8 {
            if byte == UInt8(ascii: "n"), bytes.last == UInt8(ascii: "\\") {
                bytes[bytes.count - 1] = UInt8(ascii: "\n")
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Substring {
    /// The text without blanks around it.
    var blankless: String {
        let blank = UInt8(ascii: " ")
        var bytes = Array(utf8.drop { $0 == blank })
        while bytes.last == blank { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
