import ArgumentParser

/// The place of a new node's console.
enum ConsoleChoice: String, CaseIterable, ExpressibleByArgument {
    /// A console for a browser on the node's machine.
    case local
    /// A console at an onion address of its own, for Tor Browser elsewhere.
    case onion
    case off

    /// The places as `console.listen` has them.
    var places: String? {
        switch self {
        case .local: "[127.0.0.1:9480]"
        case .onion: "[onion]"
        case .off: nil
        }
    }
}
