import Encodings
import Reactor
import Relay
import Wire

/// The way back in the peers' protocol: what a phone says to its Bisq, and the other way round.
@EventLoop
package protocol WayBackDesk: AnyObject {
    /// Does what a peer asks for.
    ///
    /// - Parameter onGuess: Called when a mailbox was named that there is none of.
    func answer(_ request: PeerTurn.WayBack, onGuess: () -> Void) async -> Message
}

extension PeerTurn.WayBack {
    /// The uid as an answer has it: one over the limit is cut, since it only echoes.
    package var uid: String {
        switch self {
        case .post(let post): post.uid.cut(toBytes: 64)
        case .fetch(let fetch): fetch.uid.cut(toBytes: 64)
        }
    }

    /// Returns the answer to a request that is not carried out.
    ///
    /// - Parameter wait: The time after which the peer may ask again; none where it can never succeed.
    package func refusal(_ code: String, retryAfter wait: Duration = .zero) -> Message {
        switch self {
        case .post:
            .replyResponse(
                MobileNotificationResponse(
                    requestUid: uid, status: wait > .zero ? .busy : .refused, reason: code,
                    retryAfterMilliseconds: wait.milliseconds))
        case .fetch: .replies(MobileReplies(requestUid: uid, reason: code))
        }
    }
}
