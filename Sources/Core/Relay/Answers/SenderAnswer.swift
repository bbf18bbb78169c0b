import Encodings

/// The meaning of a receipt for a sender, whatever protocol it speaks: the one table behind all endpoints. Each gives it
/// words and numbers of its own, and none reads reason codes.
package enum SenderAnswer: Equatable, Sendable {
    package enum Progress: Equatable, Sendable {
        case stored
        /// Stored: a sender that heard otherwise would send the notification elsewhere as well.
        case held(reason: String)
        /// The notification is stored where the phone fetches it.
        case kept
        case delivered
    }

    package struct Failure: Equatable, Sendable {
        package let kind: FailureKind
        /// A stable code of ours, or the gateway's word.
        package let code: String
        /// The gateway's own text.
        package let detail: String?
    }

    /// The node or the gateway has the notification.
    case taken(Progress)
    /// The notification was not stored: the sender may retry.
    case later(Busy)
    /// The notification is over, undelivered.
    case failed(Failure)
}

/// Why nothing more will happen, as far as senders have to tell.
package enum FailureKind: Equatable, Sendable {
    case messageTooLarge
    case deadToken
    /// The device token has not the form of the app's tokens, as far as this node knows it. Whether there is
    /// such a device only its gateway knows, which was not asked.
    case malformedToken
    /// The gateway has given the device token to no device.
    case unknownToken
    /// The device token is of another topic or project.
    case foreignToken
    /// The app is not served here, or not now: that lies with this node.
    case notServed
    /// Relays hand it around.
    case loop
    case expired
    /// There is no room where the notification would be kept until it is fetched.
    case full
    case other
}

extension Receipt {
    package var answer: SenderAnswer {
        switch self {
        case .stored: .taken(.stored)
        case .held(let reason): .taken(.held(reason: reason))
        case .kept: .taken(.kept)
        case .busy(let busy): .later(busy)
        case .ended(.delivered): .taken(.delivered)
        case .ended(.refused(let reason, let detail)):
            .failed(SenderAnswer.Failure(kind: reason.kind, code: reason.code, detail: detail))
        case .ended(.tokenDead(let reason, let detail)):
            .failed(SenderAnswer.Failure(kind: .deadToken, code: reason.code, detail: detail))
        case .ended(.expired):
            .failed(SenderAnswer.Failure(kind: .expired, code: Reason.expired.code, detail: nil))
        }
    }
}

extension Reason {
    /// The kind of failure of a notification that was refused.
    package var kind: FailureKind {
        switch self {
        case .messageTooLarge: .messageTooLarge
        case .badDeviceToken: .malformedToken
        case .unknownApp, .gatewayDisabled: .notServed
        case .loop: .loop
        case .expired: .expired
        case .gateway(_, let kind): kind
        case .unknownPlatform, .unregistered, .badMessage, .badExpiry, .duplicateUid, .busy, .notInPhoneBook,
            .internal:
            .other
        }
    }
}

extension Ending {
    package var reason: Reason? {
        switch self {
        case .delivered, .expired: nil
        case .refused(let reason, _), .tokenDead(let reason, _): reason
        }
    }

    /// The word for those who ask what became of a notification.
    package var word: String {
        switch self {
        case .delivered: "delivered"
        case .refused: "refused"
        case .tokenDead: "dead"
        case .expired: "expired"
        }
    }
}
