import Encodings
import HTTP1
import JSONCoding
import Reactor
import Registrations
import Relay

/// Where a publisher's text goes, as ntfy's clients say it (binwiederhier/ntfy, docs/publish.md).
enum PublishTarget: Equatable {
    /// `POST /<topic>`, or `GET /<topic>/publish` and its like for those who can't send a body.
    case topic(String)
    /// `POST /`: the body says where.
    case body

    private static let words = ["publish", "send", "trigger"]

    /// `nil`: the request is none of these. Topics of mailboxes begin with `mb`.
    init?(_ request: HTTPRequest) {
        let path = request.path.utf8
        guard path.count <= 80, path.first == UInt8(ascii: "/") else { return nil }
        let parts = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isWriting = ["POST", "PUT"].contains(request.method)
        if parts.count == 1, parts[0].isEmpty, isWriting {
            self = .body
            return
        }
        let topic = String(Substring(parts[0]))
        guard MailboxRequest.isTopic(topic), topic.hasPrefix("mb") else { return nil }
        switch parts.count {
        case 1 where isWriting || request.method == "OPTIONS": break
        case 2 where PublishTarget.words.contains(String(Substring(parts[1]))):
            guard isWriting || ["GET", "OPTIONS"].contains(request.method) else { return nil }
        case _: return nil
        }
        self = .topic(topic)
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
            case .topic(let topic):
                try publish(to: topic, for: claim, over: live) { () throws(MailboxFault) in
                    try PublishedText(request)
                }
            case .body:
                guard let body = try? JSON(request.body, maximumDepth: 8).object else { throw .badMessage }
                guard let topic = body["topic"]?.string, MailboxRequest.isTopic(topic) else {
                    throw .badTopic
                }
                try publish(to: topic, for: claim, over: live) { () throws(MailboxFault) in
                    try PublishedText(body, in: request)
                }
            }
        } catch {
            refuse(error, over: live)
        }
    }

    /// Who the client says that it is.
    func claim(in request: HTTPRequest) throws(MailboxFault) -> MailboxDirectory.Claim? {
        try MailboxRequest.credentials(of: request, MailboxParameters(request))
            .map { MailboxDirectory.Claim(token: digests.token($0.token), user: $0.user) }
    }

    private func publish(
        to topic: String, for claim: MailboxDirectory.Claim?, over live: LiveAnswer,
        _ text: () throws(MailboxFault) -> PublishedText
    ) throws(MailboxFault) {
        let (mailbox, publisher) = try directory.publishing(to: digests.topic(topic), for: claim)
        guard let address = mailbox.address else { throw .storeFailed }
        var text = try text()
        text.publisher = publisher
        try countPublished(in: mailbox.number)
        let (now, id) = (EventLoop.unixMilliseconds, MailboxDoor.newID())
        guard let sealed = digests.seal(text, id: id, topic: topic) else { throw .storeFailed }
        let message = MailboxMessage(
            id: id, acceptedAt: now, expiresAt: now + PublishedText.life, isUrgent: text.priority > 3,
            text: sealed, isPublished: true)
        let line = MailboxLine(published: message, text, topic: topic)
        Task {
            do throws(OutboxError) {
                switch try await put(message, atAddress: address, keeping: nil) {
                case .stored: live.answer(.mailbox(line.json + [UInt8(ascii: "\n")]))
                case .full: refuse(.tooLarge, over: live)
                case .noSuchMailbox: refuse(.forbidden, over: live)
                }
            } catch {
                refuse(.storeFailed, over: live)
            }
        }
    }

    /// A message as a reader of its mailbox gets it.
    func line(_ message: MailboxMessage, of source: MailboxReading.Source) -> MailboxLine {
        if source.isPush { return MailboxLine(pushed: message, topic: source.topic) }
        guard message.isPublished else {
            return MailboxLine(message, topic: source.topic, showing: source.show)
        }
        let text = digests.open(message.text, id: message.id, topic: source.topic)
        return MailboxLine(published: message, text, topic: source.topic)
    }
}
