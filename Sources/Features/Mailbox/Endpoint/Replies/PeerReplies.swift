import Doors
import Reactor
import Relay
import Wire

/// The way back in the peers' protocol.
extension ReplyBoard: WayBackDesk {
    /// Does what a peer asks for.
    package func answer(_ request: PeerTurn.WayBack, onGuess: () -> Void) async -> Message {
        do throws(Refusal) {
            switch request {
            case .post(let post):
                guard let target = ChannelAddress(channel: post.channel, address: post.mailbox),
                    (1...MailboxReply.longest).contains(post.sealed.count)
                else { throw .badForm }
                try await self.post(post.sealed, at: target)
                return .replyResponse(MobileNotificationResponse(requestUid: request.uid, status: .stored))
            case .fetch(let fetch):
                guard let target = ChannelAddress(channel: fetch.channel, address: fetch.mailbox) else {
                    throw .badForm
                }
                let found = try await replies(
                    at: target, acknowledging: fetch.acknowledged,
                    waiting: .milliseconds(max(0, min(fetch.waitMilliseconds, 3_600_000))))
                return .replies(
                    MobileReplies(
                        requestUid: request.uid,
                        replies: found.map { .init(number: $0.number, sealed: $0.sealed) }))
            }
        } catch {
            if error == .noSuchMailbox { onGuess() }
            return request.refusal(error.code, retryAfter: error.retryAfter)
        }
    }
}

extension ReplyBoard.Refusal {
    fileprivate var code: String {
        switch self {
        case .notServed: Reason.gatewayDisabled.code
        case .badForm: Reason.badMessage.code
        case .noSuchMailbox: Reason.noSuchMailbox
        case .full, .storeFailed: Reason.busy.code
        }
    }

    /// The time after which the peer may ask again; none where it can never succeed.
    fileprivate var retryAfter: Duration {
        switch self {
        case .notServed, .badForm, .noSuchMailbox: .zero
        case .full: .seconds(60)
        case .storeFailed: .seconds(5)
        }
    }
}
