import Encodings
import Relay

/// The reason why a request or a connection ended without an answer, by who gives it.
enum ExchangeReason: Equatable {
    /// The node itself.
    case own(OwnReason)
    /// The gateway, in a word without spaces.
    case word(String)
    /// The gateway, by the number of its RST_STREAM frame (RFC 9113, section 7).
    case reset(UInt32)
    /// The system or a library. The text may name the host.
    case system(String)

    /// Makes the reason for a request that was not handled, with the word of the GOAWAY frame if there was one.
    init(_ goAwayWord: String?) {
        self = goAwayWord.map { .word($0) } ?? .own(.notProcessed)
    }

    /// TLS was closed in order, where something was still to come.
    static let closedByGateway = ExchangeReason.system("closed by the gateway")

    /// The text for logs, reports and senders.
    var text: String {
        switch self {
        case .own(let reason): reason.code
        case .word(let word): word
        case .reset(let code): "Reset\(code)"
        case .system(let text): text
        }
    }
}
