import Relay

/// What an operator does about what no single service explains.
package enum GatewayAdvice {
    /// Where a service has nothing more to say about its reason code.
    package static let article = "look the reason code up in the article about reason codes (ReasonCodes.md)"

    package static func text(forTLS reason: String) -> String {
        if reason.mentions("alert 45") || reason.mentions("alert 44") || reason.mentions("alert 42") {
            return "the push certificate has expired, was revoked, or is no push certificate: use a new .p12"
        }
        if reason.mentions("not yet valid") || reason.mentions("expired") {
            return
                "this machine's clock is wrong (timedatectl set-ntp true), or a device in between answers"
        }
        return
            "a device in between answers in its place, or ca_file does not fit; without ca_file the system's authorities are used (apt install ca-certificates)"
    }
}
