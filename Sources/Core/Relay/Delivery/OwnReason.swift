/// A reason code of the node's own for an attempt that failed on the way to a gateway: no push service has said it.
package enum OwnReason: String, CaseIterable, Sendable {
    // Before there was a connection.
    case handshakeTimeout = "HandshakeTimeout"
    case noConnection = "NoConnection"
    case noToken = "NoToken"
    case setupTimeout = "SetupTimeout"
    /// The other end is not who it must be, or does not take the node's certificate.
    case tls = "TLS"
    /// The host of a stranger: why it can't be reached would name it.
    case unreachable = "Unreachable"

    // On a connection.
    case answerTimeout = "AnswerTimeout"
    case answerTooLarge = "AnswerTooLarge"
    case badFrame = "BadFrame"
    case connectionLost = "ConnectionLost"
    case noStreams = "NoStreams"
    case notProcessed = "NotProcessed"
    case silent = "Silent"
    case tooManyPings = "TooManyPings"
    /// A web page, or another text that no push service writes, came in place of an answer: a proxy or a captive portal
    /// wrote it.
    case webPage = "WebPage"

    // On this machine.
    /// The gateway of the app was closed in that moment.
    case removed = "Removed"
    case signingFailed = "SigningFailed"
    /// The key of a service account cannot sign for an access token.
    case tokenFailed = "TokenFailed"
    case stopped = "Stopped"
    case storeFailed = "StoreFailed"

    package var code: String { rawValue }
}

extension Deferral {
    package init(_ reason: OwnReason, scope: Scope, isUnharmed: Bool = false) {
        self.init(reason: reason.code, scope: scope, isUnharmed: isUnharmed)
    }
}
