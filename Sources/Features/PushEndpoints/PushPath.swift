import Encodings

/// The paths below `/push/`, which two kinds of servers ask for: those with a token and an id behind it are Web Push's, and
/// all others Bitwarden's. The endpoints of both may have one place.
package enum PushPath {
    package static let prefix = "/push/"

    /// Whether a path (as sent) has a token and an id. What Bitwarden's servers ask for has nothing behind it that could be an
    /// id, or `delete` where a token would be.
    package static func hasToken(_ path: Span<UInt8>) -> Bool {
        guard path.starts(with: prefix) else { return false }
        let rest = path.extracting(droppingFirst: prefix.utf8.count)
        return rest.firstIndex(of: UInt8(ascii: "/")) != nil && !rest.starts(with: "delete/")
    }
}
