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

extension OnionLoss {
    /// At the start. A system's tor may come up yet; a tor of our own that was killed is started again, but not one that
    /// gave up.
    func mayPassSoon(with source: OnionPresence.Settings.Source) -> Bool {
        switch (source, self) {
        case (.running, .control(let failure)): failure.mayPassSoon
        case (.own, .process(.ended(.signalled, _))): true
        case (.running, .process), (.own, .control), (.own, .process), (_, .notUploaded), (_, .unreached),
            (_, .notInNetwork), (_, .suspended):
            false
        }
    }
}
