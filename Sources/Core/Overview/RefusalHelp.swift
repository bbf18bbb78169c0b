import Relay

/// The cause of a refusal and what helps, by the reason code: for who sees a count of refusals, or one of them.
///
/// The article `ReasonCodes` has the same words for the node's own reasons.
package enum RefusalHelp {
    /// Returns the words for a code.
    ///
    /// - Parameter advice: what the app's push service says of its own code; `nil`: nothing, or no service is known.
    package static func text(of code: String, advice: String? = nil) -> String {
        guard let own = Reason.own.first(where: { $0.code == code }), let row = row(of: own) else {
            return advice ?? GatewayAdvice.text(for: code)
        }
        return "\(row.cause). What helps: \(row.help)"
    }

    /// Returns the cause of one of the node's own reasons, and what helps; `nil`: the reason is a gateway's.
    package static func row(of reason: Reason) -> (cause: String, help: String)? {
        switch reason {
        case .unknownPlatform: ("no platform, or one that does not exist", "the sender's software")
        case .unknownApp:
            (
                "no app of this name, no default for the platform, or no app of the gateway that the address is for (nt1:, wp1:, mb1:)",
                "the operator: apps and defaults"
            )
        case .badDeviceToken:
            (
                "not the form of a token, or a push server outside allowed_hosts. After it was stored: Apple does not know the token at this host",
                "pair again; an app under development: use the sandbox; from every iPhone: correct topic"
            )
        case .unregistered:
            (
                "the app was removed from the phone",
                "pair again; the same token may stay silent for up to six hours"
            )
        case .badMessage:
            (
                "neither magic|iv|base64 nor base64; or no uid of 1 to 64 printable ASCII characters",
                "the sender's software"
            )
        case .messageTooLarge: ("over 4,096 bytes for a phone, 2,600 for a browser", "a shorter text")
        case .badExpiry: ("in the past, or more than 28 days away", "the sender's clock")
        case .duplicateUid:
            ("the uid was used for another notification within 24 hours", "the sender's software")
        case .busy:
            (
                "too many for this phone, or the node is full or stopping",
                "send again after the time in the answer"
            )
        case .gatewayDisabled: ("the app has no credentials here", "the operator: name its files")
        case .notInPhoneBook:
            (
                "targets: phone_book, and the phone is not in the book", "the operator: onionbell phones add"
            )
        case .loop:
            (
                "it would be handed on a second time",
                "the operator: url of the relay app; with tor.mode: system no MapAddress in that tor's torrc"
            )
        case .expired: ("stored, not delivered in time", "the operator: why was the gateway down?")
        case .internal: ("the node failed, or the operator dropped it", "the operator: the log")
        case .gateway: nil
        }
    }
}
