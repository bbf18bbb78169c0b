import Relay

/// Advice to an operator about words that belong to no single service.
package enum GatewayAdvice {
    /// The advice where a service has nothing more to say about its reason code.
    package static let article = "look the reason code up in the article about reason codes (ReasonCodes.md)"

    /// The advice while a gateway may come back by itself.
    package static let network =
        "if it does not pass within minutes, see whether this machine reaches the push service (firewall, route, proxy): onionbell doctor"

    /// Returns the advice about a reason code of no single service; the article has the meanings of all others.
    package static func text(for reason: String) -> String {
        if let own = OwnReason(rawValue: reason) { return text(for: own) }
        if reason == "HTTP429" {
            return
                "nothing: the push service is overloaded or in maintenance, and the node tries again by itself"
        }
        if ["HTTP301", "HTTP302", "HTTP303", "HTTP307", "HTTP308"].contains(reason) {
            return
                "the push server's address redirects, which is never followed: see what stands between, a login or a captive portal"
        }
        // The system's own words, for a connection that was not made.
        return reason.utf8.contains(UInt8(ascii: " ")) ? network : article
    }

    private static func text(for reason: OwnReason) -> String {
        switch reason {
        case .answerTimeout, .answerTooLarge, .connectionLost, .handshakeTimeout, .noConnection, .noStreams,
            .noToken, .notProcessed, .setupTimeout, .silent, .unreachable:
            network
        case .badFrame, .removed, .signingFailed, .stopped, .tokenFailed, .tooManyPings: article
        case .webPage:
            "something else than the push service answers (a web page, a login): see what stands between, a proxy before that server or a captive portal before this machine"
        case .storeFailed: "as for the outbox: see whether the disk is full or its permissions are wrong"
        case .tls: text(forTLS: "")
        }
    }

    package static func text(forTLS reason: String) -> String {
        if reason.mentions("alert 45") || reason.mentions("alert 44") || reason.mentions("alert 42") {
            return "the service refuses the client certificate (expired, revoked or unfit): replace it"
        }
        if reason.mentions("not yet valid") || reason.mentions("expired") {
            return
                "this machine's clock is wrong (timedatectl set-ntp true), or a device in between answers"
        }
        return
            "a device in between answers in its place, or ca_file does not fit; without ca_file the system's authorities are used (apt install ca-certificates)"
    }
}
