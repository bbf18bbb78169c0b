import Relay

/// In tests a text is a gateway's word.
extension Reason: ExpressibleByStringLiteral {
    package init(stringLiteral word: String) { self = .gateway(word) }
}
