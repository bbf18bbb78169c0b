/// What a sender is told. `stored` and `busy` are about now; the others are the end of the notification.
package enum Receipt: Equatable, Sendable {
    /// Durable. A further receipt tells the end if the door asked for it.
    case stored
    case delivered
    /// Never stored, or refused by the gateway: a stable word of ours, or the gateway's own.
    case refused(reason: String)
    case tokenDead(reason: String)
    case expired
    /// Nothing was stored: try again, no sooner than this.
    case busy(retryAfter: Duration)
}

/// The stable words of our own refusals. A gateway's words are passed on as they are.
package enum Reason: String, CaseIterable, Sendable {
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
