import Wire

extension MobileNotificationResponse {
    /// The answer as the sender reads it: `stored`, `refused: BadMessage`.
    package var words: String {
        let word =
            switch status {
            case .stored: "stored"
            case .delivered: "delivered"
            case .refused: "refused"
            case .tokenDead: "token dead"
            case .expired: "expired"
            case .busy: "busy, try again in \(retryAfterMilliseconds) ms"
            case nil: "status \(statusNumber)"
            }
        let reason = plainText(reason)
        return reason.isEmpty ? word : "\(word): \(reason)"
    }
}

/// Returns the node's words as they may reach the terminal.
package func plainText(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { (0x20...0x7e).contains($0.value) }))
}
