/// The reason why there is no onion service at the start.
package enum OnionPresenceError: Error, Equatable, Sendable, CustomStringConvertible {
    case key(OnionKeyFileError)
    case tor(OnionLoss)

    package var description: String {
        switch self {
        case .key(let error): error.description
        case .tor(let loss): loss.description
        }
    }
}

extension OnionLoss {
    /// Whether the loss may pass soon, at the start. A tor that others start may come up yet; a tor of our own that was
    /// ended by somebody is started again, but not one that gave up.
    func mayPassSoon(with source: OnionPresenceSettings.Source) -> Bool {
        switch (source, self) {
        case (_, .control(let failure)): failure.mayPassSoon
        case (.own, .process(.ended(.signalled, _))): true
        case (.running, .process), (.own, .process), (_, .notUploaded), (_, .unreached), (_, .notInNetwork),
            (_, .suspended):
            false
        }
    }
}
