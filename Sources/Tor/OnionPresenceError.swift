/// Why there is no onion service at the start.
package enum OnionPresenceError: Error, Equatable, Sendable, CustomStringConvertible {
    case key(OnionKeyFileError)
    case tor(OnionLoss)

    /// Whether settings or files must be changed; otherwise tor, or the way to it, is at fault.
    package var isConfiguration: Bool {
        switch self {
        case .key: true
        case .tor(.process(let error)):
            switch error {
            case .notFound, .filesUnusable, .pathTooLong: true
            case .notStarted, .ended, .silent, .anotherTor: false
            }
        case .tor(.control(let error)):
            switch error {
            case .noUsableMethod, .cookieUnreadable, .cookieMalformed, .cookieMismatch, .passwordUnreadable,
                .notUnderstood, .serviceDirectory, .otherAddress:
                true
            case .refused(.authenticationRefused): true
            case .refused, .unreachable, .closed, .failed, .timedOut, .tooOld: false
            }
        case .tor(.notUploaded), .tor(.unreached), .tor(.notInNetwork), .tor(.suspended): false
        }
    }

    package var description: String {
        switch self {
        case .key(let error): error.description
        case .tor(let loss): loss.description
        }
    }
}
