import Clocks
import Doors
import Encodings
import HTTP1
import JSONCoding
import Reactor
import Relay

/// Topics of UnifiedPush: a reader makes one by subscribing to it, and every sender that has its name pushes
/// to it.
extension MailboxDoor {
    func answer(_ push: MailboxPush, _ request: HTTPRequest, over live: LiveAnswer) {
        do throws(MailboxFault) {
            switch request.method {
            case "GET", "HEAD": live.answer(.mailbox(push.discovery))
            case "POST", "PUT": try take(push, request, over: live)
            case "OPTIONS": live.answer(MailboxDoor.crossOrigin)
            case _: live.answer(.methodNotAllowed("GET, HEAD, POST, PUT, OPTIONS").inFormOfNtfy)
            }
        } catch {
            refuse(error, over: live)
        }
    }

    private func take(
        _ push: MailboxPush, _ request: HTTPRequest, over live: LiveAnswer
    ) throws(MailboxFault) {
        guard request.body.count <= MailboxPush.mostBytes else { throw .tooLarge }
        switch push {
        case .topic(let topic):
            try count(directory.owner(ofTopic: digests.topic(topic)))
            try PublishOptions.refuse(in: request)
            let message = try MailboxPushMessage(request.fields)
            try self.push(request.body, message, to: topic, over: live) { message.response(to: $0) }
        case .matrix:
            let pushKey = MailboxPush.pushKey(in: request.body)
            try count(pushKey?.topic.map { directory.owner(ofTopic: digests.topic($0)) } ?? .stranger)
            guard let (key, topic) = pushKey else { throw .badMatrix }
            guard let topic, hasPushTopic(topic) else {
                if let topic, !noteMissing(topic, for: request) { throw .noSubscriber }
                live.strike()
                return live.answer(MailboxDoor.rejected([key]))
            }
            try self.push(request.body, try MailboxPushMessage(HTTPFields()), to: topic, over: live) { _ in
                MailboxDoor.rejected([])
            }
        }
    }

    /// Returns the list of keys that a Matrix server does not send to again.
    private static func rejected(_ keys: [String]) -> HTTPResponse {
        var body = Array("{\"rejected\":[".utf8)
        for key in keys { body.append(jsonString: key) }
        body.append(contentsOf: "]}\n".utf8)
        return .mailbox(body)
    }

    private func push(
        _ body: [UInt8], _ push: MailboxPushMessage, to topic: String, over live: LiveAnswer,
        answer: @escaping @EventLoop (MailboxLine) -> HTTPResponse
    ) throws(MailboxFault) {
        try countPush(to: topic)
        let now = EventLoop.unixTime
        let message = MailboxMessage(
            id: MailboxDoor.newID(), acceptedAt: now,
            // What is for those who are there now has a moment for its way through the store.
            expiresAt: now + .seconds(max(push.life, 5)), isUrgent: push.isUrgent, text: Base64.encode(body),
            replaces: push.replaces)
        Task {
            do throws(OutboxError) {
                switch try await put(message, atAddress: digests.address(topic), keeping: nil) {
                case .stored: live.answer(answer(MailboxLine(pushed: message, topic: topic)))
                case .full, .noSuchMailbox: refuse(.noSubscriber, over: live)
                }
            } catch {
                refuse(.storeFailed, over: live)
            }
        }
    }

    /// Makes the topics that a reader asks for, where they don't exist yet.
    ///
    /// - Returns: Whether all exist now.
    func makePushTopics(_ topics: [String], for claim: MailboxDirectory.Claim?) async -> Bool {
        guard let claim, let name = directory.name(of: claim) else { return false }
        for topic in topics where MailboxPush.isTopic(topic) && !hasPushTopic(topic) {
            let digest = digests.topic(topic)
            let mailbox = Mailbox(
                name: "up-\(String(digest.high, radix: 16))", show: .bell, isOpen: false, isPush: true,
                topic: digest,
                readers: [Mailbox.Reader(name: name, token: claim.token)])
            guard
                let all = try? await store.add(
                    pushTopic: mailbox, address: digests.address(topic), at: EventLoop.unixMilliseconds,
                    sparing: Set(readings.all.flatMap(\.mailboxes)))
            else { return false }
            use(all)
            onMade?(all)
        }
        // At its bound a reader's new topic takes the place of another one, which may be one of these.
        return topics.allSatisfy { !MailboxPush.isTopic($0) || hasPushTopic($0) }
    }
}
