import Crypto
import Doors
import Encodings

/// Tokens by which programs read how the node is, and nothing else: for the widgets of a platform.
///
/// A digest of each is held, and not its text. A name is its owner's, to know which one to revoke.
package struct WidgetTokens: Equatable, Sendable {
    package struct Token: Equatable, Sendable {
        package let name: String
        /// SHA-256 of the token's text.
        package let digest: [UInt8]

        package init(name: String, digest: [UInt8]) { (self.name, self.digest) = (name, digest) }
    }

    /// The oldest first.
    package private(set) var tokens: [Token] = []

    package static let most = 16
    package static let secretLength = 20
    /// The bytes that a name may have.
    package static let nameLengths = 1...64

    package init(_ tokens: [Token] = []) { self.tokens = Array(tokens.prefix(Self.most)) }

    /// Why there is no such token.
    package enum Refusal: Error {
        case unfitName, nameIsTaken, tooMany
    }

    /// Adds a token of this name.
    ///
    /// - Returns: The token's text, which is not kept.
    package mutating func add(_ name: String, secret: [UInt8]) throws(Refusal) -> String {
        precondition(secret.count == Self.secretLength, "\(secret.count) bytes for a token")
        guard Self.nameLengths.contains(name.utf8.count), Self.isFit(name) else { throw .unfitName }
        guard !tokens.contains(where: { $0.name == name }) else { throw .nameIsTaken }
        guard tokens.count < Self.most else { throw .tooMany }
        let text = Base64.encodeForURL(secret)
        tokens.append(Token(name: name, digest: Self.digest(text)))
        return text
    }

    /// Removes the token of a name.
    ///
    /// - Returns: Whether there was one.
    package mutating func remove(_ name: String) -> Bool {
        let before = tokens.count
        tokens.removeAll { $0.name == name }
        return tokens.count < before
    }

    package func has(_ text: String) -> Bool {
        let digest = Self.digest(text)
        return tokens.reduce(false) { $0 || equalInConstantTime($1.digest, digest) }
    }

    /// Whether a name has only letters, digits, `-` and `_`.
    private static func isFit(_ name: String) -> Bool {
        name.consists {
            ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, "-") | ASCII.equal($0, "_")
        }
    }

    private static func digest(_ text: String) -> [UInt8] { Hash.sha256(Array(text.utf8)) }
}
