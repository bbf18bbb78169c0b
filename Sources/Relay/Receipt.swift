/// What a sender is told.
package enum Receipt: Equatable, Sendable {
    /// Durable. A further receipt tells the end if the door asked for it.
    case stored
    /// Nothing was stored: try again, no sooner than this.
    case busy(retryAfter: Duration)
    /// Nothing more will happen.
    case ended(Ending)

    package static func refused(_ reason: Reason) -> Receipt { .ended(.refused(reason: reason.rawValue)) }
}

/// How a notification ends.
package enum Ending: Equatable, Sendable {
    /// The gateway has taken responsibility.
    case delivered
    /// Never stored, or refused by the gateway: a stable word of ours, or the gateway's own.
    case refused(reason: String)
    /// The device token is dead.
    case tokenDead(reason: String)
    /// Not delivered before it expired.
    case expired

    /// The device token was dead when it came.
    static let unregistered = Ending.tokenDead(reason: Reason.unregistered.rawValue)
}

/// The stable words of our own refusals. A gateway's words are passed on as they are.
package enum Reason: String, CaseIterable, Error {
    case unknownPlatform = "UnknownPlatform"
    case unknownApp = "UnknownApp"
    case badDeviceToken = "BadDeviceToken"
    case unregistered = "Unregistered"
    case badMessage = "BadMessage"
    case messageTooLarge = "MessageTooLarge"
    case badExpiry = "BadExpiry"
    case duplicateUid = "DuplicateUid"
    case busy = "Busy"
    case gatewayDisabled = "GatewayDisabled"
    case expired = "Expired"
    case `internal` = "Internal"
}
