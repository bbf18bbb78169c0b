import Encodings
import JSONCoding
import Relay

/// A line to a reader, as ntfy writes it.
struct MailboxLine {
    enum Event: String {
        case open, keepalive, message
        /// An earlier message is shown no more; with ``delete`` it is kept no more.
        case clear = "message_clear"
        case delete = "message_delete"
    }

    static let title = "Bisq"

    let event: Event
    let id: String
    let topic: String
    /// Seconds since 1970.
    let time: Int64
    private(set) var expires: Int64 = 0
    private(set) var message = ""
    private(set) var priority = 3
    private(set) var title: String? = MailboxLine.title
    /// The encoding of the message, where it is not a text.
    private(set) var encoding: String?
    /// The stored message, beside a text of our own.
    private(set) var encrypted: String?
    private(set) var tags: [String] = []
    private var published: PublishedText?
    /// The name by which a reader knows earlier texts that this one stands for, or says something of.
    private var sequence: String?

    /// Makes a line that says nothing of messages.
    init(_ event: Event, id: String, topic: String, time: Int64) {
        self.event = event
        self.id = id
        self.topic = topic
        self.time = time
    }

    init(_ message: MailboxMessage, topic: String, showing show: Mailbox.Show) {
        self.init(.message, id: message.id, topic: topic, time: message.acceptedAt.milliseconds / 1000)
        expires = message.expiresAt.milliseconds / 1000
        priority = message.isUrgent ? 4 : 3
        if let notice = MailboxLine.notice(message.text) {
            (title, self.message) = notice
            encrypted = message.text
            return
        }
        switch show {
        case .bell:
            self.message = BisqContent.bell
            encrypted = message.text
        case .sealed: self.message = message.text
        }
    }

    /// Makes the line of a text that the mailbox's owner published.
    ///
    /// - Parameters:
    ///   - text: The message's text; `nil`: somebody has changed it in the store.
    ///   - isAnswer: Whether the line is the answer to the publisher.
    init(published message: MailboxMessage, _ text: PublishedText?, topic: String, isAnswer: Bool = false) {
        self.init(
            text?.event ?? .message, id: message.id, topic: topic,
            time: message.acceptedAt.milliseconds / 1000)
        expires = message.expiresAt.milliseconds / 1000
        guard let text else {
            title = nil
            self.message = "A text was published here, and changed in the node's store."
            return
        }
        published = text
        // No publisher's name for a text is another's, or the id of a message of Bisq's: neither has a point in it.
        let known = text.sequence.isEmpty ? message.id : text.sequence
        sequence = !isAnswer ? "\(text.publisher).\(known)" : text.sequence.isEmpty ? nil : text.sequence
        title = text.title.isEmpty ? nil : text.title
        self.message = text.message
        priority = text.priority
        // Also where an app knows nothing of publishers it is not taken for Bisq's.
        tags = text.tags + ["from \(text.publisher)"]
    }

    /// Reads the title and the text of a notice from the node itself; `nil`: the text is no notice.
    private static func notice(_ text: String) -> (String?, String)? {
        guard text.hasPrefix(Notice.prefix),
            let json = try? JSON(Array(text.utf8.dropFirst(Notice.prefix.utf8.count))),
            let message = json["message"]?.string
        else { return nil }
        return (json["title"]?.string, message)
    }

    /// Makes the line of a message that a server of apps pushed.
    init(pushed message: MailboxMessage, topic: String) {
        self.init(message, topic: topic, showing: .sealed)
        title = nil
        // As its UTF-8 says it, or else in Base64.
        if let bytes = Base64.decode(message.text), let text = String(validating: bytes, as: UTF8.self) {
            self.message = text
        } else {
            encoding = "base64"
        }
    }

    /// The line as JSON: an object on one line, without its end.
    var json: [UInt8] {
        var line = Array(#"{"id":"\#(id)""#.utf8)
        if let sequence {
            line.append(contentsOf: ",\"sequence_id\":".utf8)
            line.append(jsonString: sequence)
        }
        line.append(contentsOf: ",\"time\":\(time)".utf8)
        if expires > 0 { line.append(contentsOf: ",\"expires\":\(expires)".utf8) }
        line.append(contentsOf: #","event":"\#(event.rawValue)","topic":"\#(topic)""#.utf8)
        if event == .message {
            if let title {
                line.append(contentsOf: #","title":"#.utf8)
                line.append(jsonString: title)
            }
            line.append(contentsOf: #","message":"#.utf8)
            line.append(jsonString: message)
            line.append(contentsOf: ",\"priority\":\(priority)".utf8)
            if let published { append(published, to: &line) }
            if let encoding { line.append(contentsOf: #","encoding":"\#(encoding)""#.utf8) }
            if let encrypted {
                line.append(contentsOf: ",\"encrypted\":".utf8)
                line.append(jsonString: encrypted)
            }
        }
        line.append(UInt8(ascii: "}"))
        return line
    }

    private func append(_ published: PublishedText, to line: inout [UInt8]) {
        line.append(contentsOf: ",\"tags\":[".utf8)
        for (index, tag) in tags.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            line.append(jsonString: tag)
        }
        line.append(contentsOf: "],\"published\":".utf8)
        line.append(jsonString: published.publisher)
        for (name, value) in [("click", published.click), ("icon", published.icon)] where !value.isEmpty {
            line.append(contentsOf: ",\"\(name)\":".utf8)
            line.append(jsonString: value)
        }
        if published.isMarkdown { line.append(contentsOf: #","content_type":"text/markdown""#.utf8) }
    }

    /// Returns the line as a form of reading has it.
    func bytes(as kind: MailboxRequest.Kind) -> [UInt8] {
        switch kind {
        case .json, .auth: return json + [UInt8(ascii: "\n")]
        case .ws: return json
        case .raw:
            // A line is a message.
            let text = (event == .message ? message : "").utf8.map { byte in
                byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") ? UInt8(ascii: " ") : byte
            }
            return text + [UInt8(ascii: "\n")]
        case .sse:
            let name = event == .message ? "" : "event: \(event.rawValue)\n"
            return Array("\(name)data: ".utf8) + json + Array("\n\n".utf8)
        }
    }
}
