import Clocks
import Doors
import Encodings
import HTTP1
import JSONCoding
import Reactor
import Relay

/// The destination of a publisher's text, as ntfy's clients say it (binwiederhier/ntfy, docs/publish.md).
enum PublishTarget: Equatable {
    /// `POST /<topic>`, or `GET /<topic>/publish` and its like for those who can't send a body; with a name for the text
    /// `POST /<topic>/<name>`.
    case topic(String, name: String = "")
    /// `PUT /<topic>/<name>/clear` and `DELETE /<topic>/<name>`: what becomes of the text of a name.
    case change(String, name: String, MailboxLine.Event)
    /// `POST /`: the body says where.
    case body

    private static let words = ["publish", "send", "trigger"]
    private static let longestPath = 2 * (64 + 1) + 6

    /// Reads the target of a request that publishes; `nil`: the request has none. Topics of mailboxes begin
    /// with `mb`.
    init?(_ request: HTTPRequest) {
        let path = request.path.utf8
        guard path.count <= PublishTarget.longestPath, path.first == UInt8(ascii: "/") else { return nil }
        let parts = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let method = request.method
        let isWriting = ["POST", "PUT"].contains(method)
        if parts.count == 1, parts[0].isEmpty, isWriting || method == "OPTIONS" {
            self = .body
            return
        }
        let topic = parts[0]
        guard MailboxRequest.isTopic(topic), topic.hasPrefix("mb") else { return nil }
        switch parts.count {
        case 1 where isWriting || method == "OPTIONS": self = .topic(topic)
        case 2 where PublishTarget.words.contains(parts[1]):
            guard isWriting || ["GET", "OPTIONS"].contains(method) else { return nil }
            self = .topic(topic)
        case 2 where MailboxRequest.isTopic(parts[1]) && MailboxRequest.Kind(rawValue: parts[1]) == nil:
            switch method {
            case "POST", "PUT", "OPTIONS": self = .topic(topic, name: parts[1])
            case "DELETE": self = .change(topic, name: parts[1], .delete)
            case _: return nil
            }
        case 3 where MailboxRequest.isTopic(parts[1]) && ["clear", "read"].contains(parts[2]):
            guard ["PUT", "GET", "OPTIONS"].contains(method) else { return nil }
            self = .change(topic, name: parts[1], .clear)
        case _: return nil
        }
    }
}

/// Texts of the owner's own: from scripts and servers to the owner's phones.
extension MailboxDoor {
    func answer(_ target: PublishTarget, _ request: HTTPRequest, over live: LiveAnswer) {
        guard request.method != "OPTIONS" else { return live.answer(MailboxDoor.crossOrigin) }
        do throws(MailboxFault) {
            let claim = try claim(in: request)
            try count(directory.owner(of: claim))
            switch target {
            case .topic(let topic, let name):
                try publish(to: topic, for: claim, over: live) { (now) throws(MailboxFault) in
                    try PublishedText(request, sequence: name, at: now)
                }
            case .change(let topic, let name, let event):
                try publish(to: topic, for: claim, over: live) { _ in PublishedText(event, of: name) }
            case .body:
                guard let body = try? JSON(request.body, maximumDepth: 8).object else { throw .badMessage }
                guard let topic = body["topic"]?.string, MailboxRequest.isTopic(topic) else {
                    throw .badTopic
                }
                try publish(to: topic, for: claim, over: live) { (now) throws(MailboxFault) in
                    try PublishedText(body, in: request, at: now)
                }
            }
        } catch {
            refuse(error, over: live)
        }
    }

    /// Returns who the client says that it is.
    func claim(in request: HTTPRequest) throws(MailboxFault) -> MailboxDirectory.Claim? {
        try MailboxRequest.credentials(of: request, MailboxParameters(request))
            .map { MailboxDirectory.Claim(token: digests.token($0.token), user: $0.user) }
    }

    private func publish(
        to topic: String, for claim: MailboxDirectory.Claim?, over live: LiveAnswer,
        _ text: (_ now: Int64) throws(MailboxFault) -> PublishedText
    ) throws(MailboxFault) {
        let (mailbox, publisher) = try directory.publishing(to: digests.topic(topic), for: claim)
        guard let address = mailbox.address else { throw .storeFailed }
        let (now, id) = (EventLoop.unixMilliseconds, MailboxDoor.newID())
        var text = try text(now)
        text.publisher = publisher.name
        try countPublished(in: mailbox.number)
        guard let sealed = digests.seal(text, id: id, topic: topic) else { throw .storeFailed }
        let time = UnixTime(milliseconds: text.due ?? now)
        let message = MailboxMessage(
            id: id, acceptedAt: time, expiresAt: time + .milliseconds(PublishedText.life),
            isUrgent: text.priority > 3,
            text: sealed,
            replaces: digests.sequence(text.name(id: id), of: publisher.name, in: topic), isPublished: true,
            delayedBy: text.due.map { _ in publisher.token })
        let line = MailboxLine(published: message, text, topic: topic, isAnswer: true)
        Task {
            do throws(OutboxError) {
                switch try await put(message, atAddress: address, keeping: nil) {
                case .stored:
                    if message.delayedBy != nil { delays.note(time.milliseconds) }
                    live.answer(.mailbox(line.json + [UInt8(ascii: "\n")]))
                case .full: refuse(message.delayedBy == nil ? .tooLarge : .tooManyDelayed, over: live)
                case .noSuchMailbox: refuse(.forbidden, over: live)
                }
            } catch {
                refuse(.storeFailed, over: live)
            }
        }
    }

    /// Returns a message as a reader of its mailbox gets it.
    func line(_ message: MailboxMessage, of source: MailboxReading.Source) -> MailboxLine {
        if source.isPush { return MailboxLine(pushed: message, topic: source.topic) }
        guard message.isPublished else {
            return MailboxLine(message, topic: source.topic, showing: source.show)
        }
        let text = digests.open(message.text, id: message.id, topic: source.topic)
        return MailboxLine(published: message, text, topic: source.topic)
    }
}
