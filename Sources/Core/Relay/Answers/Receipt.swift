import Clocks
import Encodings

/// An answer to a sender.
package enum Receipt: Equatable, Sendable {
    /// Durable. A further receipt tells the end if the door asked for it.
    case stored
    /// Nothing was stored: try again later.
    case busy(Busy)
    /// Stored, but the gateway takes nothing of this app until the operator has mended what it names; delivered then.
    /// Told only to those who await the outcome, who may hear the end later.
    case held(reason: String)
    /// The notification is stored, and its gateway keeps it until the phone fetches it. That may take long, so nobody should
    /// wait for the end. Told only to senders who await the outcome; they may hear the end later.
    case kept
    /// Nothing more will happen.
    case ended(Ending)

    package static func refused(_ reason: Reason) -> Receipt { .ended(.refused(reason: reason)) }

    package var isRefusal: Bool { if case .ended(.refused) = self { true } else { false } }
}

/// Why there is no room just now, and the earliest time to retry.
package enum Busy: Equatable, Sendable {
    /// This device token has had its share.
    case device(retryAfter: Duration)
    /// The node is full, its outbox fails, or it is stopping.
    case node(retryAfter: Duration)

    package var retryAfter: Duration {
        switch self {
        case .device(let retryAfter), .node(let retryAfter): retryAfter
        }
    }
}

/// How a notification ends.
///
/// `detail` is a gateway's own text, for the sender only: never logged.
package enum Ending: Equatable, Sendable {
    /// The gateway has taken responsibility.
    case delivered
    /// The notification was never stored, or the gateway refused it.
    case refused(reason: Reason, detail: String? = nil)
    /// The device token is dead.
    case tokenDead(reason: Reason, detail: String? = nil)
    /// The notification was not delivered before it expired.
    case expired

    /// Whether a repetition hears the same for as long as identities are remembered. A gateway's refusal is asked for anew:
    /// it may have been the fault of the configuration or the gateway's own trouble, and somebody may have mended it. So is
    /// what came too late.
    package var isRemembered: Bool {
        switch self {
        case .delivered, .tokenDead: true
        case .refused(.gateway, _): false
        case .refused: true
        case .expired: false
        }
    }

    /// Returns the end of a notification whose device token was dead
    /// when it came, since this time.
    static func unregistered(since: UnixTime) -> Ending {
        .tokenDead(
            reason: .unregistered, detail: UTCTime.text(since.milliseconds).map(Ending.detail(deadSince:)))
    }

    /// Returns the detail for senders of a token that is dead since a time; the words are bisq-relay's.
    package static func detail(deadSince time: String) -> String { "Token is invalid as of \(time)" }
}

/// Why a notification was refused, or its device token called dead: a stable code of ours, or the gateway's word.
///
/// Some of ours are spelled like a gateway's, and are not the same.
package enum Reason: Hashable, Error {
    case unknownPlatform, unknownApp, badDeviceToken, unregistered, badMessage, messageTooLarge, badExpiry
    case duplicateUid, busy, gatewayDisabled, notInPhoneBook, expired, loop, `internal`
    /// The gateway's word, and what its folder makes of that for senders. An end that is read back has only
    /// the word.
    case gateway(String, FailureKind = .other)

    /// The reason code of a mailbox that has no room for another notification.
    package static let mailboxFull = "MailboxFull"
    /// The reason code for an address that no mailbox has, or has any more.
    package static let noSuchMailbox = "NoSuchMailbox"

    /// All reasons that the node gives itself: not those of gateways.
    package static let own: [Reason] = [
        .unknownPlatform, .unknownApp, .badDeviceToken, .unregistered, .badMessage, .messageTooLarge,
        .badExpiry, .duplicateUid, .busy, .gatewayDisabled, .notInPhoneBook, .expired, .loop, .internal,
    ]

    /// The reason's code, as senders, metrics and the outbox have it.
    package var code: String {
        switch self {
        case .unknownPlatform: "UnknownPlatform"
        case .unknownApp: "UnknownApp"
        case .badDeviceToken: "BadDeviceToken"
        case .unregistered: "Unregistered"
        case .badMessage: "BadMessage"
        case .messageTooLarge: "MessageTooLarge"
        case .badExpiry: "BadExpiry"
        case .duplicateUid: "DuplicateUid"
        case .busy: "Busy"
        case .gatewayDisabled: "GatewayDisabled"
        case .notInPhoneBook: "NotInPhoneBook"
        case .expired: "Expired"
        case .loop: "Loop"
        case .internal: "Internal"
        case .gateway(let word, _): word
        }
    }

    /// Reads the code that was written down for a stored notification: such ends have two codes of ours.
    package init(stored code: String) {
        self = [.unregistered, .internal].first { $0.code == code } ?? .gateway(code)
    }
}
